#pragma once

#include <array>

#include "bitstream/frame_syntax.h"
#include "cpu/frame_coder.h"
#include "cpu/kernels.h"

namespace c63::cpu {

/// Reconstructs MCU row `mcu_row` of a decoded frame. `reference` is the previous reconstruction and not read in key
/// frames; vectors are legal. `prediction` is filled where it is not null.
void restore_row(const FrameSyntax& syntax, const std::array<TransformTable, kPlanes>& tables, const Kernels& kernels,
                 const PaddedPicture& reference, PaddedPicture& reconstruction, PaddedPicture* prediction, int mcu_row);

/// How many MCU rows of the reference, from the top, MCU row `mcu_row` of an inter frame needs at most.
[[nodiscard]] int reference_rows(const FrameSyntax& syntax, int mcu_row);

}  // namespace c63::cpu
