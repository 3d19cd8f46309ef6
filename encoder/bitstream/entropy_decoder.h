#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bitstream/frame_header.h"
#include "bitstream/frame_syntax.h"

namespace c63 {

/// Decodes the scan of `frame` into `syntax`, which has the frame's geometry. `scratch` is room for the scan without
/// stuffing. Vectors of inter frames are checked to stay inside their plane. Throws Error (input) with the byte offset
/// from the start of the frame and the block.
void decode_scan(const ParsedFrame& frame, FrameSyntax& syntax, std::vector<std::uint8_t>& scratch);

}  // namespace c63
