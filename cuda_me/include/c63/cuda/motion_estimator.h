#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "c63/motion.h"
#include "c63/picture.h"

struct CUstream_st;  // cudaStream_t is a pointer to it; this header needs no CUDA header

namespace c63::cuda {

/// Where samples or results are.
enum class Memory { host, device };

/// A plane to search or to search in. `view.pitch` is any number of bytes from the width up.
struct MotionPlane {
  ConstPlaneView view;
  Memory memory = Memory::host;
};

/// Where results go: room for one vector, and one SAD, a block of 8x8 samples, in raster order. `sads` may be null.
struct MotionOutput {
  MotionVector* vectors = nullptr;
  std::uint16_t* sads = nullptr;
  Memory memory = Memory::host;
};

/// What an estimator is made for.
struct MotionEstimatorOptions {
  int width = 0;                     ///< of both planes, a multiple of 8
  int height = 0;                    ///< likewise
  int range = 16;                    ///< 1..127: candidates from -range to range-1 in x and y
  int device = 0;                    ///< index of the GPU
  std::string kernel = "automatic";  ///< one of kernel_names(); all give the same result
};

/// Exact full-search block matching on the GPU, by the codec's own rules: the candidate with the smallest sum of absolute
/// differences that keeps its block inside the reference plane, the first in raster order among equals. For every block
/// of 8x8 samples of one plane; upper bounds of the search are exclusive, also at the plane's edge. A block without any
/// candidate gets the vector (0, 0).
///
/// Use one estimator a stream: calls share its buffers. Not for use by several threads at once.
class MotionEstimator {
 public:
  /// Throws Error: usage for options outside the limits above, device (C63-CUDA-NO-DRIVER and so on) where the GPU cannot
  /// be used, memory.
  explicit MotionEstimator(const MotionEstimatorOptions& options);
  MotionEstimator(MotionEstimator&&) noexcept;
  MotionEstimator& operator=(MotionEstimator&&) noexcept;
  ~MotionEstimator();

  [[nodiscard]] int columns() const;  ///< blocks a row
  [[nodiscard]] int rows() const;     ///< rows of blocks

  /// Puts copies and search on `stream` (null: the default stream) and returns. Planes and output must stay until the
  /// stream has come past; those on the host should be page-locked, or their copies wait. Throws Error (usage) for planes
  /// of another size, Error (device) if CUDA refuses.
  void estimate_async(const MotionPlane& current, const MotionPlane& reference, const MotionOutput& output,
                      CUstream_st* stream);

  /// The same on a stream of its own, and waits for the result.
  [[nodiscard]] MotionField estimate(const MotionPlane& current, const MotionPlane& reference);

  /// Names for MotionEstimatorOptions::kernel, from the simplest to the fastest.
  [[nodiscard]] static std::vector<std::string> kernel_names();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace c63::cuda
