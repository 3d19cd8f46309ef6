#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "bitstream/bit_reader.h"
#include "bitstream/frame_header.h"
#include "bitstream/frame_syntax.h"

namespace c63 {

/// Decodes the scan of a frame, MCU row after MCU row, into the syntax elements of its picture. Vectors of inter frames are
/// checked to stay inside their plane. Throws Error (input) with the byte offset from the start of the frame and the block;
/// nothing can be decoded after that.
class ScanDecoder {
 public:
  /// `frame` outlives this. `scratch` is room for the scan without stuffing.
  ScanDecoder(const ParsedFrame& frame, std::vector<std::uint8_t>& scratch);

  /// What can be wrong with a block; turned into an Error with its place outside the hot loop.
  struct Fault {
    const char* id = nullptr;
    const char* message = nullptr;
  };

  /// Decodes the next row.
  void decode_row(FrameSyntax& syntax);
  /// After the last row. Throws where more than padding follows.
  void finish() const;

 private:
  [[noreturn, gnu::cold]] void fail(const BitReader& reader, std::int64_t bits_left, const Fault* fault, const PlaneSyntax& plane,
                                    int p, int block) const;
  [[nodiscard]] std::int64_t offset_of(std::int64_t byte) const;

  const ParsedFrame& frame_;
  std::span<const std::uint8_t> bytes_;
  BitReader reader_;
  std::array<int, kPlanes> dc_{};
  int row_ = 0;
};

/// Decodes a whole scan into `syntax`, which has the frame's geometry.
void decode_scan(const ParsedFrame& frame, FrameSyntax& syntax, std::vector<std::uint8_t>& scratch);

}  // namespace c63
