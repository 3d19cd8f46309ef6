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

/// The properties of an estimator.
struct MotionEstimatorOptions {
  int width = 0;                     ///< of both planes in samples, a multiple of 8
  int height = 0;                    ///< of both planes in samples, a multiple of 8
  int range = 16;                    ///< 1..127 samples: candidates are -range to range-1 in x and in y
  int device = 0;                    ///< index of the GPU
  std::string kernel = "automatic";  ///< one of kernel_names(); all give the same result
  int zero_bias = 0;        ///< as in MotionSettings
  int second_distance = 1;  ///< as in MotionSettings
};

/// Exact full-search block matching on the GPU, by the codec's rules, for every 8x8 block of one plane. Finds the
/// candidate with the smallest sum of absolute differences (SAD) among those whose block is inside the reference plane.
/// If several candidates have the smallest SAD, the first in raster order wins. The largest x and y of candidates are
/// exclusive, also at the plane's right and bottom edge. A block without candidates gets the vector (0, 0). `zero_bias`
/// and `around` change this choice (c63/motion_search.h).
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

  /// Puts the search of all pairs on `stream` and returns. Planes, `results` and `around` are as in
  /// c63::estimate_motion(), but they must be in device memory. They are used in place, so they must stay valid until the
  /// work is done. Throws Error (usage) for planes of another size or results without vectors, Error (device) if CUDA
  /// refuses the work.
  void estimate_async(std::span<const MotionPair> pairs, const MotionResults& results, const MotionVector* around,
                      CUstream_st* stream);

  /// Searches all pairs on the estimator's own stream, and waits for the result. Planes are in host memory, or in this
  /// GPU's and finished; results are in host memory. A plane that several pairs share is uploaded once.
  void estimate(std::span<const MotionPair> pairs, const MotionResults& results, const MotionVector* around = nullptr);

  /// The same for one pair.
  [[nodiscard]] MotionField estimate(const MotionPair& pair);

  /// Names for MotionEstimatorOptions::kernel, simplest kernel first.
  [[nodiscard]] static std::vector<std::string> kernel_names();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Opens a GPU, and returns a search on it: a MotionEstimator, made for the planes of the first call. SearchMethod and
/// SimdLevel have no effect. Throws Error (device) if the GPU cannot be used.
[[nodiscard]] PairSearch open_pair_search(int device, const MotionSettings& settings);

}  // namespace c63::cuda
