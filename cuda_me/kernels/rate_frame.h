#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "c63/motion_vector.h"
#include "codec/frame_headers.h"
#include "codec/geometry.h"
#include "cuda_me/kernels/frame_kernels.h"
#include "cuda_me/kernels/frame_layout.h"
#include "decide/beam.h"
#include "decide/weights.h"
#include "decide/rdoq.h"
#include "decide/frame_plan.h"

// Frames that are decided by rate and distortion (encoder/decide/): the data of their kernels, and the order of the
// stages. All frames of a group go through a stage together.
//
//   weights               the weight of error in each MCU, by activity (detail of its luma)
//   repeat error          the error of repeating the previous picture
//   search                the best vectors of every block by SAD plus vector cost
//   choose vectors        each block's own best vector, or its left neighbour's
//   list candidates       the vectors to try for a block
//   transform candidates  the coefficients of every candidate
//   choose levels         the AC levels and the cost of every candidate
//   beam                  the cheapest way through an MCU row of a plane
//   code choices          levels, reconstruction (or the repeated picture) and codes of the choices
//
// After these stages, the bits of the frame's segments are joined as for every other frame (enqueue_scan_writing()).

namespace c63::cuda {

/// The quantizers of Y, U and V with which levels are decided. On the device they lie next to the frame's
/// QuantizerTable, with which levels are coded.
using DecisionQuantizers = std::array<c63::Quantizer, kPlanes>;

/// A candidate of a block as one word: its vector, and the number of bits of its flags and vector.
using PackedCandidate = std::uint32_t;
[[nodiscard]] C63_HD constexpr PackedCandidate pack_candidate(VectorNumber vector, int bits) {
  return static_cast<std::uint32_t>(bits) << 24 | (static_cast<std::uint32_t>(vector) & 0xFFFFFFU);
}
[[nodiscard]] C63_HD constexpr VectorNumber vector_of_candidate(PackedCandidate candidate) {
  return static_cast<std::int32_t>(candidate << 8) >> 8;
}
[[nodiscard]] C63_HD constexpr int bits_of_candidate(PackedCandidate candidate) { return static_cast<int>(candidate >> 24); }

/// A summary of a candidate's residual and its coefficients.
struct alignas(16) CandidateSummary {
  std::uint64_t kept = 0;  ///< mask of the AC coefficients above their threshold (AcSummary)
  Cost energy = 0;         ///< sum of the squared AC coefficients
  std::int32_t residual_sum = 0;
  std::int32_t residual_squares = 0;
  std::int32_t dc = 0;  ///< the first coefficient
};

/// The masks of an AcChoice, one bit per coefficient. `coded`: it has a level that is not zero. `lower`: its level is
/// one below the nearest level.
struct alignas(16) AcMasks {
  std::uint64_t coded = 0;
  std::uint64_t lower = 0;
};

/// The candidate and levels that are chosen for a block.
struct ChosenCandidate {
  std::uint8_t slot = 0;        ///< the candidate's index in the block's list
  std::uint8_t without_ac = 0;  ///< 1: all AC levels are zero
  std::int16_t dc = 0;          ///< the first level
};

/// The λ that MCUs of each weight have.
struct WeightedLambdas {
  std::array<Cost, kWeights> lambdas{};

