#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>

#include "c63/motion.h"
#include "c63/settings.h"
#include "codec/geometry.h"
#include "cpu/kernels.h"
#include "cpu/search_candidates.h"

namespace c63::cpu {

/// One block to search, of the plane that was given to begin().
struct BlockTask {
  /// The candidates; there is at least one. The window is the first member, so that compilers write and read it with
  /// one wide instruction.
  SearchWindow window;
  int x = 0;            ///< position of the block in its plane, in samples
  int y = 0;
  /// vectors found for neighbours or in the previous frame, which may also be good here; they may point outside the
  /// window
  std::span<const MotionVector> predictors;
};

/// What a search finds for the blocks of a frame.
enum class SearchGoal {
  least_sad,     ///< the vector of least SAD, by search()
  best_by_cost,  ///< the best few vectors by SAD plus cost, by search_best()
};

/// A search method for one plane of one GOP chain. For each frame, call begin(), prepare_rows() for all rows and
/// prepare(). Then search all blocks, row by row, with the function for the goal. The result depends only on samples,
/// tasks and the method. It does not depend on the instruction set, or on when and in which thread a block is searched.
///
/// A method implements visit(), which names the candidates that it tries. That is enough for every goal and preset. A
/// method that has a faster way to the same results also overrides search() and search_best().
class BlockSearcher {
 public:
  BlockSearcher(const Kernels& kernels, const PlaneGeometry& geometry, int range)
      : kernels_(kernels), geometry_(geometry), range_(range) {}
  virtual ~BlockSearcher() = default;
  BlockSearcher(const BlockSearcher&) = delete;
  BlockSearcher& operator=(const BlockSearcher&) = delete;

  /// Sets the planes of the next frame. They must have the searcher's geometry, and kPlaneGuard bytes around them.
  virtual void begin(ConstPlaneView current, ConstPlaneView reference, [[maybe_unused]] SearchGoal goal = SearchGoal::least_sad) {
    current_ = current;
    reference_ = reference;
  }
  /// Computes the method's data about rows [first, end) of the reference's samples, if it has any. Several threads may
  /// do so at the same time.
  virtual void prepare_rows(int /*first*/, int /*end*/) {}
  /// Computes the data that need all rows, on one thread.
  virtual void prepare() {}
  /// Finds the vector of least SAD for a block, among the candidates that the method tries. Several threads may search
  /// at the same time.
  [[nodiscard]] virtual BestCandidate search(const BlockTask& task) const;
  /// Does search() for each task, at most kMostTogether. A method overrides it if searching several blocks together is
  /// faster.
  virtual void search_several(std::span<const BlockTask> tasks, BestCandidate* best) const {
    for (const BlockTask& task : tasks) *best++ = search(task);
  }
  static constexpr std::size_t kMostTogether = 8;
  /// Finds the best `count` vectors of each block by SAD and cost, as DecisionKernels::search_best(). Several threads
  /// may search at the same time.
  virtual void search_best(std::span<const CostedSearch> blocks, std::size_t count) const;

  /// An MCU row that is being searched: the searcher to use for its blocks, and the start time.
  struct Row {
    const BlockSearcher* searcher = nullptr;
    std::chrono::nanoseconds begun{};
  };
  // For methods that measure the time of MCU rows. The thread that searches an MCU row calls begin_row() before the
  // search and end_row() after it. `y` is the first row of samples of the MCU row.
  [[nodiscard]] virtual Row begin_row(int /*y*/) const { return {.searcher = this}; }
  virtual void end_row(int /*y*/, const Row& /*row*/) {}

  /// Which vectors a method wants as predictors.
  enum class PredictorSource {
    none,
    this_frame,
    any_frame,  ///< the previous frame's vectors, too; only for methods whose result does not depend on predictors
  };
  [[nodiscard]] virtual PredictorSource wanted_predictors() const { return PredictorSource::this_frame; }

 protected:
  static constexpr std::size_t kMostStarts = kStarts;  ///< more starts would hardly make a search faster

  /// Calls candidates.add() for each candidate that the method tries.
  virtual void visit(SearchCandidates& candidates) const = 0;

  [[nodiscard]] BlockSearch block_search(const BlockTask& task) const {
    return {&current_.at(task.x, task.y), current_.pitch, reference_, task.window};
  }
  /// Writes the candidates of the zero vector and of the first predictors to `starts`, each moved into the window.
  /// Returns their number.
  [[nodiscard]] static std::size_t starts_of(const BlockTask& task, std::array<Position, kMostStarts>& starts);

  const Kernels& kernels_;
  PlaneGeometry geometry_;
  int range_;
  ConstPlaneView current_;
  ConstPlaneView reference_;
};

/// Returns a searcher for planes of `geometry` with vectors of up to `range` samples.
[[nodiscard]] std::unique_ptr<BlockSearcher> make_block_searcher(SearchMethod method, const Kernels& kernels,
                                                                 const PlaneGeometry& geometry, int range);

/// A clock for timing search methods. time_of_thread(), the default, returns the processor time of the calling thread,
/// so the work of other threads and programs does not count.
using SearchClock = std::chrono::nanoseconds (*)();
[[nodiscard]] std::chrono::nanoseconds time_of_thread();

/// Makes the searcher of method `full`, with the caller's clock.
[[nodiscard]] std::unique_ptr<BlockSearcher> make_automatic_search(const Kernels& kernels, const PlaneGeometry& geometry,
                                                                   int range, SearchClock clock = time_of_thread);

}  // namespace c63::cpu
