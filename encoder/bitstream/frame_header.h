#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bitstream/markers.h"
#include "c63/settings.h"
#include "codec/frame_headers.h"
#include "codec/geometry.h"
#include "codec/quantization.h"

namespace c63 {

/// Bytes of everything before the scan where a frame has all its headers, as the course encoder writes them.
inline constexpr std::size_t kFrameHeaderBytes = frame_header_bytes({});
/// The marker that ends a frame.
inline constexpr std::size_t kFrameTrailerBytes = 2;

/// Appends everything of a frame that precedes its scan: SOI, then those of DQT, SOF0 and DHT that `headers` asks for, then
/// SOS; frame_header_bytes(headers) bytes. Without SOF, `geometry` and `key` are those that the decoder knows already.
void write_frame_header(std::vector<std::uint8_t>& out, const Geometry& geometry, const QuantizationTables& tables,
                        bool key, const FrameHeaders& headers = {});

/// Appends EOI.
void write_frame_trailer(std::vector<std::uint8_t>& out);

/// Bytes of a frame that shows the picture before it once more: SOI and EOI.
inline constexpr std::size_t kRepeatFrameBytes = 4;
/// Appends such a frame.
void write_repeat_frame(std::vector<std::uint8_t>& out);

/// A coded frame taken apart. `scan` points into the bytes it was parsed from.
struct ParsedFrame {
  bool key = false;
  /// SOI and EOI only: the picture of the frame before once more. There is no scan; nothing that later frames see changes.
  bool repeat = false;
  /// The picture of the frame before becomes the reference, as a SOF says. Where it does not, the frame is predicted from
  /// the same reference as the frame before it, which is an inter frame, and takes its place; blocks without a vector are
  /// predicted as that frame predicted them.
  bool advances_reference = true;
  Geometry geometry;
  QuantizationTables tables{};
  std::span<const std::uint8_t> scan;  ///< with stuffing
  std::size_t scan_offset = 0;         ///< of the scan, from the frame's first byte
  std::size_t size = 0;                ///< of the frame, SOI to EOI
};

/// The fewest bytes that the scan of a picture can take: 38 bits an MCU, less up to seven that the encoder may lose.
[[nodiscard]] constexpr std::uint64_t smallest_scan(const Geometry& geometry) {
  return (38 * static_cast<std::uint64_t>(geometry.mcus()) + 7) / 8 - 1;
}

/// The most bits that a block can take: a vector, and the longest code and value for each coefficient.
inline constexpr std::uint64_t kMostBlockBits = (2 + 2 * (5 + 7)) + (9 + 11) + 63 * (16 + 10) + 16;

/// The most bytes that a scan can take: that for every block, and every byte stuffed.
[[nodiscard]] constexpr std::uint64_t largest_scan(const Geometry& geometry) {
  return (kMostBlockBits * static_cast<std::uint64_t>(geometry.blocks()) + 7) / 8 * 2 + 2;
}

/// Whether `bytes`, the first of a file, begin like a c63 stream: a frame with a SOF of the course codec's, which no JPEG has.
/// kStreamStart bytes are enough.
[[nodiscard]] bool starts_like_stream(std::span<const std::uint8_t> bytes);
inline constexpr std::size_t kStreamStart = 2048;

/// Takes frames of one stream apart, in order; keeps what persists from frame to frame: quantization tables, picture
/// size, and what a frame without SOF would replace.
class FrameParser {
 public:
  explicit FrameParser(Limits limits = {}) : limits_(limits) {}
  /// A parser that begins with a key frame in mid-stream, given what persists from the frames before it.
  FrameParser(Limits limits, const Geometry& geometry, const QuantizationTables& tables)
      : limits_(limits), tables_(tables), geometry_(geometry), last_was_key_(true) {}

  /// Parses the frame at the start of `bytes`; more frames may follow it. Throws Error with offsets from the start of
  /// `bytes`: id C63-TRUNCATED where `bytes` end before the frame does (more bytes may mend it), others for faults.
  /// Nothing is allocated on behalf of sizes that the remaining bytes cannot fill. State changes only on success.
  /// With `markers` the scan's bytes are not looked through.
  [[nodiscard]] ParsedFrame parse(std::span<const std::uint8_t> bytes, const KnownMarkers* markers = nullptr);

 private:
  Limits limits_;
  std::optional<QuantizationTables> tables_;
  std::optional<Geometry> geometry_;
  std::optional<bool> last_was_key_;  ///< of the last frame that was no repeat; none at the start of the stream
};

}  // namespace c63
