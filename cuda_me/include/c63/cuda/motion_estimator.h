#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "c63/motion.h"
#include "c63/motion_search.h"
#include "c63/picture.h"

struct CUstream_st;  // cudaStream_t is a pointer to it, so no CUDA header is needed

namespace c63::cuda {

/// The place of samples or results.
enum class Memory { host, device };

/// A plane to search, or to search in. `view.pitch` may be any number of bytes from the width up.
struct MotionPlane {
  ConstPlaneView view;
  Memory memory = Memory::host;
};

/// The destination of results: one vector and one SAD for each 8x8 block, in raster order. `sads` may be null.
struct MotionOutput {
  MotionVector* vectors = nullptr;
  std::uint16_t* sads = nullptr;
  Memory memory = Memory::host;
};

/// The properties of an estimator.
struct MotionEstimatorOptions {
  int width = 0;                     ///< of both planes in samples, a multiple of 8
  int height = 0;                    ///< of both planes in samples, a multiple of 8
  int range = 16;                    ///< 1..127: candidates from -range to range-1 in x and y
  int device = 0;                    ///< index of the GPU
  std::string kernel = "automatic";  ///< one of kernel_names(); all give the same result
  int zero_bias = 0;        ///< as in MotionSettings, for batches
  int second_distance = 1;  ///< as in MotionSettings, for batches
};

/// Exact full-search block matching on the GPU, by the codec's rules, for every 8x8 block of one plane. It finds the candidate
/// with the smallest sum of absolute differences (SAD) that keeps its block inside the reference plane; of equals, the first in
/// raster order. Upper bounds of the search are exclusive, also at the plane's edge. A block without candidates gets the vector
/// (0, 0).
///
/// Use one estimator per stream, because calls share its buffers. Only one thread at a time may use it.
class MotionEstimator {
 public:
  /// Throws Error: usage for options outside the limits above, device (C63-CUDA-NO-DRIVER and so on) if the GPU cannot be used,
  /// memory.
  explicit MotionEstimator(const MotionEstimatorOptions& options);
  MotionEstimator(MotionEstimator&&) noexcept;
  MotionEstimator& operator=(MotionEstimator&&) noexcept;
  ~MotionEstimator();

  [[nodiscard]] int columns() const;  ///< blocks per row
  [[nodiscard]] int rows() const;     ///< rows of blocks

  /// Puts copies and search on `stream` (null: the default stream) and returns. Planes and output must stay valid until that
  /// work is done. Host memory should be page-locked; otherwise the copies wait. Throws Error (usage) for planes of another
  /// size, Error (device) if CUDA refuses.
  void estimate_async(const MotionPlane& current, const MotionPlane& reference, const MotionOutput& output,
                      CUstream_st* stream);

  /// Puts the search of all pairs on `stream` and returns. All memory is the device's and is used in place: planes, `results` and
  /// `around`, which are those of c63::estimate_motion(). It must stay valid until that work is done. Throws as above.
  void estimate_async(std::span<const MotionPair> pairs, const MotionResults& results, const MotionVector* around,
                      CUstream_st* stream);

  /// The same in host memory, on the estimator's own stream; waits for the result. A plane that several pairs share is uploaded
  /// once.
  void estimate(std::span<const MotionPair> pairs, const MotionResults& results, const MotionVector* around = nullptr);

  /// Searches on the estimator's own stream and waits for the result.
  [[nodiscard]] MotionField estimate(const MotionPlane& current, const MotionPlane& reference);

  /// Names for MotionEstimatorOptions::kernel, from the simplest to the fastest.
  [[nodiscard]] static std::vector<std::string> kernel_names();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace c63::cuda
