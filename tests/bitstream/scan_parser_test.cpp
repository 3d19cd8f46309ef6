// Tests the GPU's entropy decoder on the host. It must accept, reject and read the same as the CPU's decoder.

#include "bitstream/scan_parser.h"

#include <gtest/gtest.h>

#include <string>

#include "bitstream/entropy_decoder.h"
#include "bitstream/entropy_encoder.h"
#include "c63/error.h"
#include "random_syntax.h"
#include "support/generators.h"
#include "support/host_decode_backend.h"

namespace c63::test {
namespace {

/// Decodes a scan with the CPU's decoder and with the GPU's, and expects the same result. Returns the error's id and
/// message, or an empty string if the scan is valid.
std::string expect_same(const Geometry& geometry, bool key, const Bytes& scan) {
  FrameSyntax expected(geometry);
  std::string fault;
  try {
    Bytes scratch;
    decode_scan({.key = key, .geometry = geometry, .scan = scan}, expected, scratch);
  } catch (const Error& error) {
    fault = error.id() + " " + error.message();
  }
  FrameSyntax syntax;
  EXPECT_EQ(parse_on_host(geometry, key, scan, syntax), fault.empty()) << fault;
  if (!fault.empty() || testing::Test::HasFailure()) return fault;
  for (int p = 0; p < kPlanes; ++p) {
    EXPECT_TRUE(syntax.planes[p].levels == expected.planes[p].levels) << p;
    EXPECT_TRUE(syntax.planes[p].vectors == expected.planes[p].vectors) << p;
    EXPECT_TRUE(syntax.planes[p].uses_vector == expected.planes[p].uses_vector) << p;
  }
  return fault;
}

Bytes scan_of(const FrameSyntax& syntax) {
  Bytes scan;
  BitCounts bits;
  encode_scan(syntax, scan, bits);
  return scan;
}

/// Sizes of pictures: one MCU, a row of MCUs, a column of MCUs, and several rows and columns.
constexpr std::pair<int, int> kSizes[] = {{16, 16}, {48, 16}, {16, 80}, {44, 36}, {176, 144}};

TEST(ScanParser, ReadsWhatWasWritten) {
  std::uint64_t seed = 1;
  for (const auto& [width, height] : kSizes) {
    for (const bool key : {true, false}) {
      for (const std::uint32_t density : {0U, 1U, 6U, 64U}) {
        for (const int largest : {1, 12, 1023}) {
          const Geometry geometry(width, height);
          EXPECT_EQ(expect_same(geometry, key, scan_of(random_syntax(geometry, key, density, largest, ++seed))), "");
        }
      }
    }
  }
}

TEST(ScanParser, RefusesWhatTheDecoderRefuses) {
  Random random(7);
  std::set<std::string> faults;
  int fine = 0;
  for (int round = 0; round < 3000; ++round) {
    const auto& [width, height] = kSizes[random.below(4)];
    const Geometry geometry(width, height);
    const bool key = random.below(4) == 0;
    Bytes scan = scan_of(random_syntax(geometry, key, 1 + random.below(9), 1 + static_cast<int>(random.below(1023)), random.next()));
    switch (random.below(4)) {
      case 0:
        scan.resize(random.below(static_cast<std::uint32_t>(scan.size())));
        break;
      case 1:
        for (std::uint32_t more = 1 + random.below(3); more > 0; --more) scan.push_back(static_cast<std::uint8_t>(random.below(2)));
        break;
      default:
        for (std::uint32_t flips = 1 + random.below(3); flips > 0; --flips) {
          scan[random.below(static_cast<std::uint32_t>(scan.size()))] ^= static_cast<std::uint8_t>(1U << random.below(8));
        }
    }
    const std::string fault = expect_same(geometry, key, scan);
    if (HasFailure()) return;
    fault.empty() ? static_cast<void>(++fine) : static_cast<void>(faults.insert(fault.substr(0, fault.find(' '))));
  }
  EXPECT_GT(fine, 10);
  EXPECT_GE(faults.size(), 6U);  // most of the errors that a scan can have
}

TEST(ScanParser, AgreesOnUnpredictableBits) {
  Random random(9);
  std::set<std::string> faults;
  for (int round = 0; round < 3000; ++round) {
    const auto& [width, height] = kSizes[random.below(3)];
    Bytes scan(random.below(400));
    // A third of the scans is mostly ones, because long codes begin with ones. Another third is mostly zeros, because
    // long vectors begin with zeros.
    const std::uint32_t kind = random.below(3);
    for (std::uint8_t& byte : scan) {
      byte = static_cast<std::uint8_t>(kind == 0 ? random.next() : kind == 1 ? random.next() & random.next() : random.next() | random.next());
    }
    faults.insert(expect_same(Geometry(width, height), random.below(2) == 0, scan));
    if (HasFailure()) return;
  }
  EXPECT_GE(faults.size(), 5U);
}

TEST(ScanParser, TakesBitsThatTheEncoderLeavesOut) {
  // The scan is cut after each of its bytes. A decoder reads zeros after the cut, but at most seven bits. So some cut
  // scans may be valid, and both decoders must accept the same ones.
  const Geometry geometry(16, 16);
  FrameSyntax syntax(geometry);
  syntax.key = true;
  const Bytes scan = scan_of(syntax);
  int fine = 0;
  for (std::size_t size = 0; size <= scan.size(); ++size) fine += expect_same(geometry, true, {scan.begin(), scan.begin() + static_cast<std::ptrdiff_t>(size)}).empty();
  EXPECT_GE(fine, 1);
}

}  // namespace
}  // namespace c63::test
