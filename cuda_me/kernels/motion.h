#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "c63/motion_vector.h"
#include "cuda_me/runtime/needs.h"

namespace c63::cuda {

class MotionSearch;

/// A search kernel in the list that motion_kernels() returns.
struct MotionKernelInfo {
  std::string_view name;
  std::unique_ptr<MotionSearch> (*make)();
};

/// All kernels, simplest first. Each develops the idea of an earlier one further. All find the same vectors and SADs.
[[nodiscard]] std::span<const MotionKernelInfo> motion_kernels();

/// One plane to search. All pointers are to device memory. Sides are multiples of 8. A pitch is any number of bytes
/// that is not below the width. The search is fastest if bases and pitches are multiples of 16.
struct MotionJob {
  const std::uint8_t* current = nullptr;
  const std::uint8_t* reference = nullptr;
  std::ptrdiff_t current_pitch = 0;    ///< bytes
  std::ptrdiff_t reference_pitch = 0;  ///< bytes
  int width = 0;
  int height = 0;
  int range = 0;                    ///< of this plane in samples (plane_search_range()), 0..127; 0 has no candidate
  MotionVector* vectors = nullptr;  ///< one per block in raster order
  std::uint16_t* sads = nullptr;    ///< one per block in raster order; may be null
};

/// The resources of a kernel, for reports.
struct MotionKernelResources {
  int registers = 0;
  std::size_t shared_bytes = 0;   ///< static and dynamic, per thread block
  int threads = 0;                ///< per thread block
  double occupancy = 0;           ///< resident warps divided by the maximum, 0..1
};

/// A search kernel for the current device. Only one thread at a time may use it.
class MotionSearch {
 public:
  virtual ~MotionSearch() = default;

  /// Enqueues the search of all jobs on `stream`. A graph may capture the call. The device works fastest if a call has
  /// planes of several frames. A block without candidates gets the vector (0, 0) and its SAD, as the codec requires.
  /// Throws Error (usage) for jobs outside the limits of MotionJob.
  void enqueue(std::span<const MotionJob> jobs, cudaStream_t stream);

  /// The number of kernels among which a call may choose; above 1 if kernels are chosen by their measured times. A
  /// caller that uses graphs records one graph for each.
  [[nodiscard]] virtual int choices() const { return 1; }
  /// Returns the kernel that the next call of enqueue() will use, below choices(). The caller may launch its graph for
  /// this kernel instead of calling enqueue(). Empty if enqueue() must be called, because it will measure the time.
  [[nodiscard]] virtual std::optional<int> next_choice() { return 0; }
  /// Does the same as enqueue(), with the kernel of number `choice`, which must be below choices().
  void enqueue_choice(int choice, std::span<const MotionJob> jobs, cudaStream_t stream);

  /// Returns the kernel that does a luma search of range 16, and what it needs.
  [[nodiscard]] virtual KernelNeeds form() const = 0;
  /// Returns the resources that this kernel takes on the current device.
  [[nodiscard]] MotionKernelResources resources() const;

 protected:
  /// The largest number of jobs in one launch. More jobs take several launches.
  static constexpr std::size_t kMaxJobs = 24;

  virtual void launch_jobs(std::span<const MotionJob> jobs, cudaStream_t stream) = 0;
  virtual MotionSearch& chosen(int /*choice*/) { return *this; }
};

/// Makes the search that is called `kernel`. Throws Error: usage (`unknown_id`) if there is none, device without a
/// usable device.
[[nodiscard]] std::unique_ptr<MotionSearch> make_motion_search(std::string_view kernel,
                                                               const char* unknown_id = "C63-CUDA-KERNEL");

// The searches that others use: the best for the card, by tiles with windows that are fetched ahead or not; and
// successive elimination, where four sums rule out most candidates.
std::unique_ptr<MotionSearch> make_fast_search();
std::unique_ptr<MotionSearch> make_eliminate_search();

/// The additional results for one pair of planes. All pointers are to device memory.
struct RefineJob {
  MotionJob motion;                      ///< holds vectors and SADs of a finished search, unless `around` is set
  const MotionVector* around = nullptr;  ///< one centre per block: search around it; null: the search is finished
  std::uint16_t* seconds = nullptr;      ///< second SADs, one per block; may be null
  std::uint16_t* quarters = nullptr;     ///< SADs of the block's 4x4 quarters, four per block; may be null
};

/// See MotionSettings.
struct RefineSettings {
  int zero_bias = 0;
  int second_distance = 1;
};

/// Enqueues the parts of estimate_motion() (c63/motion_search.h) that a plain search does not compute: searching around
/// given vectors, preferring zero vectors, second SADs and SADs of quarters.
void refine_motion(std::span<const RefineJob> jobs, const RefineSettings& settings, cudaStream_t stream);

}  // namespace c63::cuda
