#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>

#include "cuda_me/runtime/check.h"

namespace c63::cuda {

/// The grid and block of a kernel launch.
struct LaunchShape {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes = 0;  ///< dynamic shared memory
};

namespace detail {

template <typename... Parameters>
void launch_as(std::span<cudaLaunchAttribute> attributes, const char* name, void (*kernel)(Parameters...),
               const LaunchShape& shape, cudaStream_t stream, const std::type_identity_t<Parameters>&... arguments) {
  std::array<void*, sizeof...(Parameters) + 1> addresses{
      const_cast<void*>(static_cast<const void*>(&arguments))..., nullptr};
  cudaLaunchConfig_t config{};
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = stream;
  config.attrs = attributes.data();
  config.numAttrs = static_cast<unsigned>(attributes.size());
  check(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel), addresses.data()), name);
}

}  // namespace detail

/// Launches `kernel`. Throws if the launch is refused. Arguments are converted to the types of the kernel's parameters.
template <typename... Parameters>
void launch(const char* name, void (*kernel)(Parameters...), const LaunchShape& shape, cudaStream_t stream,
            std::type_identity_t<Parameters>... arguments) {
  detail::launch_as({}, name, kernel, shape, stream, arguments...);
}

/// Launches a kernel that may start before the previous work in its stream ends. The kernel itself must wait for that
/// work (griddepcontrol.wait) before it uses that work's results.
template <typename... Parameters>
void launch_early(const char* name, void (*kernel)(Parameters...), const LaunchShape& shape, cudaStream_t stream,
                  std::type_identity_t<Parameters>... arguments) {
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  detail::launch_as({&early, 1}, name, kernel, shape, stream, arguments...);
}

/// Launches a grid whose thread blocks wait for each other. The launch fails if they cannot all be on the device at the
/// same time.
template <typename... Parameters>
void launch_together(const char* name, void (*kernel)(Parameters...), const LaunchShape& shape, cudaStream_t stream,
                     std::type_identity_t<Parameters>... arguments) {
  cudaLaunchAttribute together{};
  together.id = cudaLaunchAttributeCooperative;
  together.val.cooperative = 1;
  detail::launch_as({&together, 1}, name, kernel, shape, stream, arguments...);
}

/// Allows `kernel` to use `bytes` of dynamic shared memory. Needed only for more than 48 KiB, once for each device.
template <typename... Parameters>
void allow_shared_bytes(const char* name, void (*kernel)(Parameters...), std::size_t bytes) {
  check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(bytes)),
        name);
}

}  // namespace c63::cuda
