#include "cpu/row_decider.h"

#include <algorithm>
#include <span>

#include "cpu/block_prediction.h"
#include "decide/block_costs.h"
#include "decide/candidate_vectors.h"

namespace c63::cpu {
namespace {

/// Block `index` of an MCU row of a plane, in coding order.
struct RowBlock {
  int column = 0;
  int row = 0;  ///< of the MCU row's block rows
};
RowBlock row_block(int plane, int index) {
  if (plane != 0) return {index, 0};
  return {index / 4 * 2 + index % 2, index / 2 % 2};
}

}  // namespace

RowDecider::RowDecider(const Kernels& kernels, const Geometry& geometry)
    : decisions_(kernels.decisions()),
      decided_(static_cast<std::size_t>(2 * geometry.plane(0).columns)) {}

void RowDecider::list_candidates(const RowInput& input, const PlaneSyntax& syntax, int column, int row, Options& options) {
  const PlaneGeometry& g = syntax.geometry;
  const int block = row * g.columns + column;
  options.count = 0;
  const auto predicted_by = [&](MotionVector v) {
    return BlockPrediction{&input.reference.at(column * kBlockSize + v.x, row * kBlockSize + v.y), input.reference.pitch};
  };
  const auto add = [&](VectorNumber vector, int bits, BlockPrediction prediction) {
    options.candidates[options.count].vector = vector;
    options.candidates[options.count].vector_bits = bits;
    options.predictions[options.count++] = prediction;
  };
  const auto add_vector = [&](MotionVector v) {
    add(vector_number(v), kVectorFlagBits + vector_bits(v.x, v.y), predicted_by(v));
  };
  const bool may_have_vector = input.search != nullptr && (input.unpredicted == nullptr || input.unpredicted[block] == 0);
  if (may_have_vector && input.rate->found_vectors == 0) add_vector(input.search->chosen()[block]);
  if (may_have_vector && input.rate->found_vectors > 0) {
    const CandidateVectors vectors = candidate_vectors(g, column, row, input.search->chosen(), input.search->found(block),
                                                       input.search->found_count());
    for (std::size_t i = 0; i < vectors.count(); ++i) add_vector(vectors[i]);
  }
  if (may_have_vector && !input.rate->unpredicted) return;
  const auto b = static_cast<std::size_t>(block);
  add(kNoVector, kNoVectorBits, syntax.uses_vector[b] != 0 ? predicted_by(syntax.vectors[b]) : no_prediction());
}

void RowDecider::transform(const RowInput& input, const Decided* blocks, int count) {
  std::array<BlockPair, kGroup * kBeamCandidates> pairs;
  std::size_t size = 0;
  for (int i = 0; i < count; ++i) {
    for (int c = 0; c < blocks[i].options.count; ++c) {
      pairs[size++] = {blocks[i].samples, input.current.pitch, blocks[i].options.predictions[static_cast<std::size_t>(c)]};
    }
  }
  decisions_.transform_blocks(std::span(pairs).first(size), *blocks->table, transformed_.data());
}

Cost RowDecider::ac_levels(const RowInput& input, const LevelTable& table, const TransformedBlock& block,
                           std::int16_t* levels) const {
  if (block.ac.kept == 0) return block.ac.energy + table.lambda * table.bits.end_of_block;
  if (input.rate->choose_levels) return decisions_.choose_levels(block, table, levels);
  return round_ac_levels(block.coefficients.data(), block.ac, table.quantizer, table.bits, table.lambda, levels);
}

void RowDecider::evaluate(const RowInput& input, const TransformedBlock* transformed, Decided& decided,
                          std::int16_t* levels) const {
  const LevelTable& table = *decided.table;
  Options& options = decided.options;
  const Quantizer& quantizer = table.quantizer;
  const auto count = static_cast<std::size_t>(options.count);
  std::array<Cost, kBeamCandidates> promises;
  std::size_t first = 0;
  Cost first_dc_error = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const DcLevels dc = dc_levels(transformed[i].coefficients[0], quantizer.steps[0], quantizer.reciprocals[0]);
    promises[i] = promise(transformed[i], dc, table.bits, options.candidates[i].vector_bits, table.lambda);
    if (i > 0 && promises[i] >= promises[first]) continue;
    first = i;
    first_dc_error = dc.errors[0];
  }
  const Cost cost_of_first = ac_levels(input, table, transformed[first], levels);
  const Cost limit = cost_of_first + first_dc_error +
                     table.lambda * (options.candidates[first].vector_bits + kDiscardMarginBits);
  int kept = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (i != first && promises[i] > limit) continue;
    const Cost ac = i == first ? cost_of_first : ac_levels(input, table, transformed[i], nullptr);
    if (i == first) options.written = static_cast<std::size_t>(kept);
    BeamCandidate& candidate = options.candidates[static_cast<std::size_t>(kept)];
    candidate.vector = options.candidates[i].vector;
    candidate.vector_bits = options.candidates[i].vector_bits;
    options.without_ac[kept] = decisions_.cost_candidate(transformed[i], ac, table, candidate);
    options.predictions[kept++] = options.predictions[i];
  }
  options.count = kept;
}

