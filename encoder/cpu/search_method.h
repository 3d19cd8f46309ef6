#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>

#include "c63/settings.h"
#include "codec/geometry.h"
#include "cpu/kernels.h"
#include "decide/frame_plan.h"

namespace c63::cpu {

/// What the blocks of a frame are searched for: the best `count` vectors by SAD plus cost.
struct SearchGoal {
  const SearchCosts* costs = nullptr;  ///< null: vectors cost nothing
  std::size_t count = 1;
};

/// The candidates that a search method tries for one block. It keeps those of least cost, and of equal ones the first in
/// raster order.
class SearchCandidates {
 public:
  SearchCandidates(const Kernels& kernels, const BlockSearch& block, const SearchGoal& goal)
      : kernels_(kernels), block_(block), goal_(goal) {
    std::fill_n(block.keys, goal.count, UINT32_MAX);
  }

  /// The block's position in its plane, which is also the position of the zero vector's candidate.
  [[nodiscard]] Position own() const { return block_.own; }
  /// The candidates that may be tried.
  [[nodiscard]] const SearchWindow& window() const { return block_.window; }
  /// Candidates of the window that are often good, such as those at the vectors of neighbours.
  [[nodiscard]] std::span<const Position> starts() const { return block_.starts; }

  /// Tries a candidate of the window, or the zero vector, and returns its cost. Trying it again has no effect.
  std::uint32_t add(int x, int y) {
    std::uint32_t cost = kernels_.sad(block_.current, block_.current_pitch, &block_.reference.at(x, y), block_.reference.pitch);
    if (goal_.costs != nullptr) cost += goal_.costs->of(x - own().x, y - own().y);
    const bool is_inside = x >= window().left && x < window().right && y >= window().top && y < window().bottom;
    std::uint32_t key = candidate_key(cost, is_inside ? block_.index_of(x, y) : BlockSearch::kOwnIndex);
    for (std::size_t i = 0; i < goal_.count && key != block_.keys[i]; ++i) {
      if (key < block_.keys[i]) std::swap(key, block_.keys[i]);
    }
    return cost;
  }

 private:
  const Kernels& kernels_;
  const BlockSearch& block_;
  const SearchGoal& goal_;
};

/// A search method for one plane of one GOP chain. For each frame, call begin(), prepare_rows() for all rows and
/// prepare(). Then search all blocks. The result depends only on samples, blocks and the method. It does not depend on
/// the instruction set, or on when and in which thread a block is searched.
///
/// A method implements visit(), which names the candidates that it tries. That is enough for every goal and preset. A
/// method that has a faster way to its results overrides search() instead.
class BlockSearcher {
 public:
  BlockSearcher(const Kernels& kernels, const PlaneGeometry& geometry, int range)
      : kernels_(kernels), geometry_(geometry), range_(range) {}
  virtual ~BlockSearcher() = default;
  BlockSearcher(const BlockSearcher&) = delete;
  BlockSearcher& operator=(const BlockSearcher&) = delete;

  /// Sets the planes of the next frame, and what is wanted. The planes must have the searcher's geometry, and kPlaneGuard
  /// bytes around them.
  virtual void begin(ConstPlaneView current, ConstPlaneView reference, const SearchGoal& goal) {
    current_ = current;
    reference_ = reference;
    goal_ = goal;
  }
  /// Computes the method's data about rows [first, end) of the reference's samples, if it has any. Several threads may
  /// do so at the same time.
  virtual void prepare_rows(int /*first*/, int /*end*/) {}
  /// Computes the data that need all rows, on one thread.
  virtual void prepare() {}
  /// Finds the goal's vectors of each block, among the candidates that the method tries, as Kernels::search does. Several
  /// threads may search at the same time. The blocks of a call are neighbours in a row.
  virtual void search(std::span<const BlockSearch> blocks) const {
    for (const BlockSearch& block : blocks) {
      SearchCandidates candidates(kernels_, block, goal_);
      visit(candidates);
    }
  }

  /// Returns false if the search of the blocks at row `y` of samples does not read BlockSearch::starts.
  [[nodiscard]] virtual bool needs_starts(int /*y*/) const { return true; }

  // For methods that measure the time of MCU rows. The thread that searches an MCU row calls begin_row() before the
  // search and end_row() after it, with what begin_row() returned. `y` is the first row of samples of the MCU row.
  [[nodiscard]] virtual std::chrono::nanoseconds begin_row(int /*y*/) const { return {}; }
  virtual void end_row(int /*y*/, std::chrono::nanoseconds /*begun*/) {}

 protected:
  /// Calls candidates.add() for each candidate that the method tries.
  virtual void visit(SearchCandidates& /*candidates*/) const {}

  const Kernels& kernels_;
  PlaneGeometry geometry_;
  int range_;
  ConstPlaneView current_;
  ConstPlaneView reference_;
  SearchGoal goal_;
};

/// Returns a searcher for planes of `geometry` with vectors of up to `range` samples.
[[nodiscard]] std::unique_ptr<BlockSearcher> make_block_searcher(SearchMethod method, const Kernels& kernels,
                                                                 const PlaneGeometry& geometry, int range);

/// Returns a searcher for each plane of a GOP chain. It runs the user's own search if the settings have one, otherwise
/// the settings' search method.
[[nodiscard]] std::array<std::unique_ptr<BlockSearcher>, kPlanes> make_plane_searchers(const CodingSettings& settings,
                                                                                      const Kernels& kernels,
                                                                                      const Geometry& geometry);

/// A clock for timing search methods. time_of_thread(), the default, returns the processor time of the calling thread,
/// so the work of other threads and programs does not count.
using SearchClock = std::chrono::nanoseconds (*)();
[[nodiscard]] std::chrono::nanoseconds time_of_thread();

/// Makes the searcher of method `full`, with the caller's clock.
[[nodiscard]] std::unique_ptr<BlockSearcher> make_automatic_search(const Kernels& kernels, const PlaneGeometry& geometry,
                                                                   int range, SearchClock clock = time_of_thread);

}  // namespace c63::cpu
