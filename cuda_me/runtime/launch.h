#pragma once

#include <cuda_runtime_api.h>
#include <nvtx3/nvtx3.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <type_traits>

#include "cuda_me/runtime/check.h"
#include "cuda_me/runtime/needs.h"

namespace c63::cuda {

/// The sides of a grid or of a thread block.
struct Sides : dim3 {
  Sides(std::integral auto... sides) : dim3(static_cast<unsigned>(sides)...) {}
};

/// When the thread blocks of a grid start.
enum class Start {
  in_order,  ///< after the previous work in the stream
  /// Before that work ends. The kernel itself must wait for it (griddepcontrol.wait) before it uses its results.
  early,
  /// All at the same time, because they wait for each other. The launch fails if they do not all fit on the device.
  together,
};

/// The grid and block of a kernel launch.
struct LaunchShape {
  Sides grid;
  Sides block;
  std::size_t shared_bytes = 0;  ///< dynamic shared memory
  Start start = Start::in_order;
};

/// Returns how many groups of `each` items hold `count` items.
template <std::integral T>
[[nodiscard]] constexpr T divide_up(T count, std::type_identity_t<T> each) {
  return (count + each - 1) / each;
}

/// Launches `kernel`. Throws if the launch is refused. Arguments are converted to the types of the kernel's parameters.
template <typename... Parameters>
void launch(void (*kernel)(Parameters...), const LaunchShape& shape, cudaStream_t stream,
            std::type_identity_t<Parameters>... arguments) {
  std::array<void*, sizeof...(Parameters) + 1> addresses{
      const_cast<void*>(static_cast<const void*>(&arguments))..., nullptr};
  cudaLaunchAttribute attribute{};
  attribute.id =
      shape.start == Start::early ? cudaLaunchAttributeProgrammaticStreamSerialization : cudaLaunchAttributeCooperative;
  (shape.start == Start::early ? attribute.val.programmaticStreamSerializationAllowed : attribute.val.cooperative) = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = shape.start == Start::in_order ? 0 : 1;
  const auto* const code = reinterpret_cast<const void*>(kernel);
  if (shape.start != Start::together) {
    config.dynamicSmemBytes +=
        pretended_padding(code, static_cast<int>(shape.block.x * shape.block.y * shape.block.z), shape.shared_bytes);
  }
  check_kernel(cudaLaunchKernelExC(&config, code, addresses.data()), code);
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
