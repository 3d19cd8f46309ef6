#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "bitstream/bit_reader.h"
#include "bitstream/frame_header.h"
#include "bitstream/frame_syntax.h"

namespace c63 {

/// Decodes the scan of a frame to its syntax elements, one MCU row after another. Checks that vectors of inter frames
/// keep their blocks inside the plane. Throws Error (input) with the block and the byte offset from the frame's start.
/// After an error, the decoder cannot be used any more.
class ScanDecoder {
 public:
  /// `frame` and `scratch` must outlive this object. `scratch` is filled with the scan without stuffing.
  ScanDecoder(const ParsedFrame& frame, std::vector<std::uint8_t>& scratch);

  /// What is wrong with a block. fail(), outside of the hot loop, makes an Error of it and adds the block and the byte
  /// offset.
  struct Fault {
    const char* id = nullptr;
    const char* message = nullptr;
  };

  /// Decodes the next row.
  void decode_row(FrameSyntax& syntax);
  /// Call it after the last row. Throws if anything but padding follows.
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

/// Decodes a whole scan to `syntax`, which must have the frame's geometry.
void decode_scan(const ParsedFrame& frame, FrameSyntax& syntax, std::vector<std::uint8_t>& scratch);

}  // namespace c63
