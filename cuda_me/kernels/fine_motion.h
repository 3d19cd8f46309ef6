#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "c63/motion_vector.h"
#include "decide/fine_motion.h"

namespace c63::cuda {

/// Two planes at one size of the pyramid. All pointers are to device memory.
struct FineJob {
  const std::uint8_t* current = nullptr;
  const std::uint8_t* reference = nullptr;
  std::ptrdiff_t current_pitch = 0;
  std::ptrdiff_t reference_pitch = 0;
  FineGrid grid;
  FineVector* vectors = nullptr;  ///< a vector for each block of the grid, in whole samples
};

/// The largest number of jobs in one call of a function below. All jobs of a call have the same grid.
inline constexpr std::size_t kFineJobs = 16;

/// Writes a picture of half the size, for both planes.
struct FineHalving {
  FineJob from;
  std::uint8_t* current = nullptr;
  std::uint8_t* reference = nullptr;
  std::ptrdiff_t pitch = 0;
};
void halve_planes(std::span<const FineHalving> jobs, cudaStream_t stream);

/// Searches exactly, for blocks of any size.
void search_blocks(std::span<const FineJob> jobs, int range, cudaStream_t stream);
/// A job whose 8x8 blocks have been searched exactly.
struct FineExact {
  FineJob job;
  const MotionVector* vectors = nullptr;
  const std::uint16_t* sads = nullptr;
};
/// Takes the vectors of the exact search, or the zero vector if its SAD is not greater.
void take_vectors(std::span<const FineExact> jobs, cudaStream_t stream);

/// A job with the field of the smaller picture, or of the previous pass.
struct FineStep {
  FineJob job;
  const FineVector* from = nullptr;
  FineGrid from_grid;
};
void refine_vectors(std::span<const FineStep> jobs, int range, cudaStream_t stream);
/// Does one pass of smoothing. `from` are the vectors before the pass.
void smooth_vectors(std::span<const FineStep> jobs, int weight, cudaStream_t stream);

/// The layout of the four interpolated planes, each with its margin.
struct FineHalves {
  int width = 0;
  int height = 0;

  [[nodiscard]] C63_HD constexpr std::ptrdiff_t pitch() const { return (width + 2 * kHalfMargin + 15) / 16 * 16; }
  [[nodiscard]] C63_HD constexpr std::ptrdiff_t plane_bytes() const { return pitch() * (height + 2 * kHalfMargin); }
  /// The distance in bytes from the start of the four planes to the sample (x, y) of a plane.
  [[nodiscard]] C63_HD constexpr std::ptrdiff_t offset(int plane, int x, int y) const {
    return plane * plane_bytes() + (y + kHalfMargin) * pitch() + x + kHalfMargin;
  }
};

/// A job that finds fractions, and the entries of its 8x8 blocks.
struct FineFinish {
  FineJob job;
  std::uint8_t* halves = nullptr;  ///< room for four planes, see FineHalves
  FineVector* vectors = nullptr;
  std::uint16_t* sads = nullptr;  ///< may be null
};
/// Writes the interpolated planes of the references.
void interpolate_halves(std::span<const FineFinish> jobs, cudaStream_t stream);
/// Writes the results. `fraction` is that of FineMotionSettings.
void find_fractions(std::span<const FineFinish> jobs, int fraction, cudaStream_t stream);

/// Writes 1 for each of the grid's 8x8 blocks whose vectors agree.
void compare_fields(const FineGrid& grid, const FineVector* forward, const FineVector* backward, int most, std::uint8_t* agrees,
                    cudaStream_t stream);

}  // namespace c63::cuda
