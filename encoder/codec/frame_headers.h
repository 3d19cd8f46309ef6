#pragma once

#include <cstddef>

#include "codec/host_device.h"

namespace c63 {

/// Which segments come before a frame's scan. The course encoder writes all of them in every frame. If a segment is
/// missing, a decoder uses the values of an earlier frame (docs/bitstream.md).
struct FrameHeaders {
  bool quantization_tables = true;  ///< DQT; needed if a table changes, and in the first frame of a stream
  /// SOF. A frame without it is an inter frame with the same reference as the previous frame. The previous frame must
  /// be an inter frame, too; repeats between the two do not count.
  bool has_sof = true;
  bool code_tables = true;          ///< DHT; decoders skip it
  bool scan_components = true;      ///< SOS with its list of components; false: without the list, with length 2

  friend constexpr bool operator==(const FrameHeaders&, const FrameHeaders&) = default;
};

/// Returns the bytes before a frame's scan: SOI, the segments that `headers` asks for, and SOS.
[[nodiscard]] C63_HD constexpr std::size_t frame_header_bytes(const FrameHeaders& headers) {
  std::size_t bytes = 2;
  if (headers.quantization_tables) bytes += 4 + 3 * 65;
  if (headers.has_sof) bytes += 20;
  if (headers.code_tables) bytes += 4 + 2 * (17 + 12) + 2 * (17 + 162);
  return bytes + (headers.scan_components ? 14 : 4);
}

}  // namespace c63
