#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "c63/motion_vector.h"

namespace c63::cuda {

/// The ways to search, each a step from the one before; all find the same vectors and SADs.
enum class MotionKernel {
#define C63_MOTION_KERNEL(kernel, name, text, make) kernel,
#include "cuda_me/kernels/motion_kernels.inc"
#undef C63_MOTION_KERNEL
};

class MotionSearch;

/// A row of the list of kernels.
struct MotionKernelInfo {
  MotionKernel kernel;
  std::string_view name;
  std::string_view idea;
  std::unique_ptr<MotionSearch> (*make)();
};

/// All kernels, in the order in which they build on each other.
[[nodiscard]] std::span<const MotionKernelInfo> motion_kernels();
[[nodiscard]] std::string_view name(MotionKernel kernel);
[[nodiscard]] std::optional<MotionKernel> motion_kernel_from(std::string_view name);

/// One plane to search. All pointers are device memory. Sides are multiples of 8, pitches any number of bytes from the
/// width up; base and pitch multiples of 16 are fastest.
struct MotionJob {
  const std::uint8_t* current = nullptr;
  const std::uint8_t* reference = nullptr;
  std::ptrdiff_t current_pitch = 0;    ///< bytes
  std::ptrdiff_t reference_pitch = 0;  ///< bytes
  int width = 0;
  int height = 0;
  int range = 0;                    ///< of this plane (plane_search_range()), 0..127; 0 has no candidate
  MotionVector* vectors = nullptr;  ///< one a block in raster order
  std::uint16_t* sads = nullptr;    ///< likewise; may be null
};

/// What a kernel takes of the device, for reports.
struct MotionKernelResources {
  int registers = 0;
  std::size_t shared_bytes = 0;   ///< static and dynamic, a block
  int threads = 0;                ///< a block
  double occupancy = 0;           ///< resident warps over the most there can be, 0..1
};

/// A search kernel made ready for the current device. Not for use by several threads at once.
class MotionSearch {
 public:
  virtual ~MotionSearch() = default;

  /// Puts the search of all jobs on `stream` (planes of several frames together fill the device best) and returns. May be
  /// captured in a graph. An empty window gives the vector (0, 0) and the SAD there, as the codec has it.
  /// Throws Error (usage) for jobs outside the limits above.
  void enqueue(std::span<const MotionJob> jobs, cudaStream_t stream);

  /// For callers that keep calls in graphs. How many kernels a call may be done by: more than one where they are chosen
  /// between by what they take.
  [[nodiscard]] virtual int choices() const { return 1; }
  /// Which of them does the next call, which need not be made then: its graph may be launched instead. Nothing where it
  /// has to be made, for it is to be timed.
  [[nodiscard]] virtual std::optional<int> next_choice() { return 0; }
  /// enqueue() with that choice.
  void enqueue_choice(int choice, std::span<const MotionJob> jobs, cudaStream_t stream);

  /// For a luma search of range 16.
  [[nodiscard]] virtual MotionKernelResources resources() const = 0;

 protected:
  /// Most jobs that go into one launch; more are split.
  static constexpr std::size_t kMaxJobs = 24;

  virtual void launch_jobs(std::span<const MotionJob> jobs, cudaStream_t stream) = 0;
  virtual MotionSearch& chosen(int /*choice*/) { return *this; }
};

/// Throws Error (device) without a usable device.
[[nodiscard]] std::unique_ptr<MotionSearch> make_motion_search(MotionKernel kernel);

}  // namespace c63::cuda
