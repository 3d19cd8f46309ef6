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
    : kernels_(kernels),
      decisions_(kernels.decisions()),
      decided_(static_cast<std::size_t>(2 * geometry.plane(0).columns)) {}

void RowDecider::list_candidates(const RowInput& input, const PlaneSyntax& syntax, int block, Options& options) {
  const PlaneGeometry& g = syntax.geometry;
  const int column = block % g.columns;
  const int row = block / g.columns;
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

void RowDecider::evaluate(const RowInput& input, const std::uint8_t* samples, Options& options) {
  const LevelTable& table = *input.levels;
  const Quantizer& quantizer = table.quantizer;
  const auto count = static_cast<std::size_t>(options.count);
  decisions_.transform_blocks(samples, input.current.pitch, 0, std::span(options.predictions).first(count), table,
                              transformed_.data());

  std::array<DcLevels, kBeamCandidates> dc;
  std::array<Cost, kBeamCandidates> promises;
  for (std::size_t i = 0; i < count; ++i) {
    dc[i] = dc_levels(transformed_[i].coefficients[0], quantizer.steps[0], quantizer.reciprocals[0]);
    promises[i] = promise(transformed_[i], dc[i], table.bits, options.candidates[i].vector_bits, table.lambda);
  }
  const auto ac_cost = [&](std::size_t i) {
    const TransformedBlock& block = transformed_[i];
    if (block.ac.kept == 0) return block.ac.energy + table.lambda * table.bits.end_of_block;
    if (input.rate->choose_levels) return decisions_.choose_levels(block, table, nullptr);
    return round_ac_levels(block.coefficients.data(), block.ac, quantizer, table.bits, table.lambda, nullptr);
  };
  const auto first = static_cast<std::size_t>(std::min_element(promises.begin(), promises.begin() + options.count) -
                                              promises.begin());
  const Cost cost_of_first = ac_cost(first);
  const Cost limit = cost_of_first + dc[first].errors[0] +
                     table.lambda * (options.candidates[first].vector_bits + kDiscardMarginBits);
  int kept = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (i != first && promises[i] > limit) continue;
    const Cost ac = i == first ? cost_of_first : ac_cost(i);
    BeamCandidate& candidate = options.candidates[kept];
    candidate.vector = options.candidates[i].vector;
    candidate.vector_bits = options.candidates[i].vector_bits;
    candidate.levels = dc[i].levels;
    candidate.costs = block_costs(transformed_[i], dc[i], ac, quantizer, table.bits, table.lambda, options.without_ac[kept]);
    options.predictions[kept++] = options.predictions[i];
  }
  options.count = kept;
}

void RowDecider::write_levels(const RowInput& input, const std::uint8_t* samples, const Decided& decided, BeamChoice choice,
                              PlaneSyntax& syntax) {
  const auto block = static_cast<std::size_t>(decided.block);
  const std::size_t candidate = choice.lane / kDcLevels;
  const std::size_t dc = choice.lane % kDcLevels;
  const Options& options = decided.options;
  std::int16_t* const levels = syntax.block(decided.block);
  if ((options.without_ac[candidate] >> dc & 1) != 0) {
    std::fill_n(levels, 64, std::int16_t{0});
  } else {
    const LevelTable& table = *input.levels;
    decisions_.transform_blocks(samples, input.current.pitch, 0, std::span(options.predictions).subspan(candidate, 1), table,
                                transformed_.data());
    const TransformedBlock& again = transformed_[0];
    if (input.rate->choose_levels) {
      decisions_.choose_levels(again, table, levels);
    } else {
      round_ac_levels(again.coefficients.data(), again.ac, table.quantizer, table.bits, table.lambda, levels);
    }
  }
  levels[0] = options.candidates[candidate].levels[dc];
  const VectorNumber vector = options.candidates[candidate].vector;
  if (vector == kNoVector) return;
  syntax.uses_vector[block] = 1;
  syntax.vectors[block] = vector_of(vector);
}

std::int64_t RowDecider::decide(const RowInput& input, PlaneSyntax& syntax) {
  const PlaneGeometry& g = syntax.geometry;
  const int rows = block_rows_per_mcu(input.plane);
  const int count = rows * g.columns;
  const auto samples_of = [&](int block) {
    return &input.current.at(block % g.columns * kBlockSize, block / g.columns * kBlockSize);
  };
  Beam beam;
  for (int i = 0; i < count; ++i) {
    const RowBlock place = row_block(input.plane, i);
    Decided& decided = decided_[static_cast<std::size_t>(i)];
    decided.block = (input.mcu_row * rows + place.row) * g.columns + place.column;
    list_candidates(input, syntax, decided.block, decided.options);
    evaluate(input, samples_of(decided.block), decided.options);
    decided.choices = decisions_.extend_beam(beam, input.rate->beam_width, decided.options.candidates.data(),
                                             decided.options.count, place.row, input.plane, input.rate->lambda);
  }
  std::size_t state = 0;
  for (int i = count - 1; i >= 0; --i) {
    const Decided& decided = decided_[static_cast<std::size_t>(i)];
    const BeamChoice choice = decided.choices[state];
    write_levels(input, samples_of(decided.block), decided, choice, syntax);
    state = choice.parent;
  }
  return beam.base;
}

}  // namespace c63::cpu
