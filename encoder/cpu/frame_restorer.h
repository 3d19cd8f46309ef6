#pragma once

#include <array>

#include "bitstream/frame_syntax.h"
#include "bitstream/prediction_vectors.h"
#include "cpu/kernels.h"
#include "cpu/padded_picture.h"

namespace c63::cpu {

/// Reconstructs MCU row `mcu_row` of a decoded frame. `vectors` predict its blocks and must be legal. `reference` is
/// not read in key frames. The prediction is copied to `prediction` if that is not null.
void restore_row(const FrameSyntax& syntax, const PredictionVectors& vectors, const std::array<TransformTable, kPlanes>& tables, const Kernels& kernels,
                 const PaddedPicture& reference, PaddedPicture& reconstruction, PaddedPicture* prediction, int mcu_row);

/// Returns how many MCU rows of the reference, counted from the top, must be complete before MCU row `mcu_row` of an
/// inter frame can be reconstructed.
[[nodiscard]] int reference_rows(const Geometry& geometry, const PredictionVectors& vectors, int mcu_row);

}  // namespace c63::cpu
