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

/// One block to search in the plane of the last begin().
struct BlockTask {
  SearchWindow window;  ///< not empty; the first member, because compilers then write it in one piece, as it is read
  int x = 0;            ///< of the block, in samples
  int y = 0;
  /// vectors found nearby, which may be good here too; they may lie outside the window
  std::span<const MotionVector> predictors;
};

/// The results of a search for the blocks of a frame.
enum class SearchGoal {
  least_sad,     ///< the vector of least SAD: search()
  best_by_cost,  ///< the best few vectors by SAD and cost: search_best()
};

/// A search method at work on one plane of one GOP chain. For each frame, the caller calls begin(), prepare_rows() for
/// all rows and prepare(). Then it searches all blocks, row by row, by the function for the goal. The result depends
/// only on samples, task and method. It never depends on the instruction set, or on which thread searches a block at
/// which time.
///
/// A method names the candidates that it tries, in visit(), and so serves every goal and preset. A method that finds
/// the same in a faster way also overrides search() and search_best().
class BlockSearcher {
 public:
  BlockSearcher(const Kernels& kernels, const PlaneGeometry& geometry, int range)
      : kernels_(kernels), geometry_(geometry), range_(range) {}
  virtual ~BlockSearcher() = default;
  BlockSearcher(const BlockSearcher&) = delete;
  BlockSearcher& operator=(const BlockSearcher&) = delete;

  /// Sets the planes of the next frame. They must have the geometry of the searcher, and kPlaneGuard around them.
  virtual void begin(ConstPlaneView current, ConstPlaneView reference, [[maybe_unused]] SearchGoal goal = SearchGoal::least_sad) {
    current_ = current;
    reference_ = reference;
  }
  /// Prepares the data of rows [first, end) of the reference. Several threads may prepare rows at the same time.
  virtual void prepare_rows(int /*first*/, int /*end*/) {}
  /// Prepares the rest, on one thread.
  virtual void prepare() {}
  /// Finds the vector of least SAD of a block. Several threads may search at the same time.
  [[nodiscard]] virtual BestCandidate search(const BlockTask& task) const;
  /// search() of each task, at most kMostTogether. A method may do several at once in less time.
  virtual void search_several(std::span<const BlockTask> tasks, BestCandidate* best) const {
    for (const BlockTask& task : tasks) *best++ = search(task);
  }
  static constexpr std::size_t kMostTogether = 8;
  /// Finds the best `count` vectors of each block by SAD and cost, as DecisionKernels::search_best(). Several threads
  /// may search at the same time.
  virtual void search_best(std::span<const CostedSearch> blocks, std::size_t count) const;

  /// An MCU row in work: the searcher of its blocks, and the start time.
  struct Row {
    const BlockSearcher* searcher = nullptr;
    std::chrono::nanoseconds begun{};
  };
  // Called around the search of the MCU row at sample row `y` by one thread. For methods that choose by the times of
  // rows, once for each row.
  [[nodiscard]] virtual Row begin_row(int /*y*/) const { return {.searcher = this}; }
  virtual void end_row(int /*y*/, const Row& /*row*/) {}

  /// Which vectors a method uses as predictors.
  enum class PredictorSource {
    none,
    this_frame,
    any_frame,  ///< the previous frame's, too: only if predictors cannot change the result
  };
  [[nodiscard]] virtual PredictorSource wanted_predictors() const { return PredictorSource::this_frame; }

 protected:
  static constexpr std::size_t kMostStarts = kStarts;  ///< more of them rule out little more

  /// Tries the candidates of a block.
  virtual void visit(SearchCandidates& candidates) const = 0;

  [[nodiscard]] BlockSearch block_search(const BlockTask& task) const {
    return {&current_.at(task.x, task.y), current_.pitch, reference_, task.window};
  }
  /// The candidates of the zero vector and of the first predictors, each moved into the window.
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

/// A clock for timing search methods, and the default one: the processor time of this thread. Work of other threads and
/// programs does not count.
using SearchClock = std::chrono::nanoseconds (*)();
[[nodiscard]] std::chrono::nanoseconds time_of_thread();

/// The method `full`, with the caller's clock.
[[nodiscard]] std::unique_ptr<BlockSearcher> make_automatic_search(const Kernels& kernels, const PlaneGeometry& geometry,
                                                                   int range, SearchClock clock = time_of_thread);

}  // namespace c63::cpu
