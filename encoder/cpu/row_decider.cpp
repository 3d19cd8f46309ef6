#include "cpu/row_decider.h"

#include <algorithm>
#include <span>

#include "cpu/block_prediction.h"
#include "cpu/vector_list.h"
#include "decide/block_costs.h"
#include "decide/candidate_vectors.h"

namespace c63::cpu {
namespace {

/// vector_component_bits(), from a table.
struct ComponentBits {
  std::array<std::uint8_t, 256> bits{};

  constexpr ComponentBits() {
    for (int value = -127; value <= 127; ++value) {
      bits[static_cast<std::uint8_t>(value)] = static_cast<std::uint8_t>(vector_component_bits(value));
    }
  }
  [[nodiscard]] constexpr int of(std::int8_t value) const { return bits[static_cast<std::uint8_t>(value)]; }
};
constexpr ComponentBits kComponentBits;

/// Block `index` of an MCU row of a plane, in coding order.
struct RowBlock {
  int column = 0;
  int row = 0;  ///< of the MCU row's block rows
};
RowBlock row_block(int plane, int index) {
  if (plane != 0) return {index, 0};
  return {index / 4 * 2 + index % 2, index / 2 % 2};
}

DcLevels dc_levels_of(const TransformedBlock& block, const LevelTable& table) {
  return dc_levels(block.coefficients[0], table.quantizer.steps[0], table.quantizer.reciprocals[0]);
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
    add(vector_number(v), kVectorFlagBits + kComponentBits.of(v.x) + kComponentBits.of(v.y), predicted_by(v));
  };
  const bool may_have_vector = input.search != nullptr && (input.unpredicted == nullptr || input.unpredicted[block] == 0);
  if (may_have_vector && input.rate->found_vectors == 0) add_vector(input.search->chosen()[block]);
  if (may_have_vector && input.rate->found_vectors > 0) {
    const auto vectors = candidate_vectors<VectorList>(g, column, row, input.search->chosen(), input.search->found(block),
                                                       input.search->found_count());
    for (std::size_t i = 0; i < vectors.count(); ++i) add_vector(vectors[i]);
  }
  if (may_have_vector && !input.rate->unpredicted) return;
  const auto b = static_cast<std::size_t>(block);
  add(kNoVector, kNoVectorBits, syntax.uses_vector[b] != 0 ? predicted_by(syntax.vectors[b]) : no_prediction());
}

void RowDecider::transform(const RowInput& input, std::span<Decided> group) {
  std::array<BlockPair, kGroup * kBeamCandidates> pairs;
  std::size_t size = 0;
  for (Decided& decided : group) {
    for (std::size_t c = 0; c < static_cast<std::size_t>(decided.options.count); ++c) {
      decided.options.transformed[c] = static_cast<std::uint8_t>(size);
      pairs[size++] = {decided.samples, input.current.pitch, decided.options.predictions[c]};
    }
  }
  decisions_.transform_blocks(std::span(pairs).first(size), *group[0].table, transformed_.data());
}

Cost RowDecider::ac_levels(const RowInput& input, const LevelTable& table, const TransformedBlock& block,
                           std::int16_t* levels) const {
  if (block.ac.kept == 0) return block.ac.energy + table.lambda * table.bits.end_of_block;
  if (input.rate->choose_levels) return decisions_.choose_levels(block, table, levels);
  return round_ac_levels(block.coefficients.data(), block.ac, table.quantizer, table.bits, table.lambda, levels);
}

void RowDecider::evaluate(const RowInput& input, std::span<Decided> group, PlaneSyntax& syntax) const {
  const LevelTable& table = *group[0].table;
  std::array<std::array<Cost, kBeamCandidates>, kGroup> promises;
  std::array<std::size_t, kGroup> firsts;
  std::array<Cost, kGroup> costs_of_first;
  std::array<Cost, kGroup> limits;
  for (std::size_t b = 0; b < group.size(); ++b) {
    const Options& options = group[b].options;
    const TransformedBlock* const transformed = &transformed_[options.transformed[0]];
    std::size_t first = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(options.count); ++i) {
      promises[b][i] = promise(transformed[i], dc_levels_of(transformed[i], table), table.bits,
                               options.candidates[i].vector_bits, table.lambda);
      first = promises[b][i] < promises[b][first] ? i : first;
    }
    firsts[b] = first;
  }
  for (std::size_t b = 0; b < group.size(); ++b) {
    const Options& options = group[b].options;
    const TransformedBlock& first = transformed_[options.transformed[firsts[b]]];
    costs_of_first[b] = ac_levels(input, table, first, syntax.block(group[b].block));
    limits[b] = costs_of_first[b] + dc_levels_of(first, table).errors[0] +
                table.lambda * (options.candidates[firsts[b]].vector_bits + kDiscardMarginBits);
  }
  for (std::size_t b = 0; b < group.size(); ++b) {
    Options& options = group[b].options;
    const auto count = static_cast<std::size_t>(options.count);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const bool is_first = i == firsts[b];
      if (!is_first && promises[b][i] > limits[b]) continue;
      if (is_first) options.written = kept;
      const TransformedBlock& transformed = transformed_[options.transformed[i]];
      const Cost ac = is_first ? costs_of_first[b] : ac_levels(input, table, transformed, nullptr);
      BeamCandidate& candidate = options.candidates[kept];
      candidate.vector = options.candidates[i].vector;
      candidate.vector_bits = options.candidates[i].vector_bits;
      options.without_ac[kept] = decisions_.cost_candidate(transformed, ac, table, candidate);
      options.predictions[kept] = options.predictions[i];
      options.transformed[kept++] = options.transformed[i];
    }
    options.count = static_cast<int>(kept);
  }
}

