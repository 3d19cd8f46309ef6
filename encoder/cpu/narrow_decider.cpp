#include "cpu/narrow_decider.h"

#include <algorithm>

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

}  // namespace c63::cpu