void RowDecider::write_levels(const RowInput& input, const Decided& decided, BeamChoice choice, PlaneSyntax& syntax) const {
  const auto block = static_cast<std::size_t>(decided.block);
  const std::size_t candidate = choice.lane / kDcLevels;
  const std::size_t dc = choice.lane % kDcLevels;
  const Options& options = decided.options;
  std::int16_t* const levels = syntax.block(decided.block);
  if ((options.without_ac[candidate] >> dc & 1) != 0) {
    std::fill_n(levels, 64, std::int16_t{0});
  } else if (candidate != options.written) {
    const BlockPair pair{decided.samples, input.current.pitch, options.predictions[candidate]};
    TransformedBlock again;
    decisions_.transform_blocks({&pair, 1}, *decided.table, &again);
    ac_levels(input, *decided.table, again, levels);
  }
  levels[0] = options.candidates[candidate].levels[dc];
  const VectorNumber vector = options.candidates[candidate].vector;
  input.without_vector[block] = vector == kNoVector ? 1 : 0;
  if (vector == kNoVector) return;
  syntax.uses_vector[block] = 1;
  syntax.vectors[block] = vector_of(vector);
}

int RowDecider::begin_group(const RowInput& input, const PlaneSyntax& syntax, int first, int count, Decided* group) {
  const int rows = block_rows_per_mcu(input.plane);
  int size = 0;
  for (; size < kGroup && first + size < count; ++size) {
    const RowBlock place = row_block(input.plane, first + size);
    const Weight weight = input.weights == nullptr ? kPlainWeight : input.weights[place.column / rows];
    Decided& decided = group[size];
    if (size > 0 && weight != group->weight) break;
    const int row = input.mcu_row * rows + place.row;
    decided.block = row * syntax.geometry.columns + place.column;
    decided.samples = &input.current.at(place.column * kBlockSize, row * kBlockSize);
    decided.weight = weight;
    decided.table = input.levels + (input.weights == nullptr ? 0 : weight);
    list_candidates(input, syntax, place.column, row, decided.options);
  }
  return size;
}

std::int64_t RowDecider::decide(const RowInput& input, PlaneSyntax& syntax) {
  const int count = block_rows_per_mcu(input.plane) * syntax.geometry.columns;
  const int width = input.rate->beam_width;
  const bool only_state = width == 1;  // so what is chosen for a block is final
  Beam beam;
  Weight weight = kPlainWeight;  // that the beam's costs are in
  std::int64_t cost = 0;
  for (int first = 0, group = 0; first < count; first += group) {
    Decided* const decided = decided_.data() + (only_state ? 0 : first);
    group = begin_group(input, syntax, first, count, decided);
    if (decided->weight != weight) {
      cost += reweigh(beam.base, weight, kPlainWeight);
      beam.base = 0;
      reweigh_beam(beam, width, weight, decided->weight);
      weight = decided->weight;
    }
    transform(input, decided, group);
    const TransformedBlock* transformed = transformed_.data();
    for (int i = 0; i < group; ++i) {
      Options& options = decided[i].options;
      const int candidates = options.count;
      evaluate(input, transformed, decided[i], syntax.block(decided[i].block));
      transformed += candidates;
      decided[i].choices = decisions_.extend_beam(beam, width, options.candidates.data(), options.count,
                                                  row_block(input.plane, first + i).row, input.plane, decided[i].table->lambda);
      if (only_state) write_levels(input, decided[i], decided[i].choices[0], syntax);
    }
  }
  std::size_t state = 0;
  for (int i = only_state ? -1 : count - 1; i >= 0; --i) {
    const Decided& decided = decided_[static_cast<std::size_t>(i)];
    const BeamChoice choice = decided.choices[state];
    write_levels(input, decided, choice, syntax);
    state = choice.parent;
  }
  return cost + reweigh(beam.base, weight, kPlainWeight);
}

}  // namespace c63::cpu
