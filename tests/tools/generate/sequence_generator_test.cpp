#include "generate/sequence_generator.h"

#include <cmath>
#include <cstdlib>

#include "common/digest.h"
#include "io/io_test_support.h"

namespace c63 {
namespace {

using test::expect_error;
using test::read_frame;

SequenceOptions small(Pattern pattern) {
  SequenceOptions options;
  options.pattern = pattern;
  options.width = 96;
  options.height = 80;
  options.frames = 6;
  return options;
}

std::string all_frames(const SequenceOptions& options) {
  SequenceGenerator source(options);
  return test::read_all(source);
}

TEST(SequenceGenerator, DefaultSequenceHasTheChecksumThatIsHandedOut) {
  const std::string checksums = test::read_file(C63_SOURCE_DIR "/sequences/CHECKSUMS");
  const std::size_t entry = checksums.find("  natural_352x288.yuv\n");
  ASSERT_NE(entry, std::string::npos);
  ASSERT_GE(entry, 64U);
  EXPECT_EQ(tools::sha256(all_frames({})), checksums.substr(entry - 64, 64));
}

TEST(SequenceGenerator, EveryPatternIsTheSameOnEveryMachine) {
  const std::vector<std::string> expected = {"ef9f336463b5a8081dd31aa47d12e701a1a59c31125a6968f05b8b548e9bec60",
                                             "6b766cc9c5fb1112eb81dc3155d7652cbf4c362b4abf4c74290a1d8d5a3e3e53",
                                             "26fbe23eeb8a9f8e63b2846fe97685259842bac5eac99ab2f73a3a96704ec45b",
                                             "2f5cc1b9713a1b7df72d2bd455d1dfedacebd34887f53f5a3ce2c6d8bc2e6a4d",
                                             "92a1679992459c50743f2c7947fa3838cf4e137b2b794ee40e9a9fde93f1a491",
                                             "af6123662338ee85569c6b204c258a553580fdc5c1e87072b13f02d64308360a",
                                             "554c510683836a03f944ef57ad214be1c43ff2e152b340e70a238d8725a3cf47",
                                             "6784d53c4118b9ab433e0a9ad263bbd98e813a30fbcc0c7f632a6d42f0e1d929"};
  ASSERT_EQ(values_of<Pattern>().size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Pattern pattern = values_of<Pattern>()[i];
    EXPECT_EQ(tools::sha256(all_frames(small(pattern))), expected[i]) << name(pattern);
    EXPECT_EQ(enum_from<Pattern>(name(pattern)), pattern);
  }
  EXPECT_EQ(enum_from<Pattern>("none"), std::nullopt);
}

TEST(SequenceGenerator, FramesFollowFromTheirIndexAlone) {
  for (const Pattern pattern : values_of<Pattern>()) {
    const std::string all = all_frames(small(pattern));
    const std::size_t bytes = all.size() / 6;
    SequenceGenerator source(small(pattern));
    EXPECT_TRUE(source.concurrent());
    for (const std::size_t index : {5, 0, 3}) {
      EXPECT_TRUE(read_frame(source, static_cast<std::int64_t>(index)) == all.substr(index * bytes, bytes));
    }
    EXPECT_EQ(read_frame(source, 6), "");
    EXPECT_EQ(read_frame(source, -1), "");
  }
}

TEST(SequenceGenerator, SeedChangesThePicture) {
  for (const Pattern pattern : values_of<Pattern>()) {
    if (pattern == Pattern::checker) continue;
    SequenceOptions other = small(pattern);
    other.seed = 2;
    EXPECT_NE(all_frames(other), all_frames(small(pattern))) << name(pattern);
  }
}

TEST(SequenceGenerator, OddSidesAreFilled) {
  for (const auto& [width, height] : {std::pair{5, 4}, {2, 2}, {1, 4}, {64, 33}}) {
    SequenceOptions options;
    options.width = width;
    options.height = height;
    options.frames = 1;
    SequenceGenerator source(options);
    std::vector<std::uint8_t> a(frame_bytes(width, height), 0x00);
    std::vector<std::uint8_t> b(frame_bytes(width, height), 0xff);
    ASSERT_TRUE(source.read(0, a));
    ASSERT_TRUE(source.read(0, b));
    EXPECT_EQ(a, b) << width << "x" << height;
  }
}

TEST(SequenceGenerator, RefusesWhatItCannotMake) {
  SequenceOptions options;
  options.width = 0;
  expect_error(ErrorKind::usage, "C63-SIZE-ZERO", [&] { SequenceGenerator source(options); });
  options.width = options.height = 3;
  expect_error(ErrorKind::usage, "C63-SIZE-AREA", [&] { SequenceGenerator source(options); });
  options = {};
  options.frames = -1;
  expect_error(ErrorKind::usage, "C63-COUNT-RANGE", [&] { SequenceGenerator source(options); });
  options = {};
  options.noise = 4097;
  expect_error(ErrorKind::usage, "C63-GEN-NOISE", [&] { SequenceGenerator source(options); });
  options = {};
  options.motion = {0, 1 << 21};
  expect_error(ErrorKind::usage, "C63-GEN-MOTION", [&] { SequenceGenerator source(options); });
  options = {};
  options.limits.max_pixels = 100;
  expect_error(ErrorKind::limit, "C63-MAX-PIXELS", [&] { SequenceGenerator source(options); });
}

TEST(SequenceGenerator, PanMovesEverySampleByTheGivenMotion) {
  for (const Pattern pattern : {Pattern::pan, Pattern::checker}) {
    SequenceOptions options = small(pattern);
    options.motion = {3 * 256, -2 * 256};
    options.noise = 0;
    SequenceGenerator source(options);
    const std::string before = read_frame(source, 2);
    const std::string now = read_frame(source, 3);
    for (int y = 0; y < 78; ++y) {
      for (int x = 3; x < 96; ++x) ASSERT_EQ(now[y * 96 + x], before[(y + 2) * 96 + x - 3]) << x << "," << y;
    }
    const TrueMotion motion = source.true_motion(3);
    ASSERT_EQ(motion.columns, 12);
    ASSERT_EQ(motion.rows, 10);
    for (int row = 0; row < 10; ++row) {
      for (int column = 0; column < 12; ++column) {
        const TrueVector& vector = motion.vectors[row * 12 + column];
        // The content of the first column and of the last row has just entered the picture. The previous picture did
        // not show it, so it has no known motion.
        EXPECT_EQ(vector.known, column > 0 && row < 9) << column << "," << row;
        if (vector.known) {
          EXPECT_EQ(std::pair(vector.x, vector.y), std::pair(-3 * 256, 2 * 256));
        }
      }
    }
  }
}

TEST(SequenceGenerator, FirstFrameHasNoKnownMotion) {
  for (const Pattern pattern : values_of<Pattern>()) {
    const SequenceGenerator source(small(pattern));
    for (const std::int64_t frame : {-1, 0, 6}) {
      for (const TrueVector& vector : source.true_motion(frame).vectors) EXPECT_FALSE(vector.known);
    }
  }
}

/// Returns the luma of `frame` at (x, y), which need not be whole numbers. Interpolates between the four nearest
/// samples.
double luma_at(const std::string& frame, int width, double x, double y) {
  const int x0 = static_cast<int>(std::floor(x));
  const int y0 = static_cast<int>(std::floor(y));
  const auto at = [&](int column, int row) {
    return static_cast<double>(static_cast<std::uint8_t>(frame[static_cast<std::size_t>(row) * width + column]));
  };
  const double fx = x - x0;
  const double fy = y - y0;
  return (at(x0, y0) * (1 - fx) + at(x0 + 1, y0) * fx) * (1 - fy) +
         (at(x0, y0 + 1) * (1 - fx) + at(x0 + 1, y0 + 1) * fx) * fy;
}

TEST(SequenceGenerator, KnownMotionPredictsTheBlocks) {
  for (const Pattern pattern :
       {Pattern::natural, Pattern::pan, Pattern::zoom, Pattern::rotate, Pattern::objects, Pattern::stars}) {
    SequenceOptions options;
    options.pattern = pattern;
    options.width = 160;
    options.height = 128;
    options.noise = 0;
    SequenceGenerator source(options);
    double with_motion = 0;
    double without = 0;
    int known = 0;
    int blocks = 0;
    for (const std::int64_t frame : {1, 40, 141}) {
      const std::string before = read_frame(source, frame - 1);
      const std::string now = read_frame(source, frame);
      const TrueMotion motion = source.true_motion(frame);
      for (int row = 1; row < motion.rows - 1; ++row) {
        for (int column = 1; column < motion.columns - 1; ++column) {
          ++blocks;
          const TrueVector& vector = motion.vectors[row * motion.columns + column];
          if (!vector.known) continue;
          ++known;
          for (int i = 0; i < 64; ++i) {
            const int x = column * 8 + i % 8;
            const int y = row * 8 + i / 8;
            const double sample = luma_at(now, 160, x, y);
            with_motion += std::abs(sample - luma_at(before, 160, x + vector.x / 256.0, y + vector.y / 256.0));
            without += std::abs(sample - luma_at(before, 160, x, y));
          }
        }
      }
    }
    EXPECT_GT(known, blocks * 6 / 10) << name(pattern);
    EXPECT_LT(with_motion / (known * 64), 1.5) << name(pattern);
    if (pattern != Pattern::objects) {
      EXPECT_LT(with_motion * 2, without) << name(pattern);
    }
  }
}

TEST(SequenceGenerator, ObjectsHideWhatIsBehindThem) {
  SequenceGenerator source(SequenceOptions{.pattern = Pattern::objects});
  int unknown = 0;
  int moving = 0;
  for (const TrueVector& vector : source.true_motion(10).vectors) {
    unknown += vector.known ? 0 : 1;
    moving += vector.known && (vector.x != 0 || vector.y != 0) ? 1 : 0;
  }
  EXPECT_GT(unknown, 20);
  EXPECT_GT(moving, 20);
}

TEST(SequenceGenerator, StarsTellTheirShiftAndTheObject) {
  SequenceOptions options = small(Pattern::stars);
  options.motion = {256, 512};
  SequenceGenerator source(options);
  const StarTruth first = *source.star_truth(0);
  EXPECT_EQ(first.shift.x, 0);
  EXPECT_EQ(first.shift.y, 0);
  EXPECT_GT(first.object_peak, 0);
  for (std::int64_t frame = 1; frame < 6; ++frame) {
    const StarTruth truth = *source.star_truth(frame);
    EXPECT_LE(std::abs(truth.shift.x), 256);
    EXPECT_LE(std::abs(truth.shift.y), 256);
    EXPECT_EQ(truth.object.x - truth.shift.x, first.object.x + 256 * frame);
    EXPECT_EQ(truth.object.y - truth.shift.y, first.object.y + 512 * frame);
  }
  EXPECT_EQ(SequenceGenerator(small(Pattern::pan)).star_truth(0).has_value(), false);
}

}  // namespace
}  // namespace c63
