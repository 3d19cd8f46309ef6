#pragma once

#include <array>

#include "bitstream/frame_syntax.h"
#include "bitstream/prediction_vectors.h"
#include "cpu/kernels.h"
#include "cpu/padded_picture.h"

namespace c63::cpu {

/// Reconstructs MCU row `mcu_row` of a decoded frame. `vectors` predict its blocks and must be legal. `reference` is
/// not read in key frames. `prediction` is filled if it is not null.
void restore_row(const FrameSyntax& syntax, const PredictionVectors& vectors, const std::array<TransformTable, kPlanes>& tables, const Kernels& kernels,
                 const PaddedPicture& reference, PaddedPicture& reconstruction, PaddedPicture* prediction, int mcu_row);

/// Returns the number of MCU rows of the reference, from the top, that MCU row `mcu_row` of an inter frame needs at
/// most.
[[nodiscard]] int reference_rows(const Geometry& geometry, const PredictionVectors& vectors, int mcu_row);

}  // namespace c63::cpu
