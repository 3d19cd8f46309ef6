#include "bitstream/frame_header.h"

#include <gtest/gtest.h>

#include "support/generators.h"

namespace c63::test {
namespace {

/// Searches byte by byte for the next marker: a 0xFF that is not followed by 0x00. Returns its position, or the number
/// of bytes if there is none.
std::size_t next_as_described(std::span<const std::uint8_t> bytes, std::size_t from) {
  for (std::size_t i = from; i < bytes.size(); ++i) {
    if (bytes[i] == 0xFF && (i + 1 == bytes.size() || bytes[i + 1] != 0x00)) return i;
  }
  return bytes.size();
}

/// Random bytes. About one in `rarity` is 0xFF. In three of four cases 0x00 follows it, so that it is not a marker.
Bytes bytes_with_markers(Random& random, std::uint32_t size, std::uint32_t rarity) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::uint8_t>(random.below(255));
    if (random.below(rarity) != 0) continue;
    bytes[i] = 0xFF;
    if (i + 1 < bytes.size() && random.below(4) != 0) bytes[++i] = 0x00;
  }
  return bytes;
}

TEST(Markers, AreFoundAsDescribed) {
  Random random(5);
  for (int round = 0; round < 400; ++round) {
    const Bytes bytes = bytes_with_markers(random, random.below(2000), round % 2 == 0 ? 6 : 300);
    const auto size = static_cast<std::uint32_t>(bytes.size());
    for (int i = 0; i < 20; ++i) {
      const std::size_t from = random.below(size + 1);
      ASSERT_EQ(next_marker(bytes, from), next_as_described(bytes, from)) << size << " " << from;
    }
  }
}

}  // namespace
}  // namespace c63::test