bool RowDecider::write(const RowInput& input, const Decided& decided, BeamChoice choice, PlaneSyntax& syntax) {
  const auto block = static_cast<std::size_t>(decided.block);
  const std::size_t candidate = choice.lane / kDcLevels;
  const std::size_t dc = choice.lane % kDcLevels;
  const Options& options = decided.options;
  std::int16_t* const levels = syntax.block(decided.block);
  const bool without_ac = (options.without_ac[candidate] >> dc & 1) != 0;
  if (without_ac) std::fill_n(levels, 64, std::int16_t{0});
  levels[0] = options.candidates[candidate].levels[dc];
  const VectorNumber vector = options.candidates[candidate].vector;
  input.without_vector[block] = vector == kNoVector ? 1 : 0;
  if (vector != kNoVector) {
    syntax.uses_vector[block] = 1;
    syntax.vectors[block] = vector_of(vector);
  }
  return without_ac || candidate == options.written;
}

void RowDecider::write_levels(const RowInput& input, const LevelTable& table, const TransformedBlock& block, std::int16_t* levels) const {
  const std::int16_t dc = levels[0];
  ac_levels(input, table, block, levels);
  levels[0] = dc;
}

std::size_t RowDecider::begin_group(const RowInput& input, const PlaneSyntax& syntax, int first, int count, Decided* group) {
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
  return static_cast<std::size_t>(size);
}

void RowDecider::write_row(const RowInput& input, int count, PlaneSyntax& syntax) {
  // Blocks whose AC levels are not written yet are transformed together again.
  std::array<const Decided*, kGroup> waiting;
  std::array<BlockPair, kGroup> pairs;
  std::size_t size = 0;
  const auto write_waiting = [&] {
    if (size == 0) return;
    decisions_.transform_blocks(std::span(pairs).first(size), *waiting[0]->table, transformed_.data());
    for (std::size_t i = 0; i < size; ++i) {
      write_levels(input, *waiting[i]->table, transformed_[i], syntax.block(waiting[i]->block));
    }
    size = 0;
  };
  std::size_t state = 0;
  for (int i = count - 1; i >= 0; --i) {
    const Decided& decided = decided_[static_cast<std::size_t>(i)];
    const BeamChoice choice = decided.choices[state];
    state = choice.parent;
    if (write(input, decided, choice, syntax)) continue;
    if (size == kGroup || (size > 0 && waiting[0]->table != decided.table)) write_waiting();
    pairs[size] = {decided.samples, input.current.pitch, decided.options.predictions[choice.lane / kDcLevels]};
    waiting[size++] = &decided;
  }
  write_waiting();
}

std::int64_t RowDecider::decide(const RowInput& input, PlaneSyntax& syntax) {
  const int count = block_rows_per_mcu(input.plane) * syntax.geometry.columns;
  const int width = input.rate->beam_width;
  const bool only_state = width == 1;  // so what is chosen for a block is final
  Beam beam;
  Weight weight = kPlainWeight;  // that the beam's costs are in
  std::int64_t cost = 0;
  for (int first = 0; first < count;) {
    Decided* const begin = decided_.data() + (only_state ? 0 : first);
    const std::span<Decided> group(begin, begin_group(input, syntax, first, count, begin));
    if (begin->weight != weight) {
      cost += reweigh(beam.base, weight, kPlainWeight);
      beam.base = 0;
      reweigh_beam(beam, width, weight, begin->weight);
      weight = begin->weight;
    }
    transform(input, group);
    evaluate(input, group, syntax);
    for (Decided& decided : group) {
      const Options& options = decided.options;
      const LevelTable& table = *decided.table;
      decided.choices = decisions_.extend_beam(beam, width, options.candidates.data(), options.count,
                                               row_block(input.plane, first++).row, input.plane, table.lambda);
      if (!only_state) continue;
      const BeamChoice choice = decided.choices[0];
      if (!write(input, decided, choice, syntax)) {
        write_levels(input, table, transformed_[options.transformed[choice.lane / kDcLevels]], syntax.block(decided.block));
      }
    }
  }
  if (!only_state) write_row(input, count, syntax);
  return cost + reweigh(beam.base, weight, kPlainWeight);
}

}  // namespace c63::cpu
