#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "bitstream/bit_reader.h"
#include "bitstream/entropy_encoder.h"
#include "bitstream/frame_header.h"
#include "bitstream/random_syntax.h"
#include "codec/quantization.h"
#include "support/generators.h"

namespace c63::test {

/// A frame of a stream that saves bits, and the data from which it was made.
struct CompactFrame {
  bool repeat = false;
  FrameHeaders headers = {};
  FrameSyntax syntax = {};  ///< empty for repeats
  QuantizationTables tables = {};  ///< the tables that apply, even if they were not sent
  BitCounts bits = {};
  Bytes bytes = {};
};

/// Writes a scan in the shortest valid way: zeros fill its last byte, and nothing follows. The course encoder would add
/// a byte or lose bits in some cases.
inline void append_compact_scan(const FrameSyntax& syntax, Bytes& out, BitCounts& bits) {
  BitCounts counted;
  Bytes scan;
  encode_scan(syntax, scan, counted);
  Bytes plain;
  static_cast<void>(remove_stuffing(scan, plain));  // adds zeros after the bytes; the next line cuts them off
  plain.resize((counted.motion + counted.luma + counted.chroma + 7) / 8);
  for (const std::uint8_t byte : plain) {
    out.push_back(byte);
    if (byte == 0xFF) out.push_back(0x00);
  }
  bits = counted;
}

/// Writes random streams. They contain every kind of frame that the course decoder accepts.
class CompactStreamWriter {
 public:
  CompactStreamWriter(int width, int height, std::uint64_t seed)
      : geometry_(width, height), random_(seed), tables_(make_quantization_tables(25)) {}

  void add_key() { add(/*key=*/true, {.quantization_tables = first_ || chance(2), .has_sof = true}); }
  void add_inter() { add(/*key=*/false, {.quantization_tables = chance(4), .has_sof = true}); }
  /// Adds a frame without SOF, which replaces the previous frame as a reference. The last frame that is no repeat must
  /// be an inter frame.
  void add_replacing() { add(/*key=*/false, {.quantization_tables = chance(4), .has_sof = false}); }
  void add_repeat() {
    CompactFrame frame{.repeat = true, .tables = tables_};
    write_repeat_frame(frame.bytes);
    frames_.push_back(std::move(frame));
  }
  /// Adds `count` random frames in an order that is allowed. On average, one frame in `gop` is a key frame.
  void add_any(int count, std::uint32_t gop) {
    for (int i = 0; i < count; ++i) {
      if (first_ || chance(gop)) {
        add_key();
      } else if (chance(4)) {
        add_repeat();
      } else if (!last_is_key_ && chance(2)) {
        add_replacing();
      } else {
        add_inter();
      }
    }
  }

  [[nodiscard]] const Geometry& geometry() const { return geometry_; }
  [[nodiscard]] const std::vector<CompactFrame>& frames() const { return frames_; }
  [[nodiscard]] Bytes bytes() const {
    Bytes all;
    for (const CompactFrame& frame : frames_) all.insert(all.end(), frame.bytes.begin(), frame.bytes.end());
    return all;
  }

 private:
  /// Returns true in one of `of` calls on average.
  [[nodiscard]] bool chance(std::uint32_t of) { return random_.below(of) == 0; }

  void add(bool key, FrameHeaders headers) {
    headers.code_tables = chance(4);
    headers.scan_components = chance(4);
    if (headers.quantization_tables) {
      for (auto& table : tables_) {
        for (auto& step : table) step = static_cast<std::uint8_t>(4 + random_.below(28));
      }
    }
    CompactFrame frame{.headers = headers, .tables = tables_};
    frame.syntax = random_syntax(geometry_, key, 1 + random_.below(5), 12, random_.next());
    if (!headers.has_sof) {
      // In a frame without SOF, a block without a vector inherits one. Half of the blocks do that here.
      for (PlaneSyntax& plane : frame.syntax.planes) {
        for (std::size_t block = 0; block < plane.vectors.size(); ++block) {
          if (chance(2)) continue;
          plane.uses_vector[block] = 0;
          plane.vectors[block] = {};
        }
      }
    }
    // Without this, most blocks of key frames would be nearly black. Then predictions from them would be black, too.
    if (key) {
      for (PlaneSyntax& plane : frame.syntax.planes) {
        for (int block = 0; block < plane.geometry.blocks(); ++block) {
          plane.block(block)[0] = static_cast<std::int16_t>(40 + random_.below(60));
        }
      }
    }
    write_frame_header(frame.bytes, geometry_, tables_, key, headers);
    if (chance(2)) {
      append_compact_scan(frame.syntax, frame.bytes, frame.bits);
    } else {
      encode_scan(frame.syntax, frame.bytes, frame.bits);
    }
    write_frame_trailer(frame.bytes);
    first_ = false;
    last_is_key_ = key;
    frames_.push_back(std::move(frame));
  }

  Geometry geometry_;
  Random random_;
  QuantizationTables tables_;
  std::vector<CompactFrame> frames_;
  bool first_ = true;
  bool last_is_key_ = false;
};

}  // namespace c63::test
