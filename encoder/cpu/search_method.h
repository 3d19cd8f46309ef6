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

/// One block to search in the plane that a searcher was begun with.
struct BlockTask {
  SearchWindow window;  ///< not empty; first, as compilers then write it in one piece, which is how it is read
  int x = 0;            ///< of the block, in samples
  int y = 0;
  std::span<const MotionVector> predictors;  ///< vectors found nearby, which may be good here too; outside the window or not
};

/// What a search finds for the blocks of a frame.
enum class SearchGoal {
  least_sad,       ///< the vector of least SAD: search()
  best_by_cost,    ///< the best few vectors by SAD and what they cost: search_best()
};

/// A search method at work on one plane of one GOP chain. For each frame, the caller calls begin(), prepare_rows() for all rows and
/// prepare(). Then it searches all blocks, row by row, by the function that goes with the goal. The result depends on samples, task
/// and method alone: never on the instruction set, nor on which thread searches which block when.
///
/// A method says which candidates it tries, in visit(), and so serves every goal and preset. A method that finds the same in a
/// faster way overrides search() and search_best() as well.
class BlockSearcher {
 public:
  BlockSearcher(const Kernels& kernels, const PlaneGeometry& geometry, int range)
      : kernels_(kernels), geometry_(geometry), range_(range) {}
  virtual ~BlockSearcher() = default;
  BlockSearcher(const BlockSearcher&) = delete;
  BlockSearcher& operator=(const BlockSearcher&) = delete;

  /// Sets the planes to be searched next. They have the geometry that the searcher was made for, and kPlaneGuard around them.
  virtual void begin(ConstPlaneView current, ConstPlaneView reference, [[maybe_unused]] SearchGoal goal = SearchGoal::least_sad) {
    current_ = current;
    reference_ = reference;
  }
  /// Prepares what the method needs of rows [first, end) of the reference. Rows may be prepared at the same time.
  virtual void prepare_rows(int /*first*/, int /*end*/) {}
  /// Prepares the rest, on one thread.
  virtual void prepare() {}
  /// Finds the vector of least SAD of a block. Blocks may be searched at the same time.
  [[nodiscard]] virtual BestCandidate search(const BlockTask& task) const;
  /// Finds the best `count` vectors of each block by SAD and cost, as DecisionKernels::search_best() says. Blocks may be searched
  /// at the same time.
  virtual void search_best(std::span<const CostedSearch> blocks, std::size_t count) const;

  /// An MCU row at work: who searches its blocks, and the time at which that began.
  struct Row {
    const BlockSearcher* searcher = nullptr;
    std::chrono::nanoseconds begun{};
  };
  // Around the search of the blocks of the MCU row at sample row `y` by one thread: for methods that choose by what rows
  // take, and for the choice to be made once a row.
  [[nodiscard]] virtual Row begin_row(int /*y*/) const { return {.searcher = this}; }
  virtual void end_row(int /*y*/, const Row& /*row*/) {}

  /// Where the vectors come from that a method wants as predictors.
  enum class PredictorSource {
    none,
    this_frame,
    any_frame,  ///< the frame before, too: only where predictors cannot change the result
  };
  [[nodiscard]] virtual PredictorSource wanted_predictors() const { return PredictorSource::this_frame; }

 protected:
  static constexpr std::size_t kMostStarts = 4;  ///< more rule out little more

  /// Tries the candidates of a block.
  virtual void visit(SearchCandidates& candidates) const = 0;

  [[nodiscard]] BlockSearch block_search(const BlockTask& task) const {
    return {&current_.at(task.x, task.y), current_.pitch, reference_, task.window};
  }
  /// The zero vector's candidate and those of the first predictors, each moved into the window.
  [[nodiscard]] static std::size_t starts_of(const BlockTask& task, std::array<Position, kMostStarts>& starts);

  const Kernels& kernels_;
  PlaneGeometry geometry_;
  int range_;
  ConstPlaneView current_;
  ConstPlaneView reference_;
};

/// A searcher for planes of `geometry` with vectors of up to `range` samples.
[[nodiscard]] std::unique_ptr<BlockSearcher> make_block_searcher(SearchMethod method, const Kernels& kernels,
                                                                 const PlaneGeometry& geometry, int range);

/// A clock that search methods are timed with, and the usual one: the time that this thread ran. What other threads and
/// programs do meanwhile is not in it.
using SearchClock = std::chrono::nanoseconds (*)();
[[nodiscard]] std::chrono::nanoseconds time_of_thread();

/// The method `full`, with a clock of one's own.
[[nodiscard]] std::unique_ptr<BlockSearcher> make_automatic_search(const Kernels& kernels, const PlaneGeometry& geometry,
                                                                   int range, SearchClock clock = time_of_thread);

}  // namespace c63::cpu
