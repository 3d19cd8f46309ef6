// Tests that a new search method only needs to list the candidates that it tries. It then works with every goal of a
// search and every preset. The method here tries all candidates, so it must find the same as the exhaustive methods.

#include "cpu/search_method.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "codec/search_window.h"
#include "decide/vectors.h"
#include "parity/contents.h"
#include "support/coding.h"

namespace c63::cpu {
namespace {

using parity::Content;
using parity::Plane;

/// A search method that tries all candidates from the last to the first, and some of them twice.
class EveryCandidate final : public BlockSearcher {
 public:
  using BlockSearcher::BlockSearcher;

 protected:
  void visit(SearchCandidates& candidates) const override {
    const SearchWindow& window = candidates.window();
    for (int y = window.bottom - 1; y >= window.top; --y) {
      for (int x = window.right - 1; x >= window.left; --x) candidates.add(x, y);
    }
    for (const Position start : candidates.starts()) candidates.add(start.x, start.y);
  }
};

constexpr int kWidth = 48;
constexpr int kHeight = 40;
constexpr int kRange = 9;
constexpr PlaneGeometry kGeometry{kWidth, kHeight, kWidth / 8, kHeight / 8, std::size_t{kWidth} * kHeight};

class SearchMethods : public testing::TestWithParam<SearchMethod> {};

TEST_P(SearchMethods, FindTheBestOfAllCandidates) {
  const auto searcher = make_block_searcher(GetParam(), kernels(), kGeometry, kRange);
  EveryCandidate definition(kernels(), kGeometry, kRange);
  const SearchCosts cheap(VectorCosts(sad_per_bit(500)));
  const SearchCosts dear(VectorCosts(sad_per_bit(20000)));
  for (const Content content : parity::kContents) {
    const Plane current(content, kWidth, kHeight, kWidth, 7);
    const Plane reference(content, kWidth, kHeight, kWidth, 8);
    for (const SearchGoal& goal : {SearchGoal{}, SearchGoal{&cheap, 1}, SearchGoal{&dear, 3}, SearchGoal{&dear, 7}}) {
      const auto search = [&](BlockSearcher& by) {
        std::vector<std::array<std::uint32_t, 8>> keys(static_cast<std::size_t>(kGeometry.blocks()));
        by.begin(current.view(), reference.view(), goal);
        by.prepare_rows(0, kHeight);
        by.prepare();
        for (int block = 0; block < kGeometry.blocks(); ++block) {
          const int column = block % kGeometry.columns;
          const int row = block / kGeometry.columns;
          auto& found = keys[static_cast<std::size_t>(block)];
          found.fill(0xABCDABCD);
          BlockSearch one{.window = goal.costs == nullptr ? search_window(column, row, kWidth, kHeight, kRange)
                                                             : whole_search_window(column, row, kWidth, kHeight, kRange),
                             .own = {column * 8, row * 8}, .current = &current.view().at(column * 8, row * 8),
                             .current_pitch = kWidth, .reference = reference.view(), .keys = found.data()};
          one.starts.fill({one.window.left, one.window.top});
          by.search({&one, 1});
        }
        return keys;
      };
      ASSERT_EQ(search(*searcher), search(definition)) << parity::name_of(content) << ", best " << goal.count;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Exhaustive, SearchMethods,
                         testing::Values(SearchMethod::full, SearchMethod::full_brute, SearchMethod::full_eliminate));

TEST(SearchMethod, ServesEveryPreset) {
  const test::Bytes video = test::moving_video(96, 80, 9);
  for (const Preset preset : values_of<Preset>()) {
    EncoderSettings settings{.coding = {.width = 96, .height = 80, .preset = preset}};
    settings.coding.search_range = search_range_of(preset);
    settings.measurement.keep_reconstruction = settings.measurement.keep_motion = true;
    const auto encode = [&] {
      test::VideoSource source(video, 96, 80);
      return test::encode_source(source, settings);
    };
    const test::Encoded searched = encode();
    settings.coding.method = SearchMethod::zero;
    const test::Encoded zero = encode();
    EXPECT_GT(zero.stream().size(), searched.stream().size()) << name(preset);
    const test::Decoded decoded = test::decode_stream(zero.stream());
    ASSERT_EQ(decoded.frames.size(), zero.frames.size());
    for (std::size_t i = 0; i < zero.frames.size(); ++i) {
      EXPECT_EQ(decoded.frames[i].picture, zero.frames[i].reconstruction) << i;
      for (const MotionField& field : zero.frames[i].motion) {
        for (const MotionVector v : field.vectors) ASSERT_EQ(v, MotionVector{}) << i;
      }
    }
  }
}

}  // namespace
}  // namespace c63::cpu
