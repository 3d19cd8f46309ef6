#include "generated_video.h"

#include "c63/picture.h"

namespace c63::test {
namespace {

using std::uint32_t;

uint32_t sample_b(uint32_t x, uint32_t y, uint32_t f, uint32_t plane) {
  return plane == 0 ? 3 * x + 5 * y + 7 * f + 20 * ((x / 8 + y / 8 + f) % 3) : 128 + 9 * plane + 2 * x - y + 3 * f;
}

uint32_t pattern_d(uint32_t x, uint32_t y, uint32_t f, uint32_t plane, uint32_t s) {
  return (x * x * (s % 7 + 1) + y * y * (s % 5 + 2) + x * y * (s % 11) + (17 * f + 31 * plane) * s) >> (2 + s % 4);
}

uint32_t sample_d(uint32_t x, uint32_t y, uint32_t f, uint32_t plane, uint32_t s) {
  return plane == 0 ? pattern_d(x + f, y, f, 0, s) : pattern_d(x, y + f, f, plane, s);
}

}  // namespace

std::string generate(const GoldenVideo& v) {
  std::string bytes;
  for (uint32_t f = 0; f < static_cast<uint32_t>(v.frames); ++f) {
    for (int plane = 0; plane < 3; ++plane) {
      const auto width = static_cast<uint32_t>(plane == 0 ? v.width : v.width / 2);
      for (std::size_t i = 0; i < plane_bytes(v.width, v.height, plane); ++i) {
        const auto k = static_cast<uint32_t>(bytes.size());
        const auto x = static_cast<uint32_t>(i % width);
        const auto y = static_cast<uint32_t>(i / width);
        uint32_t value = 0;
        switch (v.generator) {
          case 'A':
            value = k * 2654435761U >> 13;
            break;
          case 'B':
            value = sample_b(x, y, f, static_cast<uint32_t>(plane));
            break;
          default:
            value = sample_d(x, y, f, static_cast<uint32_t>(plane), v.seed);
            break;
        }
        bytes += static_cast<char>(value & 255);
      }
    }
  }
  return bytes;
}

}  // namespace c63::test
