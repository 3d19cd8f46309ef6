#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "c63/settings.h"
#include "codec/frame_headers.h"
#include "codec/geometry.h"
#include "codec/quantization.h"
#include "codec/vlc.h"

namespace c63 {

/// Returns the position of the first marker in `bytes` that is not before `from`: a 0xFF that is not followed by 0x00.
/// A 0xFF at the very end counts as a marker. Returns the number of bytes if there is no marker.
[[nodiscard]] std::size_t next_marker(std::span<const std::uint8_t> bytes, std::size_t from);

/// The number of bytes before the scan of a frame with all headers, as the course encoder writes them.
inline constexpr std::size_t kFrameHeaderBytes = frame_header_bytes({});
/// The number of bytes of the marker that ends a frame.
inline constexpr std::size_t kFrameTrailerBytes = 2;

/// Appends everything before a frame's scan: SOI, then DQT, SOF0 and DHT if `headers` asks for them, then SOS. These
/// are frame_header_bytes(headers) bytes. If SOF is left out, `geometry` and `key` are not written: the frame has the
/// size of the previous one and is an inter frame.
void write_frame_header(std::vector<std::uint8_t>& out, const Geometry& geometry, const QuantizationTables& tables,
                        bool key, const FrameHeaders& headers = {});

/// Appends EOI.
void write_frame_trailer(std::vector<std::uint8_t>& out);

/// The number of bytes of a repeat frame: SOI and EOI.
inline constexpr std::size_t kRepeatFrameBytes = 4;
/// Appends a repeat frame.
void write_repeat_frame(std::vector<std::uint8_t>& out);

/// The parts of a coded frame. `scan` points into the parsed bytes.
struct ParsedFrame {
  bool key = false;
  /// The frame is only SOI and EOI: it shows the previous picture again. It has no scan and does not change the
  /// decoder's state.
  bool repeat = false;
  /// True: the frame has an SOF, and the previous picture becomes the reference. False: the frame is a repeat, or has
  /// the same reference as the previous frame, which must be an inter frame. In that case, blocks without a vector are
  /// predicted as in the previous frame.
  bool advances_reference = true;
  Geometry geometry;
  QuantizationTables tables{};
  std::span<const std::uint8_t> scan;  ///< with stuffing
  std::size_t scan_offset = 0;         ///< offset of the scan from the frame's first byte, in bytes
  std::size_t size = 0;                ///< bytes of the frame, from SOI to EOI
};

/// Returns a lower bound for the bytes of a picture's scan. An MCU has at least 38 bits. The encoder may drop up to
/// seven bits at the end of the scan.
[[nodiscard]] constexpr std::uint64_t smallest_scan(const Geometry& geometry) {
  return (38 * static_cast<std::uint64_t>(geometry.mcus()) + 7) / 8 - 1;
}

/// Returns an upper bound for the bytes of a scan, with stuffing. It counts the most bits for every block, and stuffing
/// after every byte.
[[nodiscard]] constexpr std::uint64_t largest_scan(const Geometry& geometry) {
  return (std::uint64_t{kMaxBlockBits} * static_cast<std::uint64_t>(geometry.blocks()) + 7) / 8 * 2 + 2;
}

/// Returns true if the first bytes of a file look like a c63 stream: a frame with the course codec's SOF, which no JPEG
/// has. The first kStreamStart bytes are enough.
[[nodiscard]] bool starts_like_stream(std::span<const std::uint8_t> bytes);
inline constexpr std::size_t kStreamStart = 2048;

/// Parses the frames of one stream, in order. It keeps what later frames need: quantization tables, picture size, and
/// whether the last frame was a key frame.
class FrameParser {
 public:
  /// Begins at the start of a stream, or at a key frame in the middle with the size and tables of the frames before it.
  explicit FrameParser(Limits limits = {}, const std::optional<Geometry>& geometry = {},
                       const std::optional<QuantizationTables>& tables = {})
      : limits_(limits), tables_(tables), geometry_(geometry) {
    if (geometry_) last_was_key_ = true;
  }

  /// Parses the frame at the start of `bytes`; more frames may follow it. Throws Error with offsets from the start of
  /// `bytes`. If its id is C63-TRUNCATED, the frame is incomplete, and more bytes may complete it. The state changes
  /// only on success. No memory is allocated for a size that the bytes cannot fill.
  [[nodiscard]] ParsedFrame parse(std::span<const std::uint8_t> bytes);

 private:
  Limits limits_;
  std::optional<QuantizationTables> tables_;
  std::optional<Geometry> geometry_;
  /// True if the last parsed frame was a key frame; repeat frames do not count. Empty at the start of the stream.
  std::optional<bool> last_was_key_;
};

}  // namespace c63
