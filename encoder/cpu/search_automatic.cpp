// Full search by brute force or by elimination, whichever is faster on this machine and video. Both find the same
// vectors, so the method may change from row to row.
//
// The rule: a round has kRound frames. The first frame is not timed, because its memory is not yet in the caches. In
// the next two frames, the two methods take turns every kMcuSize rows of samples, and in the second of the two frames
// they are exchanged. So both methods are timed on all rows under the same conditions. The faster one is used for the
// rest of the round. Rounds repeat, so that a change of content is noticed.

#include <array>
#include <atomic>
#include <ctime>

#include "cpu/search_exhaustive.h"

namespace c63::cpu {
namespace {

class AutomaticSearch final : public ExhaustiveSearch {
 public:
  AutomaticSearch(const Kernels& kernels, const PlaneGeometry& geometry, int range, SearchClock clock)
      : ExhaustiveSearch(kernels, geometry, range),
        searchers_{make_block_searcher(SearchMethod::full_brute, kernels, geometry, range),
                   make_block_searcher(SearchMethod::full_eliminate, kernels, geometry, range)},
        clock_(clock) {}

  void begin(ConstPlaneView current, ConstPlaneView reference, SearchGoal goal) override {
    ExhaustiveSearch::begin(current, reference, goal);
    if (goal == SearchGoal::best_by_cost) return;
    frame_ = (frame_ + 1) % kRound;
    if (frame_ == kFirstTimed) {
      for (auto& spent : spent_) spent = 0;
    }
    // Other programs disturb the times. So brute force is only chosen if it took less than 7/8 of the time of
    // elimination.
    if (frame_ == kFirstTimed + kTimed) chosen_ = 8 * spent_[kBrute] < 7 * spent_[kEliminate] ? kBrute : kEliminate;
    for (const auto& searcher : searchers_) searcher->begin(current, reference, goal);
  }

  [[nodiscard]] BestCandidate search(const BlockTask& task) const override {
    return searchers_[method_at(task.y)]->search(task);
  }
  [[nodiscard]] Row begin_row(int y) const override {
    return {.searcher = searchers_[method_at(y)].get(), .begun = is_timed() ? clock_() : std::chrono::nanoseconds()};
  }
  void end_row(int y, const Row& row) override {
    if (is_timed()) spend(method_at(y), clock_() - row.begun);
  }

 protected:
  void prepare_rows_for_sad(int first, int end) override {
    if (!is_timed()) return searchers_[chosen_]->prepare_rows(first, end);
    const auto begun = clock_();
    searchers_[kEliminate]->prepare_rows(first, end);
    // In each of the kTimed frames, the sums of all rows are prepared, but elimination searches only 1/kTimed of the
    // rows. So only this share of the time counts for elimination.
    spend(kEliminate, (clock_() - begun) / kTimed);
  }

 private:
  enum Method : std::size_t { kBrute, kEliminate, kMethods };
  static constexpr int kFirstTimed = 1;
  static constexpr int kTimed = kMethods;  ///< the number of frames in a round that are timed
  static constexpr int kRound = 256;       ///< the number of frames in a round

  [[nodiscard]] bool is_timed() const { return frame_ >= kFirstTimed && frame_ < kFirstTimed + kTimed; }
  [[nodiscard]] Method method_at(int y) const {
    if (!is_timed()) return chosen_;
    return (y / kMcuSize + frame_) % kMethods == kBrute ? kBrute : kEliminate;
  }
  /// Adds to the time that a method took. All threads that search rows call this. begin() reads the totals when these
  /// threads are done.
  void spend(Method method, std::chrono::nanoseconds time) {
    spent_[method].fetch_add(time.count(), std::memory_order_relaxed);
  }

  std::array<std::unique_ptr<BlockSearcher>, kMethods> searchers_;
  SearchClock clock_;
  int frame_ = -1;  ///< number of the frame in the round
  /// The method of the frames that are not timed. It starts with elimination: this is at worst a little slower than
  /// brute force, and at best much faster.
  Method chosen_ = kEliminate;
  std::array<std::atomic<std::chrono::nanoseconds::rep>, kMethods> spent_{};
};

}  // namespace

std::chrono::nanoseconds time_of_thread() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

std::unique_ptr<BlockSearcher> make_automatic_search(const Kernels& kernels, const PlaneGeometry& geometry, int range,
                                                     SearchClock clock) {
  return std::make_unique<AutomaticSearch>(kernels, geometry, range, clock);
}

std::unique_ptr<BlockSearcher> make_full_search(const Kernels& kernels, const PlaneGeometry& geometry, int range) {
  return make_automatic_search(kernels, geometry, range);
}

}  // namespace c63::cpu
