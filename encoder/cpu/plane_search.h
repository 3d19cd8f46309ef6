#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "c63/motion_vector.h"
#include "codec/geometry.h"
#include "codec/search_window.h"
#include "cpu/kernels.h"
#include "cpu/search_method.h"
#include "decide/frame_plan.h"

namespace c63::cpu {

/// Searches one plane with a search method: it finds the best few vectors of every block by SAD, or by SAD plus the cost
/// of vectors. In a search by cost, the best of them or the left neighbour's vector is then chosen for each block, row by
/// row. For each frame, call begin(), prepare_rows() for all rows, prepare(), then search_mcu_row() for all MCU rows. MCU
/// rows may be searched in any order and at the same time.
class PlaneSearch {
 public:
  /// `rows_per_mcu` is the number of rows of blocks in an MCU row.
  PlaneSearch(std::unique_ptr<BlockSearcher> searcher, const Kernels& kernels, const PlaneGeometry& geometry, int rows_per_mcu,
              int range);

  /// Sets the planes of the next frame, with kPlaneGuard bytes around them. Each block gets the vector of least SAD in
  /// search_window_around() its vector in `around`; null: around the zero vector.
  void begin(ConstPlaneView current, ConstPlaneView reference, const MotionVector* around);
  /// Does the same for a search by SAD plus cost in whole_search_window(), as `rate` says.
  void begin(ConstPlaneView current, ConstPlaneView reference, const RateDecisions& rate);
  /// Forgets the vectors of the previous frame, with which searches start.
  void forget();
  /// Computes the search method's data about rows [first, end) of the reference's samples. Several threads may do so at
  /// the same time.
  void prepare_rows(int first, int end) { searcher_->prepare_rows(first, end); }
  /// Computes the search method's data that depend on all rows, on one thread.
  void prepare() { searcher_->prepare(); }
  /// Searches an MCU row. Returns the sum of the SADs of the chosen vectors.
  std::uint64_t search_mcu_row(int mcu_row);

  /// The number of vectors that found() gives for each block.
  [[nodiscard]] int found_count() const { return static_cast<int>(goal_.count); }
  /// The best vectors of a block, best first: found_count() of them. If the window has fewer candidates, the last
  /// vector is repeated.
  [[nodiscard]] const MotionVector* found(int block) const {
    return found_.data() + static_cast<std::size_t>(block) * goal_.count;
  }
  /// The chosen vector of each block of the plane.
  [[nodiscard]] const MotionVector* chosen() const { return chosen_.data(); }
  /// The SADs of these vectors.
  [[nodiscard]] const std::uint16_t* sads() const { return sads_.data(); }

  /// The candidates of a block. If there are none, returns that of the zero vector. Inlined like set() and choose().
  [[nodiscard, gnu::always_inline]] SearchWindow window_of(int column, int row) const {
    if (goal_.costs != nullptr) return whole_search_window(column, row, geometry_.width, geometry_.height, range_);
    const MotionVector* const centre = around_ != nullptr ? &around_[row * geometry_.columns + column] : nullptr;
    const SearchWindow window =
        centre == nullptr ? search_window(column, row, geometry_.width, geometry_.height, range_)
                          : search_window_around(column, row, geometry_.width, geometry_.height, range_, centre->x, centre->y);
    const int x = column * kBlockSize;
    const int y = row * kBlockSize;
    return window.empty() ? SearchWindow{x, y, x + 1, y + 1} : window;
  }
  /// Returns the least SAD that the method finds in a part of a block's window, which is not empty.
  [[nodiscard]] std::uint32_t least_sad(const SearchWindow& part, int column, int row) const;

 private:
  /// The number of blocks that are searched together.
  static constexpr int kGroup = 8;
  using Searches = std::array<BlockSearch, kGroup>;
  using Keys = std::array<std::uint32_t, kGroup * kMaxFoundVectors>;

  void begin_planes(ConstPlaneView current, ConstPlaneView reference);
  void set(BlockSearch& search, SearchWindow window, int column, int row, bool has_starts) const;
  void prefetch_below(int column, int row) const;
  std::uint64_t search_row(int row);
  /// Chooses the vector of a block, for which the search found `found` with the cost `best`. Returns its SAD.
  std::uint32_t choose(int block, int column, int row, MotionVector found, std::uint32_t best);

  const Kernels& kernels_;
  std::unique_ptr<BlockSearcher> searcher_;
  PlaneGeometry geometry_;
  int rows_per_mcu_;
  int range_;
  ConstPlaneView current_;
  ConstPlaneView reference_;
  const MotionVector* around_ = nullptr;
  std::int32_t sad_per_bit_ = 0;  ///< the value for which costs_ was computed
  SearchCosts costs_;
  SearchGoal goal_;
  std::vector<MotionVector> found_;
  std::vector<MotionVector> chosen_;
  std::vector<std::uint16_t> sads_;
};

}  // namespace c63::cpu