  WeightedLambdas() = default;
  explicit WeightedLambdas(Cost lambda) {
    for (int i = 0; i < kWeights; ++i) lambdas[static_cast<std::size_t>(i)] = weighted_lambda(lambda, static_cast<Weight>(i));
  }
};

/// The working memory of one frame between its stages. An array with entries per candidate has RateFrame::capacity
/// entries for each block, next to each other. Blocks are in the order of per-block arrays (FrameLayout).
struct RateScratch {
  Weight* weights = nullptr;           ///< one per MCU, if the device computes them
  std::int16_t* activities = nullptr;  ///< one per MCU
  MotionVector* found = nullptr;       ///< kMaxFoundVectors per block, best first
  std::uint16_t* found_costs = nullptr;  ///< SAD plus vector cost of the best vector; one per block
  MotionVector* chosen = nullptr;      ///< own vector or the left neighbour's; one per block
  PackedCandidate* candidates = nullptr;
  std::uint8_t* counts = nullptr;       ///< number of candidates; one per block
  std::int16_t* coefficients = nullptr;  ///< 64 per candidate, zig-zag order; not written if no AC coefficient is kept
  CandidateSummary* summaries = nullptr;
  Cost* costs = nullptr;              ///< kDcLevels per candidate; kInvalidCost if the level is not valid
  std::int16_t* dc_levels = nullptr;  ///< kDcLevels per candidate
  std::uint8_t* without_ac = nullptr;  ///< one byte per candidate; bit i: with DC level i, all AC levels are zero
  AcMasks* masks = nullptr;           ///< the AC levels of a candidate
  std::uint64_t* choices = nullptr;     ///< the beam's choices at each block, one byte per state
  std::uint8_t* winning_lanes = nullptr;  ///< one per block: candidate * kDcLevels + DC level that the beam chose
  ChosenCandidate* winners = nullptr;   ///< one per block
};

/// One frame that is decided by rate.
struct RateFrame {
  CodingJob job;  ///< in inter frames, `unpredicted` points to `decided`
  const c63::Quantizer* quantizers = nullptr;  ///< DecisionQuantizers
  std::uint8_t* decided = nullptr;             ///< 1: the block has no vector; one per block
  const std::uint8_t* original = nullptr;      ///< the picture against which errors are measured; null: the job's current one
  const Weight* planned_weights = nullptr;     ///< one per MCU; null: all MCUs have the plain weight
  const Weight* weights = nullptr;             ///< the weights in use, one per MCU; null: all have the plain weight
  bool is_weighted = false;                    ///< an MCU's λ may differ from the frame's
  WeightedLambdas weighted = {};               ///< λ of MCUs by weight
  RateDecisions rate = {};
  FrameHeaders headers = {};
  bool may_repeat = false;
  bool must_repeat = false;  ///< the frame becomes a repeat, whatever its cost
  int capacity = 1;  ///< candidates per block for which `scratch` has room
  RateScratch scratch = {};
};

/// The frames that go through the stages together.
struct RateGroup {
  const RateFrame* frames = nullptr;  ///< on the device
  int count = 0;
  int range = 0;          ///< of the luma search, in samples
  bool inter = false;     ///< at least one frame is an inter frame
  bool may_repeat = false;  ///< at least one frame may become a repeat
  bool is_weighted = false;     ///< at least one frame is weighted
  bool weighs_activity = false;  ///< at least one frame's weights are computed here
  int found_vectors = 0;  ///< the largest of all frames
  int beam_width = 1;     ///< the largest of all frames
  int capacity = 1;       ///< the largest of all frames
};

/// The most candidates that a block can have.
[[nodiscard]] C63_HD constexpr int most_candidates(const RateDecisions& rate, bool key) {
  return key ? 1 : rate.found_vectors == 0 ? 2 : kBeamCandidates;
}

/// A stage. `enqueue` enqueues its work on `stream`, for all frames of a group.
struct RateStage {
  std::string_view name;
  void (*enqueue)(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream);
  bool is_search = false;  ///< an own search (c63/user_search.h) takes its place
};
void enqueue_weights(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream);
void enqueue_repeat_error(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream);
void enqueue_search(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream);
void enqueue_choose_vectors(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream);
void enqueue_list_candidates(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream);
void enqueue_transform_candidates(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream);
void enqueue_choose_levels(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream);
void enqueue_beam(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream);
void enqueue_code_choices(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream);

/// All stages in order.
inline constexpr std::array kRateStages = {
    RateStage{"weights", enqueue_weights},
    RateStage{"repeat error", enqueue_repeat_error},
    RateStage{"search", enqueue_search, true},
    RateStage{"choose vectors", enqueue_choose_vectors},
    RateStage{"list candidates", enqueue_list_candidates},
    RateStage{"transform candidates", enqueue_transform_candidates},
    RateStage{"choose levels", enqueue_choose_levels},
    RateStage{"beam", enqueue_beam},
    RateStage{"code choices", enqueue_code_choices},
};

// The check of the vectors that a search of the user's own (c63/user_search.h) has found. It runs on the device before
// anything uses the vectors.

/// All bytes of the vectors are set to this value before the search. So a vector that the search does not write is
/// kNotWritten (decide/vectors.h).
inline constexpr int kNotWrittenByte = 0x80;

/// Packs a block and its wrong vector into a number for FrameState and FrameReport. It is never 0, because 0 means that
/// no vector is wrong. An earlier block gives a larger number, so the largest number of a frame belongs to its first
/// wrong vector.
[[nodiscard]] C63_HD constexpr unsigned long long pack_wrong_vector(int block, MotionVector vector) {
  return static_cast<unsigned long long>(0xFFFFFFFFU - static_cast<unsigned>(block)) << 16 |
         static_cast<unsigned>(static_cast<std::uint8_t>(vector.x)) << 8 | static_cast<std::uint8_t>(vector.y);
}
[[nodiscard]] constexpr int block_of_wrong_vector(unsigned long long wrong) {
  return static_cast<int>(0xFFFFFFFFU - static_cast<unsigned>(wrong >> 16));
}
[[nodiscard]] constexpr MotionVector vector_of_wrong_vector(unsigned long long wrong) {
  return {static_cast<std::int8_t>(wrong >> 8), static_cast<std::int8_t>(wrong)};
}

/// Enqueues on `stream` a check of the vectors of all inter frames. Also computes the SADs of these vectors. A wrong
/// vector is replaced by zero, and FrameState::wrong_vector reports it. `range` is the search range of luma, in
/// samples.
void enqueue_check_vectors(const FrameLayout& layout, std::span<const CodingJob> jobs, int range, cudaStream_t stream);

/// Checks the vectors of frames that are decided by rate in the same way. Writes them and their costs to
/// RateScratch::found and found_costs, as the search by cost does.
void enqueue_check_vectors(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream);

}  // namespace c63::cuda
