#include "io/source_parts.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace c63 {
namespace {

TEST(CopyInPieces, CopiesEveryByteAndNoOther) {
  std::minstd_rand random(1);
  constexpr std::size_t kPiece = 64 << 10;
  std::vector<std::uint8_t> from(12 * kPiece);
  for (std::uint8_t& byte : from) byte = static_cast<std::uint8_t>(random() >> 8);
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, kPiece, 8 * kPiece - 1, 8 * kPiece, 8 * kPiece + 1,
                                 9 * kPiece + 77, 10 * kPiece + 63}) {
    for (const std::size_t shift : {0, 1, 15, 16, 33}) {
      std::vector<std::uint8_t> to(size + shift + 64, 0xA5);
      copy_in_pieces(std::span(from).subspan(shift, size), std::span(to).subspan(shift));
      for (std::size_t i = 0; i < to.size(); ++i) {
        const bool copied = i >= shift && i < shift + size;
        ASSERT_EQ(to[i], copied ? from[i] : 0xA5) << size << " bytes, shift " << shift << ", byte " << i;
      }
    }
  }
}

}  // namespace
}  // namespace c63
