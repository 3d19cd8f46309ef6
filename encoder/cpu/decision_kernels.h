#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "codec/bit_cost.h"
#include "cpu/kernel_blocks.h"
#include "decide/beam.h"
#include "decide/block_costs.h"
#include "decide/quantizer.h"

namespace c63::cpu {

/// A block to search by SAD and what vectors cost.
struct CostedSearch : BlockSearch {
  const std::uint16_t* column_costs = nullptr;  ///< of the window's columns
  const std::uint16_t* row_costs = nullptr;     ///< of its rows
};

/// What the levels of a plane's blocks are chosen by.
struct LevelTable {
  LevelTable() = default;
  LevelTable(const QuantizationTable& quantization, int plane_index, Cost lambda_of_frame)
      : quantizer(quantization, plane_index),
        bits(ac_bits(plane_index)),
        plane(plane_index),
        lambda(lambda_of_frame),
        cap(bounding_magnitude(lambda_of_frame)) {}

  Quantizer quantizer;
  AcBits bits;
  int plane = 0;
  Cost lambda = 0;
  std::int16_t cap = 0;  ///< bounding_magnitude()
};

/// The kernels of decisions by rate and distortion; like all, they exist once per instruction set and give the same results.
struct DecisionKernels {
  /// The best candidates of the window by SAD and cost, of equals the first in raster order: each as
  /// candidate_key(cost, index), in order, and UINT32_MAX behind the last. `sums` are those of the reference plane, `starts`
  /// at least one candidate of the window; both only save time.
  void (*search_best)(const CostedSearch& block, const SumsView& sums, std::span<const Position> starts,
                      std::span<std::uint32_t> keys);

  /// Transforms blocks, one for each prediction. They begin `step` samples from each other: 0 where they are one block with
  /// several predictions.
  void (*transform_blocks)(const std::uint8_t* current, std::ptrdiff_t current_pitch, std::ptrdiff_t step,
                           std::span<const BlockPrediction> predictions, const LevelTable& table, TransformedBlock* blocks);

  /// choose_ac_levels().
  Cost (*choose_levels)(const TransformedBlock& block, const LevelTable& table, std::int16_t* levels);

  /// extend_beam().
  BeamChoices (*extend_beam)(Beam& beam, int width, const BeamCandidate* candidates, int count, int row, int plane,
                             Cost lambda);
};

/// Puts a key to its place among the smallest ones, if it is one of them.
inline void insert_key(std::span<std::uint32_t> keys, std::uint32_t key) {
  std::size_t i = keys.size();
  if (key >= keys[i - 1]) return;
  for (--i; i > 0 && key < keys[i - 1]; --i) keys[i] = keys[i - 1];
  keys[i] = key;
}

/// The definition of correct.
[[nodiscard]] const DecisionKernels& scalar_decision_kernels();

}  // namespace c63::cpu
