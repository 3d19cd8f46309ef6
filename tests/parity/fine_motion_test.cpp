// Compares the search of true motion with its definition, for every instruction set.

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "c63/motion_search.h"
#include "support/expect_error.h"
#include "support/fine_definition.h"

namespace c63 {
namespace {

TEST(FineMotion, EveryInstructionSetFindsWhatTheDefinitionSays) {
  std::vector<test::FineImplementation> levels;
  for (const SimdLevel level : available_simd_levels()) {
    levels.push_back({name(level), [level](std::span<const MotionPair> pairs, FineMotionSettings settings, const MotionResults& results) {
                        settings.simd = level;
                        FineSearcher searcher(settings);
                        for (int round = 0; round < 2; ++round) searcher.estimate(pairs, results);  // the second finds memory in use
                      }});
  }
  test::expect_fine_definition(levels);
}

TEST(FineMotion, FindsAKnownShiftFarAway) {
  constexpr int kWidth = 1280;
  constexpr int kHeight = 256;
  std::mt19937 random(1);
  std::vector<std::uint8_t> squares(256 * 64);
  for (std::uint8_t& square : squares) square = static_cast<std::uint8_t>(random());
  const auto make = [&](int shift_x, int shift_y) {
    std::vector<std::uint8_t> plane;
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < kWidth; ++x) {
        const int at_x = x + shift_x;
        const int at_y = y + shift_y + 64;
        const int fine = squares[static_cast<std::size_t>(at_y % 64 * 256 + at_x % 256)];
        plane.push_back(static_cast<std::uint8_t>((3 * squares[static_cast<std::size_t>(at_y / 12 * 256 + at_x / 12)] + fine) / 4));
      }
    }
    return plane;
  };
  const auto current = make(500, -41);
  const auto reference = make(0, 0);
  const MotionPair pair{{current.data(), kWidth, kHeight, kWidth}, {reference.data(), kWidth, kHeight, kWidth}};
  std::vector<FineVector> vectors(kWidth / 8 * (kHeight / 8));
  std::vector<std::uint8_t> agrees(vectors.size());
  estimate_fine_motion({&pair, 1}, {.range = 512, .smooth = 8, .check = 8}, {.fine = vectors.data(), .agrees = agrees.data()});
  int right = 0;
  int all = 0;
  for (int row = 8; row < kHeight / 8; ++row) {
    for (int column = 0; column < (kWidth - 520) / 8; ++column, ++all) {
      const auto at = static_cast<std::size_t>(row * (kWidth / 8) + column);
      right += vectors[at] == FineVector{500 * kFineUnits, -41 * kFineUnits} && agrees[at] == 1 ? 1 : 0;
    }
  }
  EXPECT_GT(right, all * 9 / 10) << all;
  EXPECT_EQ(agrees.back(), 0);  // what this block shows is not in the reference
}

TEST(FineMotion, RefusesWhatItCannotSearch) {
  const std::vector<std::uint8_t> samples(16 * 16);
  const ConstPlaneView plane{samples.data(), 16, 16, 16};
  const ConstPlaneView small{samples.data(), 8, 16, 16};
  const ConstPlaneView odd{samples.data(), 12, 16, 16};
  test::FoundFine found(8);
  const auto refuses = [&](const char* id, std::vector<MotionPair> pairs, const FineMotionSettings& settings, const MotionResults& results) {
    test::expect_error(ErrorKind::usage, id, [&] { estimate_fine_motion(pairs, settings, results); });
  };
  const MotionResults vectors{.fine = found.vectors.data()};
  refuses("C63-PLANE-SIZE", {{plane, small}}, {}, vectors);
  refuses("C63-PLANE-SIZE", {{plane, plane}, {small, small}}, {}, vectors);
  refuses("C63-PLANE-SIZE", {{odd, odd}}, {}, vectors);
  refuses("C63-PLANE-NULL", {{plane, {}}}, {}, vectors);
  refuses("C63-PLANE-NULL", {{plane, plane}}, {}, {});
  refuses("C63-SETTING", {{plane, plane}}, {}, found.results(true));  // a mask without a limit
  refuses("C63-SETTING", {{plane, plane}}, {}, {.seconds = found.sads.data(), .fine = found.vectors.data()});
  for (const int range : {0, 513}) refuses("C63-MERANGE-RANGE", {}, {.range = range}, {});
  for (const FineMotionSettings& settings : {FineMotionSettings{.block = 12}, {.fraction = 3}, {.smooth = -1}, {.smooth = 1001}}) {
    refuses("C63-SETTING", {}, settings, {});
  }
  FineSearcher searcher({});
  const MotionPair both{plane, plane};
  const MotionPair smaller{small, small};
  searcher.estimate({&both, 1}, vectors);
  test::expect_error(ErrorKind::usage, "C63-PLANE-SIZE", [&] { searcher.estimate({&smaller, 1}, vectors); });
}

}  // namespace
}  // namespace c63
