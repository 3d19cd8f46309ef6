// Compares motion searches in several pairs of planes with their definition, for every instruction set, every
// exhaustive method and all options.

#include <gtest/gtest.h>

#include <vector>

#include "c63/motion.h"
#include "c63/motion_search.h"
#include "support/expect_error.h"
#include "support/generators.h"
#include "support/motion_definition.h"

namespace c63 {
namespace {

TEST(PairSearch, EveryInstructionSetAndExactMethodFindsWhatTheDefinitionSays) {
  for (const SimdLevel level : available_simd_levels()) {
    for (const SearchMethod method : values_of<SearchMethod>()) {
      if (!is_exhaustive(method)) continue;
      SCOPED_TRACE(testing::Message() << name(level) << ", " << name(method));
      test::expect_options_of_the_definition([&](std::span<const MotionPair> pairs, const MotionSettings& settings,
                                                 const MotionResults& results, const MotionVector* around) {
        MotionSettings own = settings;
        own.method = method;
        own.simd = level;
        estimate_motion(pairs, own, results, around);
      });
    }
  }
}

TEST(PairSearch, GuardedPlanesAreSearchedInPlace) {
  constexpr int kSide = 32;
  std::vector<std::uint8_t> memory(3 * kSide * kSide + 128);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::uint8_t>(i * i / 7 + i % 13 * 9);
  std::vector<MotionPair> pairs;
  for (int i = 0; i < 2; ++i) {
    const std::uint8_t* const plane = memory.data() + 64 + i * kSide * kSide;
    pairs.push_back({{plane + kSide * kSide, kSide, kSide, kSide}, {plane, kSide, kSide, kSide}});
  }
  const test::FoundMotion expected = test::defined_motion(pairs, {.range = 8}, nullptr);
  PlaneSearcher searcher({.range = 8, .guarded = true});
  for (int round = 0; round < 3; ++round) {
    test::FoundMotion found(pairs.size(), 16);
    searcher.estimate(pairs, found.results());
    EXPECT_EQ(found.vectors, expected.vectors);
    EXPECT_EQ(found.sads, expected.sads);
  }
}

TEST(PairSearch, MethodZeroDoesNotSearch) {
  const std::vector<std::uint8_t> samples = test::random_video(32, 32, 2, 1);
  const MotionPair pair{{samples.data(), 32, 16, 32}, {samples.data() + 32 * 16, 32, 16, 32}};
  const MotionField still = estimate_motion(pair.current, pair.reference, 16, SearchMethod::zero);
  EXPECT_EQ(still.vectors, std::vector<MotionVector>(8));
  EXPECT_EQ(still.sads, test::defined_motion({&pair, 1}, {.range = 0}, nullptr).sads);
}

TEST(PairSearch, RefusesWhatItCannotSearch) {
  const std::vector<std::uint8_t> samples(16 * 16);
  const ConstPlaneView plane{samples.data(), 16, 16, 16};
  const ConstPlaneView small{samples.data(), 8, 16, 16};
  const ConstPlaneView odd{samples.data(), 12, 16, 16};
  std::vector<MotionVector> vectors(8);
  const auto search = [&](std::vector<MotionPair> pairs, const MotionSettings& settings, MotionVector* to) {
    estimate_motion(pairs, settings, {.vectors = to});
  };
  test::expect_error(ErrorKind::usage, "C63-PLANE-SIZE", [&] { search({{plane, small}}, {}, vectors.data()); });
  test::expect_error(ErrorKind::usage, "C63-PLANE-SIZE", [&] { search({{plane, plane}, {small, small}}, {}, vectors.data()); });
  test::expect_error(ErrorKind::usage, "C63-PLANE-SIZE", [&] { search({{odd, odd}}, {}, vectors.data()); });
  test::expect_error(ErrorKind::usage, "C63-PLANE-NULL", [&] { search({{plane, {}}}, {}, vectors.data()); });
  test::expect_error(ErrorKind::usage, "C63-PLANE-NULL", [&] { search({{plane, plane}}, {}, nullptr); });
  test::expect_error(ErrorKind::usage, "C63-PLANE-NULL", [&] { (void)estimate_motion({}, {}, 8); });
  for (const int range : {0, 128}) {
    test::expect_error(ErrorKind::usage, "C63-MERANGE-RANGE", [&] { search({{plane, plane}}, {.range = range}, vectors.data()); });
  }
  test::expect_error(ErrorKind::usage, "C63-SETTING", [&] { search({{plane, plane}}, {.zero_bias = 16321}, vectors.data()); });
  test::expect_error(ErrorKind::usage, "C63-SETTING", [&] { search({{plane, plane}}, {.second_distance = 128}, vectors.data()); });
  search({}, {}, nullptr);
}

}  // namespace
}  // namespace c63
