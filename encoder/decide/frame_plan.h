#pragma once

#include <cstdint>
#include <memory>

#include "codec/frame_headers.h"
#include "codec/quantization.h"
#include "decide/cost.h"
#include "decide/weights.h"

namespace c63 {

/// What a backend decides in a frame by D + λR, and among how many choices. With λ = 0 it decides as the course encoder
/// does: every block of an inter frame has the vector of least SAD, and coefficients are rounded.
struct RateDecisions {
  Cost lambda = 0;               ///< squared error that a bit is worth; up to kMaxLambda
  std::int32_t sad_per_bit = 0;  ///< the SAD that one bit of a vector is worth in the search, with 8 fraction bits
  /// How many of the vectors that the search found for a block are tried, best first: 1..kMaxFoundVectors. Vectors of
  /// neighbours are then tried, too. 0: only the vector that the search chose is used.
  int found_vectors = 0;
  int beam_width = 1;            ///< ways to code an MCU row that are kept: 1..kMaxBeamWidth
  bool unpredicted = true;       ///< blocks of inter frames may be coded without prediction
  bool choose_levels = true;     ///< AC levels are chosen by choose_ac_masks(); false: they are rounded
  bool repeats = false;          ///< a frame may repeat the previous picture
  /// How many bits coding a frame must be worth besides its own bits. If it is worth less, the frame repeats the previous
  /// picture.
  std::int64_t repeat_margin = 0;
  Weight chroma_weight = kPlainWeight;  ///< chroma weight of MCUs whose luma weight is kPlainWeight
  /// How much less errors count in detailed MCUs: λ of an MCU is proportional to its variance to the power of
  /// activity_power/16 (weights.h). At most kMostActivityPower; 0: errors count equally.
  int activity_power = 0;
  [[nodiscard]] bool any() const { return lambda > 0; }
  friend constexpr bool operator==(const RateDecisions&, const RateDecisions&) = default;
};

inline constexpr int kMaxFoundVectors = 7;
/// The activity_power for structural similarity, 8/16: λ is proportional to the root of the variance.
inline constexpr int kMostActivityPower = 8;

/// All decisions that are made for one frame before it is encoded. A planner makes the plan, and a backend carries it
/// out. So equal plans and samples give equal bytes on every backend.
struct FramePlan {
  std::int64_t index = 0;  ///< in display order
  bool key = false;        ///< coded without prediction; starts a GOP
  /// Nothing is coded: the previous picture is shown again. The frame must not be a key frame. `rate` must have a λ
  /// above 0 and allow repeats.
  bool repeat = false;
  QuantizationTables tables{};  ///< of Y, U and V; no zeros
  FrameHeaders headers = {};
  RateDecisions rate = {};
  /// The weights of the MCUs' errors by how long they remain visible. They are used only if `rate` decides by D + λR.
  /// Null: no such weights. Then only rate.activity_power may make the errors of some MCUs count less.
  std::shared_ptr<const FrameWeights> weights = {};

  /// Returns true if the previous frame's picture becomes the reference. False: this frame is predicted from the same
  /// reference as the previous frame, and its picture replaces that frame's.
  [[nodiscard]] bool advances_reference() const { return headers.has_sof; }
};

}  // namespace c63
