#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "c63/motion_vector.h"
#include "codec/frame_headers.h"
#include "codec/geometry.h"
#include "cuda_me/kernels/frame_kernels.h"
#include "cuda_me/kernels/frame_layout.h"
#include "decide/block_costs.h"
#include "decide/frame_weights.h"
#include "decide/quantizer.h"
#include "decide/rate_decisions.h"

// Frames that are decided by rate and distortion (encoder/decide/): what their kernels work on, and in which order. All
// frames of a group go through a stage together.
//
//   weights               how much error counts in each MCU, by how lively it is
//   repeat error          what repeating the picture before would cost
//   search                the best vectors of every block by SAD and cost (cost_search.h)
//   choose vectors        the search's choice, where blocks may take their left neighbour's
//   list candidates       the vectors to be tried for a block
//   transform candidates  coefficients of every candidate
//   choose levels         what every candidate costs
//   beam                  the cheapest way through an MCU row of a plane
//   code choices          levels, reconstruction (or the picture before once more) and codes of what was chosen
//
// From there on a frame is like any other: its segments' bits wait to be put together.

namespace c63::cuda {

/// Quantizers of Y, U and V as decisions use them; they lie on the device beside a frame's QuantizerTable.
using DecisionQuantizers = std::array<c63::Quantizer, kPlanes>;

/// A candidate of a block: its vector and what flags and vector cost, in one word.
using PackedCandidate = std::uint32_t;
[[nodiscard]] C63_HD constexpr PackedCandidate pack_candidate(VectorNumber vector, int bits) {
  return static_cast<std::uint32_t>(bits) << 24 | (static_cast<std::uint32_t>(vector) & 0xFFFFFFU);
}
[[nodiscard]] C63_HD constexpr VectorNumber vector_of_candidate(PackedCandidate candidate) {
  return static_cast<std::int32_t>(candidate << 8) >> 8;
}
[[nodiscard]] C63_HD constexpr int bits_of_candidate(PackedCandidate candidate) { return static_cast<int>(candidate >> 24); }

/// What is known of a block less a candidate's prediction, besides its coefficients.
struct alignas(16) CandidateSummary {
  std::uint64_t kept = 0;  ///< AcSummary
  Cost energy = 0;
  std::int32_t residual_sum = 0;
  std::int32_t residual_squares = 0;
  std::int32_t dc = 0;  ///< coefficient
};

/// AcChoice without its cost.
struct alignas(16) AcMasks {
  std::uint64_t coded = 0;
  std::uint64_t lower = 0;
};

/// What was chosen for a block.
struct ChosenCandidate {
  std::uint8_t slot = 0;
  std::uint8_t without_ac = 0;  ///< 1: all AC levels are zero
  std::int16_t dc = 0;          ///< level
};

/// What λ is in MCUs of each weight.
struct WeightedLambdas {
  std::array<Cost, kWeights> lambdas{};

  WeightedLambdas() = default;
  explicit WeightedLambdas(Cost lambda);
};

/// Memory of one frame between its stages. A block has `slots` candidates at most, and arrays of candidates have those of a
/// block side by side; blocks are in the order of per-block arrays (FrameLayout).
struct RateScratch {
  Weight* weights = nullptr;           ///< one an MCU, where they are made here
  std::int16_t* activities = nullptr;  ///< one an MCU
  MotionVector* found = nullptr;       ///< kMaxFoundVectors a block, best first
  std::uint16_t* found_costs = nullptr;  ///< SAD and vector cost of the first, one a block
  MotionVector* chosen = nullptr;      ///< one a block
  PackedCandidate* candidates = nullptr;
  std::uint8_t* counts = nullptr;       ///< of candidates, one a block
  std::int16_t* coefficients = nullptr;  ///< 64 a candidate, zig-zag order; not written where no AC coefficient is kept
  CandidateSummary* summaries = nullptr;
  Cost* costs = nullptr;              ///< kDcLevels a candidate; kInvalidCost where there is none
  std::int16_t* dc_levels = nullptr;  ///< kDcLevels a candidate
  std::uint8_t* without_ac = nullptr;  ///< a bit a DC level, one byte a candidate
  AcMasks* masks = nullptr;           ///< AC levels of a candidate
  std::uint64_t* choices = nullptr;     ///< of the beam at a block, a byte a state
  std::uint8_t* winning_lanes = nullptr;  ///< of the beam, one a block
  ChosenCandidate* winners = nullptr;   ///< one a block
};

/// One frame that is decided by rate.
struct RateFrame {
  CodingJob job;  ///< `unpredicted` points to `decided`
  const c63::Quantizer* quantizers = nullptr;  ///< DecisionQuantizers
  std::uint8_t* decided = nullptr;             ///< blocks without a vector, one a block
  const std::uint8_t* original = nullptr;      ///< picture that errors are measured against; null: the job's current one
  const Weight* planned_weights = nullptr;     ///< one an MCU; null: all plain
  const Weight* weights = nullptr;             ///< those that count, likewise
  bool is_weighted = false;                    ///< an MCU's λ may be another than the frame's
  WeightedLambdas weighted;
  RateDecisions rate;
  FrameHeaders headers;
  bool may_repeat = false;
  int slots = 1;  ///< candidates that `scratch` has room for in a block
  RateScratch scratch;
};

/// Frames on their way through the stages.
struct RateGroup {
  const RateFrame* frames = nullptr;  ///< on the device
  int count = 0;
  int range = 0;          ///< of the luma search
  bool inter = false;     ///< at least one frame is
  bool may_repeat = false;  ///< at least one frame may be a repeat
  bool is_weighted = false;     ///< at least one frame is
  bool weighs_activity = false;  ///< at least one frame's weights are made here
  int found_vectors = 0;  ///< the most of all frames
  int beam_width = 1;     ///< the largest
  int slots = 1;          ///< likewise
};

/// Most candidates that a block can have.
[[nodiscard]] C63_HD constexpr int most_candidates(const RateDecisions& rate, bool key) {
  return key ? 1 : rate.found_vectors == 0 ? 2 : kBeamCandidates;
}

/// Puts a stage of all frames of a group on `stream`.
struct RateStage {
  std::string_view name;
  void (*enqueue)(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream);
};
/// All stages in their order.
[[nodiscard]] std::span<const RateStage> rate_stages();

void enqueue_weights(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream);
void enqueue_repeat_error(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream);
void enqueue_choose_vectors(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream);
void enqueue_list_candidates(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream);
void enqueue_transform_candidates(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream);
void enqueue_choose_levels(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream);
void enqueue_beam(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream);
void enqueue_code_choices(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream);

}  // namespace c63::cuda
