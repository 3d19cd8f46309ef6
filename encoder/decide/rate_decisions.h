#pragma once

#include <cstdint>

#include "decide/cost.h"
#include "decide/weight.h"

namespace c63 {

/// What a backend decides in a frame by D + λR, and among how much. With λ = 0 it decides nothing: as the course encoder,
/// every block of an inter frame has the vector of least SAD, and coefficients are rounded.
struct RateDecisions {
  Cost lambda = 0;               ///< squared error a bit is worth; up to kMaxLambda
  std::int32_t sad_per_bit = 0;  ///< SAD a bit of a vector is worth in the search, with 8 fraction bits
  int found_vectors = 0;         ///< 1..kMaxFoundVectors: so many of the search's best are tried, and those of the blocks
                                 ///< around; 0: only the one that the search chooses
  int beam_width = 1;            ///< 1..kMaxBeamWidth ways to code an MCU row that are kept
  bool unpredicted = true;       ///< blocks of inter frames may do without prediction
  bool choose_levels = true;     ///< AC levels are chosen (choose_ac_levels), else rounded
  bool repeats = false;          ///< a frame may repeat the picture before it
  Weight chroma_weight = kPlainWeight;  ///< of chroma in MCUs of weight kPlainWeight
  /// Error counts less in lively MCUs: λ grows with so many sixteenths of a power of their variance (activity_weights), up to
  /// kMostActivityPower. 0: it does not.
  int activity_power = 0;

  [[nodiscard]] bool any() const { return lambda > 0; }
  friend constexpr bool operator==(const RateDecisions&, const RateDecisions&) = default;
};

inline constexpr int kMaxFoundVectors = 7;
/// What structural similarity has: the square root.
inline constexpr int kMostActivityPower = 8;

}  // namespace c63
