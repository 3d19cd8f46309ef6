// Tests that a new search method only needs to list the candidates that it tries. It then works with every goal of a
// search and every preset. The method here tries all candidates, so it must find the same as the exhaustive methods.

#include "cpu/search_method.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "codec/search_window.h"
#include "cpu/cost_table.h"
#include "decide/vector_cost.h"
#include "parity/contents.h"
#include "pipeline/coding.h"

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

class SearchMethods : public testing::TestWithParam<SearchMethod> {
 protected:
  void begin(BlockSearcher& searcher, SearchGoal goal) const {
    searcher.begin(current_.view(), reference_.view(), goal);
    searcher.prepare_rows(0, kHeight);
    searcher.prepare();
  }

  Plane current_{Content::random, kWidth, kHeight, kWidth, 3};
  Plane reference_{Content::random, kWidth, kHeight, kWidth, 4};
  EveryCandidate definition_{kernels(), kGeometry, kRange};
};

TEST_P(SearchMethods, FindTheLeastSadOfAllCandidates) {
  const auto searcher = make_block_searcher(GetParam(), kernels(), kGeometry, kRange);
  for (const Content content : parity::kContents) {
    current_ = Plane(content, kWidth, kHeight, kWidth, 7);
    reference_ = Plane(content, kWidth, kHeight, kWidth, 8);
    begin(*searcher, SearchGoal::least_sad);
    begin(definition_, SearchGoal::least_sad);
    for (int block = 0; block < kGeometry.blocks(); ++block) {
      const int column = block % kGeometry.columns;
      const int row = block / kGeometry.columns;
      const BlockTask task{search_window(column, row, kWidth, kHeight, kRange), column * 8, row * 8, {}};
      const BestCandidate found = searcher->search(task);
      const BestCandidate expected = definition_.search(task);
      ASSERT_TRUE(found.x == expected.x && found.y == expected.y && found.sad == expected.sad)
          << parity::name_of(content) << ", block " << column << ", " << row;
    }
  }
}

TEST_P(SearchMethods, FindTheBestOfAllCandidatesByCost) {
  const auto searcher = make_block_searcher(GetParam(), kernels(), kGeometry, kRange);
  begin(*searcher, SearchGoal::best_by_cost);
  begin(definition_, SearchGoal::best_by_cost);
  for (const Cost lambda : {0, 500, 20000}) {
    const CostTable costs(VectorCosts(sad_per_bit(lambda)), kRange);
    for (const std::size_t count : {1U, 3U, 7U}) {
      for (int block = 0; block < kGeometry.blocks(); ++block) {
        const int x = block % kGeometry.columns * 8;
        const int y = block / kGeometry.columns * 8;
        CostedSearch search;
        search.own = {x, y};
        search.current = &current_.view().at(x, y);
        search.current_pitch = kWidth;
        search.reference = reference_.view();
        search.window = whole_search_window(x / 8, y / 8, kWidth, kHeight, kRange);
        search.costs = costs.costs(search.window.left - x, search.window.top - y);
        search.quarters = costs.quarters(search.window.left - x, search.window.top - y);
        search.cost_pitch = costs.pitch();
        search.starts.fill({x, y});
        std::array<std::uint32_t, 8> found;
        std::array<std::uint32_t, 8> expected;
        found.fill(0xABCDABCD);
        expected.fill(0xABCDABCD);
        search.keys = found.data();
        searcher->search_best({&search, 1}, count);
        search.keys = expected.data();
        definition_.search_best({&search, 1}, count);
        ASSERT_EQ(found, expected) << "block " << block << ", best " << count << ", lambda " << lambda;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Exhaustive, SearchMethods,
                         testing::Values(SearchMethod::full, SearchMethod::full_brute, SearchMethod::full_eliminate));

TEST(SearchMethod, ServesEveryPreset) {
  const test::Bytes video = test::moving_video(96, 80, 9);
  for (const Preset preset : all_presets()) {
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
