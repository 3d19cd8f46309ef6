// Tests which form the automatic full search chooses. The test's own kernels search nothing. They set how long they seem
// to take, by advancing a simulated clock. That both forms find the same is tested with the kernels.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "c63/thread_pool.h"
#include "codec/search_window.h"
#include "cpu/search_method.h"

namespace c63::cpu::search_automatic_test {
namespace {

constexpr int kRound = 256;  // frames

/// The time that a kernel of the test seems to take, and how often it was called.
struct Cost {
  int nanoseconds = 1;
  int calls = 0;
};

Cost brute;
Cost eliminate;
Cost sums;
std::chrono::nanoseconds simulated_time{};

void spend(Cost& cost) {
  simulated_time += std::chrono::nanoseconds(cost.nanoseconds);
  ++cost.calls;
}

class AutomaticSearch : public testing::Test {
 protected:
  void SetUp() override {
    kernels_.search = [](std::span<const BlockSearch> blocks, const QuarterSumsView& view, const SearchCosts*, std::size_t) {
      for (std::size_t i = 0; i < blocks.size(); ++i) spend(view.data != nullptr ? eliminate : brute);
    };
    kernels_.quarter_sums = [](const std::uint8_t*, std::ptrdiff_t, int, int rows, std::uint8_t*, std::ptrdiff_t) {
      for (int row = 0; row < rows; ++row) spend(sums);
    };
    set_costs(1, 1, 1);
  }

  static void set_costs(int of_brute, int of_eliminate, int of_sums) {
    brute.nanoseconds = of_brute;
    eliminate.nanoseconds = of_eliminate;
    sums.nanoseconds = of_sums;
  }

  Kernels kernels_{};
};

/// A plane that is searched frame by frame.
class Plane {
 public:
  Plane(const Kernels& kernels, int width, int height)
      : geometry_{width, height, width / kBlockSize, height / kBlockSize,
                  static_cast<std::size_t>(width) * static_cast<std::size_t>(height)},
        samples_(geometry_.samples() + 2 * kPlaneGuard),
        searcher_(make_automatic_search(kernels, geometry_, 4, [] { return simulated_time; })) {}

  [[nodiscard]] int blocks() const { return geometry_.blocks(); }

  void search() {
    for (Cost* cost : {&brute, &eliminate, &sums}) cost->calls = 0;
    const ConstPlaneView view{samples_.data() + kPlaneGuard, geometry_.width, geometry_.height, geometry_.width};
    searcher_->begin(view, view, {});
    const int rows = (geometry_.rows + 1) / 2;
    for (int row = 0; row < rows; ++row) searcher_->prepare_rows(row * kMcuSize, (row + 1) * kMcuSize);
    searcher_->prepare();
    for (int row = 0; row < rows; ++row) {
      const auto begun = searcher_->begin_row(row * kMcuSize);
      for (int block = 2 * row * geometry_.columns; block < std::min(2 * (row + 1) * geometry_.columns, blocks()); ++block) {
        BlockSearch search;
        search.own = {block % geometry_.columns * kBlockSize, block / geometry_.columns * kBlockSize};
        searcher_->search({&search, 1});
      }
      searcher_->end_row(row * kMcuSize, begun);
    }
  }

 private:
  PlaneGeometry geometry_;
  std::vector<std::uint8_t> samples_;
  std::unique_ptr<BlockSearcher> searcher_;
};

TEST_F(AutomaticSearch, TimesBothOnAllBlocksAndUsesTheFaster) {
  Plane plane(kernels_, 40, 56);
  const auto expect_one = [&](const Cost& one, const Cost& other, int frame) {
    EXPECT_EQ(one.calls, plane.blocks()) << frame;
    EXPECT_EQ(other.calls, 0) << frame;
  };
  const auto costs_of_round = [&](int round) {  // brute force is slower in even rounds
    set_costs(round % 2 == 0 ? 3 : 1, round % 2 == 0 ? 1 : 3, 0);
  };
  for (int frame = 0; frame < 2 * kRound + 8; ++frame) {
    const int of_round = frame % kRound;
    if (of_round == 0) costs_of_round(frame / kRound);
    if (of_round == 2) {
      const int by_brute = brute.calls;
      const int by_eliminate = eliminate.calls;
      EXPECT_GT(by_brute, 0);
      EXPECT_GT(by_eliminate, 0);
      plane.search();
      EXPECT_EQ(by_brute + brute.calls, plane.blocks());
      EXPECT_EQ(by_eliminate + eliminate.calls, plane.blocks());
      continue;
    }
    plane.search();
    if (of_round == 1) continue;
    const bool first_choice = of_round == 0 && frame == 0;
    const int decided_in = of_round == 0 ? frame / kRound - 1 : frame / kRound;
    if (first_choice || decided_in % 2 == 0) {
      expect_one(eliminate, brute, frame);
    } else {
      expect_one(brute, eliminate, frame);
      EXPECT_EQ(sums.calls, 0) << frame;
    }
  }
}

TEST_F(AutomaticSearch, CountsTheSumsForElimination) {
  Plane plane(kernels_, 16, 40);
  for (const int cost_of_sums : {1, 100}) {
    set_costs(3, 1, cost_of_sums);
    for (int frame = 0; frame < kRound; ++frame) {
      plane.search();
      if (frame >= 3) {
        // Elimination saves 2 ns of search for each of the 10 blocks. But it needs the sums of 37 rows, and these take
        // longer than 20 ns. So elimination must not be chosen.
        ASSERT_EQ(eliminate.calls, 0) << cost_of_sums << " frame " << frame;
      }
    }
  }
  set_costs(5, 1, 1);
  for (int frame = 0; frame < 4; ++frame) plane.search();
  EXPECT_EQ(brute.calls, 0);
}

}  // namespace
}  // namespace c63::cpu::search_automatic_test
