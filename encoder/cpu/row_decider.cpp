#include "cpu/row_decider.h"

#include <algorithm>

#include "decide/vectors.h"
#include "decide/weights.h"

namespace c63::cpu {

std::size_t NarrowDecider::list(const RowInput& input, const PlaneGeometry& g, int first, int count) {
  const int rows = block_rows_per_mcu(input.plane);
  const auto most = std::min(kGroup, static_cast<std::size_t>(count - first));
  const Weight weight = input.weight_of(RowBlock(input.plane, first).column);
  std::size_t size = 0;
  std::size_t candidates = 0;
  for (; size < most; ++size) {
    const RowBlock place(input.plane, first + static_cast<int>(size));
    if (input.weight_of(place.column) != weight) break;
    const int row = input.mcu_row * rows + place.row;
    const int number = row * g.columns + place.column;
    const std::uint8_t* const samples = &input.current.at(place.column * kBlockSize, row * kBlockSize);
    const auto begin = static_cast<std::uint8_t>(candidates);
    const auto add = [&](VectorNumber vector, int bits, BlockPrediction prediction) {
      vectors_[candidates] = vector;
      vector_bits_[candidates] = bits;
      pairs_[candidates++] = {samples, input.current.pitch, prediction};
    };
    const bool has_vector = input.may_have_vectors();
    if (has_vector) {
      const MotionVector v = input.search->chosen()[number];
      add(vector_number(v), bits_of_vector(v), input.predicted_by(v, place.column, row));
    }
    if (!has_vector || input.rate->unpredicted) {
      add(kNoVector, kNoVectorBits, input.predicted_without_vector(number, place.column, row));
    }
    blocks_[size] = {number, static_cast<std::uint8_t>(place.row), begin, static_cast<std::uint8_t>(candidates - begin)};
  }
  return size;
}

void NarrowDecider::write(const LevelTable& table, const Block& block, BlockChoice choice,
                          PlaneSyntax& syntax) const {
  const std::size_t candidate = block.begin + std::size_t{choice.lane} / kDcLevels;
  const auto number = static_cast<std::size_t>(block.number);
  const VectorNumber vector = vectors_[candidate];
  if (vector != kNoVector) {
    syntax.uses_vector[number] = 1;
    syntax.vectors[number] = vector_of(vector);
  }
  AcChoice ac = ac_[candidate];
  ac.coded = choice.without_ac ? 0 : ac.coded;
  decisions_.write_levels(transformed_[candidate], table, ac, choice.level, syntax.block(block.number));
}

std::int64_t NarrowDecider::decide(const RowInput& input, PlaneSyntax& syntax) {
  const int count = block_rows_per_mcu(input.plane) * syntax.geometry.columns;
  std::array<NarrowCandidates, kGroup> candidates;
  std::array<BlockChoice, kGroup> choices;
  Beam beam;
  Weight weight = kPlainWeight;  // the weight whose λ the beam's costs are based on
  std::int64_t cost = 0;
  for (int first = 0; first < count;) {
    const Weight next = input.weight_of(RowBlock(input.plane, first).column);
    if (next != weight) {
      cost += reweigh(beam.base, weight, kPlainWeight);
      beam.base = 0;
      weight = next;
    }
    const LevelTable& table = input.table_of(weight);
    const std::size_t size = list(input, syntax.geometry, first, count);
    const auto blocks = std::span(blocks_).first(size);
    const std::size_t transformed = std::size_t{blocks.back().begin} + blocks.back().count;
    decisions_.transform_blocks(std::span(pairs_).first(transformed), table, transformed_.data());
    decide_levels(decisions_, input.rate->choose_levels, std::span(transformed_).first(transformed), table, ac_.data());
    for (std::size_t b = 0; b < size; ++b) {
      const Block& block = blocks[b];
      NarrowCandidates& of_block = candidates[b];
      of_block.row = block.row;
      of_block.count = block.count;
      for (std::size_t i = 0; i < 2; ++i) {  // if there is no second candidate, the first one is repeated
        const std::size_t c = std::size_t{block.begin} + std::min<std::size_t>(i, block.count - 1U);
        of_block.blocks[i] = &transformed_[c];
        of_block.ac[i] = ac_[c].cost;
        of_block.vectors[i] = vectors_[c];
        of_block.vector_bits[i] = vector_bits_[c];
      }
    }
    decisions_.extend_narrow(beam, std::span(candidates).first(size), table, choices.data());
    for (std::size_t b = 0; b < size; ++b) write(table, blocks[b], choices[b], syntax);
    first += static_cast<int>(size);
  }
  return cost + reweigh(beam.base, weight, kPlainWeight);
}

RowDecider::RowDecider(const Kernels& kernels, const Geometry& geometry)
    : decisions_(kernels.decisions()),
      narrow_(decisions_),
      decided_(static_cast<std::size_t>(2 * geometry.plane(0).columns)) {}

void RowDecider::list_candidates(const RowInput& input, const PlaneSyntax& syntax, int column, int row, Options& options) {
  const PlaneGeometry& g = syntax.geometry;
  const int block = row * g.columns + column;
  options.count = 0;
  const auto add = [&](VectorNumber vector, int bits, BlockPrediction prediction) {
    options.candidates[options.count].vector = vector;
    options.candidates[options.count].vector_bits = bits;
    options.predictions[options.count++] = prediction;
  };
  const auto add_vector = [&](MotionVector v) {
    add(vector_number(v), bits_of_vector(v), input.predicted_by(v, column, row));
  };
  const bool may_have_vectors = input.may_have_vectors();
  if (may_have_vectors && input.rate->found_vectors == 0) add_vector(input.search->chosen()[block]);
  if (may_have_vectors && input.rate->found_vectors > 0) {
    const auto vectors = candidate_vectors(g, column, row, input.search->chosen(), input.search->found(block),
                                                       input.search->found_count());
    for (std::size_t i = 0; i < vectors.count(); ++i) add_vector(vectors[i]);
  }
  if (may_have_vectors && !input.rate->unpredicted) return;
  add(kNoVector, kNoVectorBits, input.predicted_without_vector(block, column, row));
}

void RowDecider::transform(const RowInput& input, std::span<Decided> group) {
  std::array<BlockPair, kGroupCandidates> pairs;
  std::size_t size = 0;
  for (Decided& decided : group) {
    Options& options = decided.options;
    options.transformed = size;
    for (std::size_t c = 0; c < static_cast<std::size_t>(options.count); ++c) {
      pairs[size++] = {decided.samples, input.current.pitch, options.predictions[c]};
    }
  }
  decisions_.transform_blocks(std::span(pairs).first(size), *group[0].table, transformed_.data());
}

void RowDecider::evaluate(const RowInput& input, std::span<Decided> group) const {
  const LevelTable& table = *group[0].table;
  const Options& last = group.back().options;
  const std::size_t size = last.transformed + static_cast<std::size_t>(last.count);
  std::array<AcChoice, kGroupCandidates> choices;
  decide_levels(decisions_, input.rate->choose_levels, std::span(transformed_).first(size), table, choices.data());
  for (Decided& decided : group) {
    Options& options = decided.options;
    options.first = 0;
    Cost least = kInvalidCost;
    for (std::size_t i = 0; i < static_cast<std::size_t>(options.count); ++i) {
      const std::size_t place = options.transformed + i;
      BeamCandidate& candidate = options.candidates[i];
      options.ac[i] = choices[place];
      options.without_ac[i] = decisions_.cost_candidate(transformed_[place], choices[place].cost, table, candidate);
      const Cost cost = candidate.costs[0] + table.lambda * candidate.vector_bits;
      options.first = cost < least ? i : options.first;
      least = std::min(cost, least);
    }
  }
}

bool RowDecider::write(const Decided& decided, BeamChoice choice, PlaneSyntax& syntax) {
  const auto block = static_cast<std::size_t>(decided.block);
  const std::size_t candidate = choice.lane / kDcLevels;
  const std::size_t dc = choice.lane % kDcLevels;
  const Options& options = decided.options;
  std::int16_t* const levels = syntax.block(decided.block);
  const bool without_ac = (options.without_ac[candidate] >> dc & 1) != 0;
  if (without_ac) std::fill_n(levels, 64, std::int16_t{0});
  levels[0] = options.candidates[candidate].levels[dc];
  const VectorNumber vector = options.candidates[candidate].vector;
  if (vector != kNoVector) {
    syntax.uses_vector[block] = 1;
    syntax.vectors[block] = vector_of(vector);
  }
  return !without_ac;
}

void RowDecider::write_levels(const Decided& decided, std::size_t candidate, const TransformedBlock& block,
                              PlaneSyntax& syntax) const {
  std::int16_t* const levels = syntax.block(decided.block);
  decisions_.write_levels(block, *decided.table, decided.options.ac[candidate], levels[0], levels);
}

std::size_t RowDecider::begin_group(const RowInput& input, const PlaneSyntax& syntax, int first, int count, Decided* group) {
  const int rows = block_rows_per_mcu(input.plane);
  std::size_t size = 0;
  std::size_t candidates = 0;
  const auto left = static_cast<std::size_t>(count - first);
  for (; size < std::min(kGroup, left) && candidates + kBeamCandidates <= kGroupCandidates; ++size) {
    const RowBlock place(input.plane, first + static_cast<int>(size));
    const Weight weight = input.weight_of(place.column);
    Decided& decided = group[size];
    if (size > 0 && weight != group->weight) break;
    const int row = input.mcu_row * rows + place.row;
    decided.block = row * syntax.geometry.columns + place.column;
    decided.samples = &input.current.at(place.column * kBlockSize, row * kBlockSize);
    decided.weight = weight;
    decided.table = &input.table_of(weight);
    list_candidates(input, syntax, place.column, row, decided.options);
    candidates += static_cast<std::size_t>(decided.options.count);
  }
  return size;
}

void RowDecider::write_row(const RowInput& input, int count, PlaneSyntax& syntax) {
  // The AC levels of candidate options.first are already written for every block. If another candidate was chosen for a
  // block, the block is transformed again. Such blocks are collected and transformed in groups.
  std::array<const Decided*, kGroup> waiting;
  std::array<std::size_t, kGroup> candidates;
  std::array<BlockPair, kGroup> pairs;
  std::size_t size = 0;
  const auto write_waiting = [&] {
    if (size == 0) return;
    decisions_.transform_blocks(std::span(pairs).first(size), *waiting[0]->table, transformed_.data());
    for (std::size_t i = 0; i < size; ++i) write_levels(*waiting[i], candidates[i], transformed_[i], syntax);
    size = 0;
  };
  std::size_t state = 0;
  for (int i = count - 1; i >= 0; --i) {
    const Decided& decided = decided_[static_cast<std::size_t>(i)];
    const BeamChoice choice = decided.choices[state];
    const std::size_t candidate = choice.lane / kDcLevels;
    state = choice.parent;
    if (!write(decided, choice, syntax) || candidate == decided.options.first) continue;
    if (size == kGroup || (size > 0 && waiting[0]->table != decided.table)) write_waiting();
    pairs[size] = {decided.samples, input.current.pitch, decided.options.predictions[candidate]};
    candidates[size] = candidate;
    waiting[size++] = &decided;
  }
  write_waiting();
}

std::int64_t RowDecider::decide(const RowInput& input, PlaneSyntax& syntax) {
  if (NarrowDecider::decides(*input.rate)) return narrow_.decide(input, syntax);
  const int count = block_rows_per_mcu(input.plane) * syntax.geometry.columns;
  const int width = input.rate->beam_width;
  const bool is_greedy = width == 1;  // so the choice for a block is final
  Beam beam;
  Weight weight = kPlainWeight;  // the weight whose λ the beam's costs are based on
  std::int64_t cost = 0;
  for (int first = 0; first < count;) {
    Decided* const begin = decided_.data() + (is_greedy ? 0 : first);
    const std::span<Decided> group(begin, begin_group(input, syntax, first, count, begin));
    if (begin->weight != weight) {
      cost += reweigh(beam.base, weight, kPlainWeight);
      beam.base = 0;
      reweigh_beam(beam, width, weight, begin->weight);
      weight = begin->weight;
    }
    transform(input, group);
    evaluate(input, group);
    for (Decided& decided : group) {
      const Options& options = decided.options;
      const auto transformed = [&](std::size_t candidate) -> const TransformedBlock& { return transformed_[options.transformed + candidate]; };
      if (!is_greedy) write_levels(decided, options.first, transformed(options.first), syntax);
      decided.choices = decisions_.extend_beam(beam, width, options.candidates.data(), options.count,
                                               RowBlock(input.plane, first++).row, input.plane, decided.table->lambda);
      if (!is_greedy) continue;
      const BeamChoice choice = decided.choices[0];
      const std::size_t candidate = choice.lane / kDcLevels;
      if (write(decided, choice, syntax)) write_levels(decided, candidate, transformed(candidate), syntax);
    }
  }
  if (!is_greedy) write_row(input, count, syntax);
  return cost + reweigh(beam.base, weight, kPlainWeight);
}

}  // namespace c63::cpu
