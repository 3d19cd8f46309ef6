#pragma once

#include <cuda_runtime_api.h>
#include <nvtx3/nvtx3.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>

#include "cuda_me/runtime/check.h"

namespace c63::cuda {

/// The sides of a grid or of a thread block.
struct Sides : dim3 {
  Sides(std::integral auto... sides) : dim3(static_cast<unsigned>(sides)...) {}
};

/// The grid and block of a kernel launch.
struct LaunchShape {
  Sides grid;
  Sides block;
  std::size_t shared_bytes = 0;  ///< dynamic shared memory
};

/// Returns how many groups of `each` items hold `count` items.
template <std::integral T>
[[nodiscard]] constexpr T divide_up(T count, std::type_identity_t<T> each) {
  return (count + each - 1) / each;
}

namespace detail {

template <typename... Parameters>
void launch_as(std::span<cudaLaunchAttribute> attributes, void (*kernel)(Parameters...), const LaunchShape& shape,
               cudaStream_t stream, const std::type_identity_t<Parameters>&... arguments) {
  std::array<void*, sizeof...(Parameters) + 1> addresses{
      const_cast<void*>(static_cast<const void*>(&arguments))..., nullptr};
  cudaLaunchConfig_t config{};
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = stream;
  config.attrs = attributes.data();
  config.numAttrs = static_cast<unsigned>(attributes.size());
  const auto* const code = reinterpret_cast<const void*>(kernel);
  check_kernel(cudaLaunchKernelExC(&config, code, addresses.data()), code);
}

}  // namespace detail

/// Launches `kernel`. Throws if the launch is refused. Arguments are converted to the types of the kernel's parameters.
template <typename... Parameters>
void launch(void (*kernel)(Parameters...), const LaunchShape& shape, cudaStream_t stream,
            std::type_identity_t<Parameters>... arguments) {
  detail::launch_as({}, kernel, shape, stream, arguments...);
}

/// Launches a kernel that may start before the previous work in its stream ends. The kernel itself must wait for that
/// work (griddepcontrol.wait) before it uses that work's results.
template <typename... Parameters>
void launch_early(void (*kernel)(Parameters...), const LaunchShape& shape, cudaStream_t stream,
                  std::type_identity_t<Parameters>... arguments) {
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  detail::launch_as({&early, 1}, kernel, shape, stream, arguments...);
}

/// Launches a grid whose thread blocks wait for each other. The launch fails if they cannot all be on the device at the
/// same time.
template <typename... Parameters>
void launch_together(void (*kernel)(Parameters...), const LaunchShape& shape, cudaStream_t stream,
                     std::type_identity_t<Parameters>... arguments) {
  cudaLaunchAttribute together{};
  together.id = cudaLaunchAttributeCooperative;
  together.val.cooperative = 1;
  detail::launch_as({&together, 1}, kernel, shape, stream, arguments...);
}

/// The shared memory of a thread block that a kernel may use without being allowed to, in bytes.
inline constexpr std::size_t kAlwaysAllowed = 48 << 10;
/// Allows `kernel` to use `bytes` of dynamic shared memory on the current device.
inline void allow_shared_bytes(const void* kernel, std::size_t bytes) {
  check_kernel(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
               kernel);
}

/// The name under which a profiler groups c63's ranges.
struct NvtxDomain {
  static constexpr char const* name{"c63"};
};

/// A named span on a profiler's time line, until the end of the scope. It costs nothing without a profiler.
using Range = nvtx3::scoped_range_in<NvtxDomain>;

}  // namespace c63::cuda
