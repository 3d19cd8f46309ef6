// Tests which method the automatic full search chooses. The test's own kernels set how long they seem to take: they
// advance a simulated clock. Whatever is chosen, the vectors must be the same.

#include <gtest/gtest.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "codec/search_window.h"
#include "contents.h"
#include "cpu/search_method.h"
#include "support/print_names.h"

namespace c63::cpu::search_automatic_test {
namespace {

using parity::Content;

constexpr int kRound = 256;  // frames

/// The time that a kernel of the test seems to take, and how often it was called.
struct Cost {
  std::atomic<int> nanoseconds = 1;
  std::atomic<int> calls = 0;
};

Cost brute;
Cost eliminate;
Cost sums;
const Kernels* real = nullptr;
bool is_checked = false;  ///< the current frame's result is checked; if false, kernels search nothing

std::chrono::nanoseconds& clock_of_thread() {
  thread_local std::chrono::nanoseconds time{};
  return time;
}

void spend(Cost& cost) {
  clock_of_thread() += std::chrono::nanoseconds(cost.nanoseconds);
  ++cost.calls;
}

class AutomaticSearch : public testing::TestWithParam<SimdLevel> {
 protected:
  void SetUp() override {
    const auto levels = available_simd_levels();
    if (std::ranges::find(levels, GetParam()) == levels.end()) {
      GTEST_SKIP() << "this machine or build has no " << name(GetParam()) << " kernels";
    }
    real = &kernels(GetParam());
    kernels_ = *real;
    kernels_.search = [](std::span<const BlockSearch> blocks, const QuarterSumsView& view, const SearchCosts* costs, std::size_t count) {
      for (std::size_t i = 0; i < blocks.size(); ++i) spend(view.data != nullptr ? eliminate : brute);
      if (is_checked) real->search(blocks, view, costs, count);
    };
    kernels_.quarter_sums = [](const std::uint8_t* samples, std::ptrdiff_t pitch, int count, int rows, std::uint8_t* out,
                               std::ptrdiff_t out_pitch) {
      for (int row = 0; row < rows; ++row) spend(sums);
      if (is_checked) real->quarter_sums(samples, pitch, count, rows, out, out_pitch);
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

/// A plane that gets new content for each frame whose result is checked, and the search that several threads run in it.
class Plane {
 public:
  Plane(const Kernels& kernels, int width, int height, int range)
      : geometry_{width, height, width / kBlockSize, height / kBlockSize,
                  static_cast<std::size_t>(width) * static_cast<std::size_t>(height)},
        range_(range),
        current_(geometry_.samples() + 2 * kPlaneGuard),
        reference_(current_.size()),
        searcher_(make_automatic_search(kernels, geometry_, range, [] { return clock_of_thread(); })) {}

  [[nodiscard]] int blocks() const { return geometry_.blocks(); }

  /// Searches the next frame. Checks the result if `check` is true.
  void search(bool check) {
    ++frame_;
    is_checked = check;
    if (check) fill_planes();
    for (Cost* cost : {&brute, &eliminate, &sums}) cost->calls = 0;
    searcher_->begin(view(current_), view(reference_), {});
    const int rows = (geometry_.rows + 1) / 2;
    tbb::parallel_for(0, rows,
                      [&](int row) { searcher_->prepare_rows(row * kMcuSize, (row + 1) * kMcuSize); });
    searcher_->prepare();
    tbb::parallel_for(0, rows, [&](int row) {
      const auto begun = searcher_->begin_row(row * kMcuSize);
      for (int block = 2 * row * geometry_.columns; block < std::min(2 * (row + 1) * geometry_.columns, blocks());
           ++block) {
        search_block(block % geometry_.columns, block / geometry_.columns, check);
      }
      searcher_->end_row(row * kMcuSize, begun);
    });
  }

 private:
  void fill_planes() {
    const Content content = frame_ % 3 == 0 ? Content::random : Content::shifted;
    fill(content, current_.data() + kPlaneGuard, geometry_.width, geometry_.height, geometry_.width, frame_ + 1);
    fill(content, reference_.data() + kPlaneGuard, geometry_.width, geometry_.height, geometry_.width, frame_);
  }

  [[nodiscard]] ConstPlaneView view(const std::vector<std::uint8_t>& samples) const {
    return {samples.data() + kPlaneGuard, geometry_.width, geometry_.height, geometry_.width};
  }

  void search_block(int column, int row, bool check) const {
    const int x = column * kBlockSize;
    const int y = row * kBlockSize;
    SearchWindow window = search_window(column, row, geometry_.width, geometry_.height, range_);
    if (window.empty()) window = {x, y, x + 1, y + 1};
    std::uint32_t found = 0;
    const ConstPlaneView current = view(current_);
    BlockSearch search{.window = window, .own = {x, y}, .current = &current.at(x, y), .current_pitch = current.pitch,
                       .reference = view(reference_), .keys = &found};
    search.starts.fill({window.left, window.bottom - 1});
    searcher_->search({&search, 1});
    if (!check) return;
    std::uint32_t expected = 0;
    search.keys = &expected;
    scalar_kernels().search({&search, 1}, {}, nullptr, 1);
    EXPECT_EQ(found, expected) << "frame " << frame_ << " block " << column << "," << row;
  }

  PlaneGeometry geometry_;
  int range_;
  std::vector<std::uint8_t> current_;
  std::vector<std::uint8_t> reference_;
  std::unique_ptr<BlockSearcher> searcher_;
  unsigned frame_ = 0;
};

TEST_P(AutomaticSearch, TimesBothOnAllBlocksAndUsesTheFaster) {
  Plane plane(kernels_, 40, 56, 4);
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
      plane.search(false);
      EXPECT_EQ(by_brute + brute.calls, plane.blocks());
      EXPECT_EQ(by_eliminate + eliminate.calls, plane.blocks());
      continue;
    }
    plane.search(false);
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

TEST_P(AutomaticSearch, CountsTheSumsForElimination) {
  Plane plane(kernels_, 16, 40, 4);
  for (const int cost_of_sums : {1, 100}) {
    set_costs(3, 1, cost_of_sums);
    for (int frame = 0; frame < kRound; ++frame) {
      plane.search(false);
      if (frame >= 3) {
        // Elimination saves 2 ns of search for each of the 10 blocks. But it needs the sums of 37 rows, and these take
        // longer than 20 ns. So elimination must not be chosen.
        ASSERT_EQ(eliminate.calls, 0) << cost_of_sums << " frame " << frame;
      }
    }
  }
  set_costs(5, 1, 1);
  for (int frame = 0; frame < 4; ++frame) plane.search(false);
  EXPECT_EQ(brute.calls, 0);
}

TEST_P(AutomaticSearch, FindsTheSameWithEitherMethod) {
  constexpr int kSizes[][3] = {{72, 40, 16}, {40, 24, 5}, {8, 8, 16}, {104, 56, 8}};
  for (const auto [width, height, range] : kSizes) {
    Plane plane(kernels_, width, height, range);
    for (int frame = 0; frame < 3 * kRound; ++frame) {
      if (frame % kRound == 0) set_costs(1, frame == kRound ? 2 : 0, 0);
      plane.search(frame % kRound < 8 || frame % 50 == 0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryLevel, AutomaticSearch, testing::ValuesIn(all_simd_levels()),
                         [](const auto& test) { return std::string(name(test.param)); });

}  // namespace
}  // namespace c63::cpu::search_automatic_test
