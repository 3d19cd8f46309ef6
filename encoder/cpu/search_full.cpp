// The full searches: they consider every candidate of the window.
//
// Brute force computes every SAD. Elimination (SEA) skips candidates if the sums of their 4x4 samples prove that they
// cannot be among the best. Both find the same vectors, so the automatic search takes the one that is faster on this
// machine and video. A search by cost always eliminates.

#include <array>
#include <atomic>
#include <ctime>
#include <vector>

#include "cpu/search_method.h"

namespace c63::cpu {
namespace {

/// A search in one form, or in the form that is faster. The faster form may change from row to row. The rule: a round has
/// kRound frames. The first frame is not timed, because its memory is not yet in the caches. In the next two frames, the
/// two forms take turns every kMcuSize rows of samples, and in the second of the two frames they are exchanged. So both
/// forms are timed on all rows under the same conditions. The faster one is used for the rest of the round. Rounds
/// repeat, so that a change of content is noticed.
class FullSearch final : public BlockSearcher {
 public:
  enum Form : std::size_t { kBrute, kEliminate, kForms };

  /// `form` is the form in frames that are not timed. If `clock` is null, no frame is timed.
  FullSearch(const Kernels& kernels, const PlaneGeometry& geometry, int range, Form form, SearchClock clock = nullptr)
      : BlockSearcher(kernels, geometry, range), chosen_(form), clock_(clock) {}

  void begin(ConstPlaneView current, ConstPlaneView reference, const SearchGoal& goal) override {
    BlockSearcher::begin(current, reference, goal);
    if (goal.costs == nullptr && clock_ != nullptr) begin_timed();
    if (needs_sums()) sums_.resize(geometry_.samples() + 4 * kPlaneGuard);
  }

  void prepare_rows(int first, int end) override {
    const auto begun = now();
    const int rows = std::min(end, geometry_.height - 3) - first;
    if (rows > 0 && needs_sums()) {
      std::uint8_t* const sums = sums_.data() + static_cast<std::ptrdiff_t>(first) * geometry_.width;
      kernels_.quarter_sums(reference_.row(first), reference_.pitch, geometry_.width - 3, rows, sums, geometry_.width);
    }
    // In each of the kTimed frames, the sums of all rows are prepared, but elimination searches only 1/kTimed of the
    // rows. So only this share of the time counts for elimination.
    spend(kEliminate, (now() - begun) / kTimed);
  }

  void search(std::span<const BlockSearch> blocks) const override {
    const bool eliminates = needs_starts(blocks.front().own.y);
    if (eliminates) prefetch_sums_below(blocks);
    kernels_.search(blocks, eliminates ? QuarterSumsView{sums_.data(), geometry_.width} : QuarterSumsView{}, goal_.costs, goal_.count);
  }

  /// Elimination begins at the starts. Brute force does not.
  [[nodiscard]] bool needs_starts(int y) const override { return goal_.costs != nullptr || form_at(y) == kEliminate; }

  [[nodiscard]] std::chrono::nanoseconds begin_row(int /*y*/) const override { return now(); }
  void end_row(int y, std::chrono::nanoseconds begun) override { spend(form_at(y), now() - begun); }

 private:
  static constexpr int kFirstTimed = 1;
  static constexpr int kTimed = kForms;  ///< the number of frames in a round that are timed
  static constexpr int kRound = 256;     ///< the number of frames in a round

  void begin_timed() {
    frame_ = (frame_ + 1) % kRound;
    if (frame_ == kFirstTimed) {
      for (auto& spent : spent_) spent = 0;
    }
    // Other programs disturb the times. So brute force is only chosen if it took less than 15/16 of the time of
    // elimination.
    if (frame_ == kFirstTimed + kTimed) chosen_ = 16 * spent_[kBrute] < 15 * spent_[kEliminate] ? kBrute : kEliminate;
  }
  [[nodiscard]] bool is_timed() const { return frame_ >= kFirstTimed && frame_ < kFirstTimed + kTimed; }
  [[nodiscard]] std::chrono::nanoseconds now() const { return is_timed() ? clock_() : std::chrono::nanoseconds(); }
  [[nodiscard]] Form form_at(int y) const {
    if (!is_timed()) return chosen_;
    return (y / kMcuSize + frame_) % kForms == kBrute ? kBrute : kEliminate;
  }
  /// Adds to the time that a form took. All threads that search rows call this. begin() reads the totals when these
  /// threads are done.
  void spend(Form form, std::chrono::nanoseconds time) {
    if (is_timed()) spent_[form].fetch_add(time.count(), std::memory_order_relaxed);
  }
  [[nodiscard]] bool needs_sums() const { return goal_.costs != nullptr || is_timed() || chosen_ == kEliminate; }

  /// Prefetches sums that these blocks do not need, but the blocks below will. A CPU's own prefetcher does not fetch
  /// them, because the windows of neighbouring blocks overlap.
  void prefetch_sums_below(std::span<const BlockSearch> blocks) const {
    constexpr int kLine = 64;
    const int bottom = blocks.front().window.bottom;
    for (int y = bottom + kBlockSize; y < std::min(bottom + 2 * kBlockSize, geometry_.height); ++y) {
      for (int x = blocks.front().own.x; x <= blocks.back().own.x; x += kLine) __builtin_prefetch(&sums_[static_cast<std::size_t>(y * geometry_.width + x)]);
    }
  }

  std::vector<std::uint8_t> sums_;  ///< quarter sums of the reference; allocated when begin() first needs them
  Form chosen_;                     ///< the form in the frames that are not timed
  SearchClock clock_;
  int frame_ = -1;  ///< number of the frame in the round; below 0 if no frame is timed
  std::array<std::atomic<std::chrono::nanoseconds::rep>, kForms> spent_{};
};

}  // namespace

std::chrono::nanoseconds time_of_thread() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

std::unique_ptr<BlockSearcher> make_automatic_search(const Kernels& kernels, const PlaneGeometry& geometry, int range,
                                                     SearchClock clock) {
  // It starts with elimination: this is at worst a little slower than brute force, and at best much faster.
  return std::make_unique<FullSearch>(kernels, geometry, range, FullSearch::kEliminate, clock);
}
std::unique_ptr<BlockSearcher> make_full_search(const Kernels& kernels, const PlaneGeometry& geometry, int range) {
  return make_automatic_search(kernels, geometry, range);
}
std::unique_ptr<BlockSearcher> make_brute_search(const Kernels& kernels, const PlaneGeometry& geometry, int range) {
  return std::make_unique<FullSearch>(kernels, geometry, range, FullSearch::kBrute);
}
std::unique_ptr<BlockSearcher> make_eliminating_search(const Kernels& kernels, const PlaneGeometry& geometry, int range) {
  return std::make_unique<FullSearch>(kernels, geometry, range, FullSearch::kEliminate);
}

}  // namespace c63::cpu
