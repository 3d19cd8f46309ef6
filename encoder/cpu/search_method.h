#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>

#include "c63/motion.h"
#include "c63/settings.h"
#include "codec/geometry.h"
#include "cpu/kernels.h"

namespace c63::cpu {

/// One block to search in the plane that a searcher was begun with.
struct BlockTask {
  SearchWindow window;  ///< not empty; first, as compilers then write it in one piece, which is how it is read
  int x = 0;            ///< of the block, in samples
  int y = 0;
  std::span<const MotionVector> predictors;  ///< vectors found nearby, which may be good here too; outside the window or not
};

/// A search method at work on one plane of one lane. A frame goes begin(), prepare_rows() of all rows, prepare(), then
/// search() of all blocks, row by row. What search() returns depends on samples, task and method alone: never on the
/// instruction set, nor on which thread searches which block when.
class BlockSearcher {
 public:
  BlockSearcher(const Kernels& kernels, const PlaneGeometry& geometry, int range)
      : kernels_(kernels), geometry_(geometry), range_(range) {}
  virtual ~BlockSearcher() = default;
  BlockSearcher(const BlockSearcher&) = delete;
  BlockSearcher& operator=(const BlockSearcher&) = delete;

  /// The planes to be searched next, of the geometry that the searcher was made for, with kPlaneGuard around them.
  virtual void begin(ConstPlaneView current, ConstPlaneView reference) {
    current_ = current;
    reference_ = reference;
  }
  /// Prepares what the method needs of rows [first, end) of the reference. Rows may be prepared at the same time.
  virtual void prepare_rows(int /*first*/, int /*end*/) {}
  /// Prepares the rest, on one thread.
  virtual void prepare() {}
  /// Finds the vector of a block. Blocks may be searched at the same time.
  [[nodiscard]] virtual BestCandidate search(const BlockTask& task) const = 0;

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
  [[nodiscard]] BlockSearch block_search(const BlockTask& task) const {
    return {&current_.at(task.x, task.y), current_.pitch, reference_, task.window};
  }
  [[nodiscard]] std::uint32_t sad_at(const BlockTask& task, int x, int y) const {
    return kernels_.sad(&current_.at(task.x, task.y), current_.pitch, &reference_.at(x, y), reference_.pitch);
  }
  /// Where a vector points to, or the nearest candidate of the window.
  [[nodiscard]] static Position candidate_at(const BlockTask& task, MotionVector vector) {
    return {std::clamp(task.x + vector.x, task.window.left, task.window.right - 1),
            std::clamp(task.y + vector.y, task.window.top, task.window.bottom - 1)};
  }

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

// One for each method, full being the automatic one; each is in the file that has its name.
[[nodiscard]] std::unique_ptr<BlockSearcher> make_automatic_search(const Kernels& kernels, const PlaneGeometry& geometry,
                                                                   int range, SearchClock clock = time_of_thread);
[[nodiscard]] std::unique_ptr<BlockSearcher> make_eliminating_search(const Kernels& kernels, const PlaneGeometry& geometry,
                                                                     int range);
[[nodiscard]] std::unique_ptr<BlockSearcher> make_brute_search(const Kernels& kernels, const PlaneGeometry& geometry,
                                                               int range);
[[nodiscard]] std::unique_ptr<BlockSearcher> make_zero_search(const Kernels& kernels, const PlaneGeometry& geometry,
                                                              int range);

}  // namespace c63::cpu
