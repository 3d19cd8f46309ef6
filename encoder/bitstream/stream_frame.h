#pragma once

#include <cstdint>
#include <vector>

#include "bitstream/frame_header.h"
#include "c63/decoder.h"
#include "c63/error.h"

namespace c63 {

/// A coded frame with its bytes and its place in the stream.
struct StreamFrame {
  std::int64_t index = 0;
  std::uint64_t offset = 0;
  std::vector<std::uint8_t> bytes;
  ParsedFrame parsed;  ///< its scan points into `bytes`

  /// Returns what is known about the frame before it is decoded.
  [[nodiscard]] FrameInfo info() const;
  /// Returns the frame's error with the frame's place in the stream added.
  [[nodiscard]] Error located(const Error& error) const;
  /// Throws the error of a frame that a device found invalid. Decodes the scan to find it.
  [[noreturn]] void throw_scan_error() const;
};

}  // namespace c63
