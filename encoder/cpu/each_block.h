#pragma once

#include "cpu/kernels.h"

namespace c63::cpu {
namespace {

// Makes kernels for several neighbouring blocks from a kernel for a single block.

template <auto kCodeBlock>
void transform_quantize_each(const std::uint8_t* current, std::ptrdiff_t current_pitch,
                     std::span<const BlockPrediction> predictions, const TransformTable& table, std::int16_t* levels) {
  for (const BlockPrediction& prediction : predictions) {
    kCodeBlock(current, current_pitch, prediction, table, levels);
    current += kBlockSize;
    levels += kBlockSamples;
  }
}

template <auto kRestoreBlock>
void dequantize_reconstruct_each(const std::int16_t* levels, const TransformTable& table,
                        std::span<const BlockPrediction> predictions, std::uint8_t* reconstruction,
                        std::ptrdiff_t reconstruction_pitch) {
  for (const BlockPrediction& prediction : predictions) {
    kRestoreBlock(levels, table, prediction, reconstruction, reconstruction_pitch);
    levels += kBlockSamples;
    reconstruction += kBlockSize;
  }
}

}  // namespace
}  // namespace c63::cpu
