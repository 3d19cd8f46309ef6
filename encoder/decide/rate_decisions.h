#pragma once

#include <cstdint>

#include "decide/cost.h"
#include "decide/weight.h"

namespace c63 {

/// What a backend decides in a frame by D + λR, and among how many choices. With λ = 0 it decides nothing: as in the course
/// encoder, every block of an inter frame has the vector of least SAD, and coefficients are rounded.
struct RateDecisions {
  Cost lambda = 0;               ///< squared error that a bit is worth; up to kMaxLambda
  std::int32_t sad_per_bit = 0;  ///< SAD that a bit of a vector is worth in the search, with 8 fraction bits
  int found_vectors = 0;         ///< 1..kMaxFoundVectors: the number of the search's best vectors to try, next to the neighbours'
                                 ///< ones; 0: only the search's choice
  int beam_width = 1;            ///< 1..kMaxBeamWidth ways to code an MCU row that are kept
  bool unpredicted = true;       ///< blocks of inter frames may be coded without prediction
  bool choose_levels = true;     ///< AC levels are chosen (choose_ac_levels); false: rounded
  bool repeats = false;          ///< a frame may repeat the previous picture
  Weight chroma_weight = kPlainWeight;  ///< of chroma in MCUs of weight kPlainWeight
  /// Error counts less in detailed MCUs: λ grows with their variance to the power of this many sixteenths (activity_weights), up to
  /// kMostActivityPower. 0: it does not.
  int activity_power = 0;
  [[nodiscard]] bool any() const { return lambda > 0; }
  friend constexpr bool operator==(const RateDecisions&, const RateDecisions&) = default;
};

inline constexpr int kMaxFoundVectors = 7;
/// The power for structural similarity: the square root.
inline constexpr int kMostActivityPower = 8;

}  // namespace c63
