#pragma once

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

/// Says where samples or results are.
enum class Memory { host, device };

/// A plane for a search: the current one, whose blocks are searched for, or the reference, in which they are searched
/// for. `view.pitch` may be any number of bytes that is not below the width.
struct MotionPlane {
  ConstPlaneView view;
  Memory memory = Memory::host;
};

/// Memory for results: one vector and one SAD for each 8x8 block, in raster order. `sads` may be null.
struct MotionOutput {
  MotionVector* vectors = nullptr;
  std::uint16_t* sads = nullptr;
  Memory memory = Memory::host;
};

/// The properties of an estimator.
struct MotionEstimatorOptions {
  int width = 0;                     ///< of both planes in samples, a multiple of 8
  int height = 0;                    ///< of both planes in samples, a multiple of 8
  int range = 16;                    ///< 1..127 samples: candidates are -range to range-1 in x and in y
  int device = 0;                    ///< index of the GPU
  std::string kernel = "automatic";  ///< one of kernel_names(); all give the same result
  int zero_bias = 0;        ///< as in MotionSettings; only for calls with pairs
  int second_distance = 1;  ///< as in MotionSettings; only for calls with pairs
};

/// Exact full-search block matching on the GPU, by the codec's rules, for every 8x8 block of one plane. Finds the
/// candidate with the smallest sum of absolute differences (SAD) among those whose block is inside the reference plane.
/// If several candidates have the smallest SAD, the first in raster order wins. The largest x and y of candidates are
/// exclusive, also at the plane's right and bottom edge. A block without candidates gets the vector (0, 0). Calls with
/// pairs may change this choice by `zero_bias` or `around` (c63/motion_search.h).
///
/// Use one estimator per stream, because its calls share buffers. Only one thread at a time may use it. Calls throw
/// Error (memory) if their buffers do not fit.
class MotionEstimator {
 public:
  /// Throws Error: usage for options outside the limits above, device (C63-CUDA-NO-DRIVER and so on) if the GPU cannot
  /// be used.
  explicit MotionEstimator(const MotionEstimatorOptions& options);
  MotionEstimator(MotionEstimator&&) noexcept;
  MotionEstimator& operator=(MotionEstimator&&) noexcept;
  ~MotionEstimator();

  [[nodiscard]] int columns() const;  ///< blocks per row
  [[nodiscard]] int rows() const;     ///< rows of blocks

  /// Puts copies and search on `stream` (null: the default stream) and returns. Planes and output must stay valid until
  /// that work is done. With host memory that is not page-locked, the call waits for the copies. Throws Error (usage)
  /// for planes of another size or an output without vectors, Error (device) if CUDA refuses the work.
  void estimate_async(const MotionPlane& current, const MotionPlane& reference, const MotionOutput& output,
                      CUstream_st* stream);

  /// Puts the search of all pairs on `stream` and returns. Planes, `results` and `around` are as in
  /// c63::estimate_motion(), but they must be in device memory. They are used in place, so they must stay valid until
  /// the work is done. Throws like the function above.
  void estimate_async(std::span<const MotionPair> pairs, const MotionResults& results, const MotionVector* around,
                      CUstream_st* stream);

  /// Searches all pairs in host memory, on the estimator's own stream, and waits for the result. A plane that several
  /// pairs share is uploaded once.
  void estimate(std::span<const MotionPair> pairs, const MotionResults& results, const MotionVector* around = nullptr);

  /// Searches one pair of planes on the estimator's own stream and waits for the result.
  [[nodiscard]] MotionField estimate(const MotionPlane& current, const MotionPlane& reference);

  /// Names for MotionEstimatorOptions::kernel, simplest kernel first.
  [[nodiscard]] static std::vector<std::string> kernel_names();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace c63::cuda
