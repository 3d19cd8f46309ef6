#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "bitstream/block_order.h"
#include "bitstream/entropy_decoder.h"
#include "bitstream/entropy_encoder.h"
#include "codec/bit_cost.h"
#include "codec/vlc.h"
#include "random_syntax.h"
#include "support/generators.h"
#include "support/stream_editor.h"

namespace c63::test {
namespace {

/// Writes the scan of a frame code by code, in the simplest way (docs/bitstream.md). The entropy coder must write the
/// same bytes.
Bytes write_as_described(const FrameSyntax& syntax) {
  ScanBuilder scan;
  std::array<int, kPlanes> dc{};
  const auto put = [&](const std::array<VlcCode, 256>& codes, int symbol, int value = 0) {
    const int size = symbol & 15;
    scan.symbol(codes, symbol);
    if (size > 0) scan.bits(value_bits(value, size), size);
  };
  for_each_block_in_coding_order(syntax.geometry, [&](int p, int block, int column) {
    const PlaneSyntax& plane = syntax.planes[p];
    const auto b = static_cast<std::size_t>(block);
    if (plane.uses_vector[b] == 0) {
      scan.intra();
    } else if (column > 0 && plane.uses_vector[b - 1] != 0 && plane.vectors[b - 1] == plane.vectors[b]) {
      scan.reuse();
    } else {
      scan.bits(2, 2);
      for (const int part : {plane.vectors[b].x, plane.vectors[b].y}) put(kDcLumaCodes, value_size(part), part);
    }
    const std::int16_t* const levels = plane.block(block);
    const int difference = levels[0] - dc.at(static_cast<std::size_t>(p));
    dc.at(static_cast<std::size_t>(p)) = levels[0];
    put(p == 0 ? kDcLumaCodes : kDcChromaCodes, value_size(difference), difference);
    const auto& codes = p == 0 ? kAcLumaCodes : kAcChromaCodes;
    int run = 0;
    for (int k = 1; k < 64; ++k) {
      if (levels[k] == 0) {
        ++run;
        continue;
      }
      for (; run >= 16; run -= 16) put(codes, kZeroRunLength);
      put(codes, run << 4 | value_size(levels[k]), levels[k]);
      run = 0;
    }
    if (run > 0) put(codes, kEndOfBlock);
  });
  return scan.frame(syntax.geometry.width(), syntax.geometry.height(), syntax.key);
}

/// Returns the bits of a frame's scan, computed as the sum of the lengths of its codes.
BitCounts cost_of(const FrameSyntax& syntax) {
  BitCounts bits;
  std::array<int, kPlanes> dc{};
  for_each_block_in_coding_order(syntax.geometry, [&](int p, int block, int column) {
    const PlaneSyntax& plane = syntax.planes[p];
    const auto b = static_cast<std::size_t>(block);
    int motion = kNoVectorBits;
    if (plane.uses_vector[b] != 0) {
      const bool reuse = column > 0 && plane.uses_vector[b - 1] != 0 && plane.vectors[b - 1] == plane.vectors[b];
      motion = kVectorFlagBits + (reuse ? 0 : vector_bits(plane.vectors[b].x, plane.vectors[b].y));
    }
    const std::int16_t* const levels = plane.block(block);
    int& previous = dc.at(static_cast<std::size_t>(p));
    int coefficients = dc_bits(levels[0] - previous, p);
    previous = levels[0];
    int last = 0;
    for (int k = 1; k < 64; ++k) {
      if (levels[k] == 0) continue;
      coefficients += ac_bits(p).level(k - last - 1, value_size(levels[k]));
      last = k;
    }
    if (last < 63) coefficients += ac_bits(p).end_of_block;
    bits.motion += static_cast<std::uint64_t>(motion);
    (p == 0 ? bits.luma : bits.chroma) += static_cast<std::uint64_t>(coefficients);
  });
  return bits;
}

void expect_as_described(const FrameSyntax& syntax) {
  Bytes frame;
  write_frame_header(frame, syntax.geometry, make_quantization_tables(25), syntax.key);
  BitCounts bits;
  encode_scan(syntax, frame, bits);
  write_frame_trailer(frame);
  EXPECT_EQ(frame, write_as_described(syntax));
  const BitCounts expected = cost_of(syntax);
  EXPECT_EQ(bits.motion, expected.motion);
  EXPECT_EQ(bits.luma, expected.luma);
  EXPECT_EQ(bits.chroma, expected.chroma);
}

TEST(EntropyCoding, WritesAnySymbolsAsDescribed) {
  std::uint64_t seed = 1000;
  for (const auto& [width, height] : {std::pair{16, 16}, {16, 80}, {80, 16}, {352, 288}}) {
    for (const bool key : {true, false}) {
      for (const std::uint32_t density : {0U, 1U, 6U, 64U}) {
        for (const int largest : {1, 80, 2000}) {
          expect_as_described(random_syntax(Geometry(width, height), key, density, largest, ++seed));
        }
      }
    }
  }
}

TEST(EntropyCoding, WritesEveryNumberOfCoefficientsAfterEveryRun) {
  FrameSyntax syntax(Geometry(16, 16));
  for (PlaneSyntax& plane : syntax.planes) std::ranges::fill(plane.uses_vector, std::uint8_t{1});
  for (int first = 1; first < 64; ++first) {
    for (int end = first; end <= 64; ++end) {
      for (PlaneSyntax& plane : syntax.planes) {
        for (int block = 0; block < plane.geometry.blocks(); ++block) {
          std::fill_n(plane.block(block), 64, std::int16_t{0});
          std::fill(plane.block(block) + first, plane.block(block) + end,
                    static_cast<std::int16_t>(block % 2 ? -1 : 70));
        }
      }
      expect_as_described(syntax);
    }
  }
}

TEST(EntropyCoding, WritesTheLongestCodes) {
  for (const int step : {1, 2, 8, 16, 17, 32, 62}) {  // runs of step - 1 zeros
    FrameSyntax syntax(Geometry(64, 48));
    for (int p = 0; p < kPlanes; ++p) {
      PlaneSyntax& plane = syntax.planes[p];
      std::ranges::fill(plane.uses_vector, std::uint8_t{1});
      for (int block = 0; block < plane.geometry.blocks(); ++block) {
        const int sign = block % 2 == 0 ? 1 : -1;
        plane.vectors[static_cast<std::size_t>(block)] = {static_cast<std::int8_t>(sign * 127),
                                                          static_cast<std::int8_t>(sign * -127)};
        std::int16_t* const levels = plane.block(block);
        levels[0] = static_cast<std::int16_t>(sign * 1023);
        for (int k = step; k < 64; k += step) levels[k] = static_cast<std::int16_t>(-sign * max_ac_magnitude(p));
      }
    }
    expect_as_described(syntax);
  }
}

TEST(EntropyCoding, RoundTripsAnySymbols) {
  std::uint64_t seed = 0;
  for (const auto& [width, height] : {std::pair{16, 16}, {48, 32}, {160, 144}}) {
    for (const bool key : {true, false}) {
      for (const std::uint32_t density : {0U, 1U, 3U, 20U, 64U}) {
        for (const int largest : {1, 40, 2000}) {
          const FrameSyntax syntax = random_syntax(Geometry(width, height), key, density, largest, ++seed);
          const bool sof = key || seed % 2 == 0;
          const FrameHeaders headers{.quantization_tables = seed % 3 == 0, .has_sof = sof, .code_tables = seed % 5 == 0, .scan_components = seed % 7 == 0};
          Bytes frame;
          write_frame_header(frame, syntax.geometry, make_quantization_tables(25), key, headers);
          BitCounts bits;
          encode_scan(syntax, frame, bits);
          const std::uint64_t scan_bits = 8 * (frame.size() - frame_header_bytes(headers));
          EXPECT_LE(scan_bits, 8 * largest_scan(syntax.geometry));
          const std::uint64_t counted = bits.motion + bits.luma + bits.chroma + bits.header;
          EXPECT_TRUE(counted >= scan_bits && counted <= scan_bits + 7) << counted << " " << scan_bits;
          write_frame_trailer(frame);

          // A stream begins with a key frame, and a frame without SOF must follow an inter frame. So the parser gets a
          // key frame and an inter frame first.
          FrameParser parser;
          for (const bool first : {true, false}) {
            Bytes before;
            write_frame_header(before, syntax.geometry, make_quantization_tables(25), first);
            BitCounts unused;
            encode_scan(syntax, before, unused);
            write_frame_trailer(before);
            (void)parser.parse(before);
          }
          const ParsedFrame parsed = parser.parse(frame);
          EXPECT_EQ(parsed.advances_reference, sof);
          FrameSyntax decoded(syntax.geometry);
          for (PlaneSyntax& plane : decoded.planes) {
            std::ranges::fill(plane.levels, std::int16_t{0x5A5A});
            std::ranges::fill(plane.uses_vector, std::uint8_t{7});
            std::ranges::fill(plane.vectors, MotionVector{77, 77});
          }
          Bytes scratch(3, 0xEE);
          decode_scan(parsed, decoded, scratch);
          EXPECT_EQ(decoded.key, key);
          for (int p = 0; p < kPlanes; ++p) {
            ASSERT_EQ(decoded.planes[p].levels, syntax.planes[p].levels);
            ASSERT_EQ(decoded.planes[p].uses_vector, syntax.planes[p].uses_vector);
            ASSERT_EQ(decoded.planes[p].vectors, syntax.planes[p].vectors);
          }
        }
      }
    }
  }
}

TEST(BlockOrder, IsMcuByMcu) {
  std::vector<std::array<int, 3>> visits;
  for_each_block_in_coding_order(Geometry(32, 32), [&](int p, int block, int column) {
    visits.push_back({p, block, column});
  });
  ASSERT_EQ(visits.size(), 24U);
  const std::vector<std::array<int, 3>> second = {{0, 2, 2}, {0, 3, 3}, {0, 6, 2}, {0, 7, 3}, {1, 1, 1}, {2, 1, 1}};
  EXPECT_TRUE(std::equal(second.begin(), second.end(), visits.begin() + 6));
  EXPECT_EQ(visits[12], (std::array<int, 3>{0, 8, 0}));
}

}  // namespace
}  // namespace c63::test
