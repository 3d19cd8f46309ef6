#pragma once

#include <cstdint>
#include <vector>

#include "bitstream/frame_syntax.h"
#include "c63/encoder.h"

namespace c63 {

/// Appends the scan of one frame to `out`, with stuffing. The scan ends as the course encoder ends it
/// (BitWriter::finish()). Adds the bits of motion and coefficients to `bits`; stuffing and padding count as header.
void encode_scan(const FrameSyntax& syntax, std::vector<std::uint8_t>& out, BitCounts& bits);

}  // namespace c63
