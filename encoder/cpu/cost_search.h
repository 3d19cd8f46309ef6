#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "c63/motion_vector.h"
#include "codec/geometry.h"
#include "cpu/cost_table.h"
#include "cpu/decision_kernels.h"
#include "cpu/kernels.h"
#include "cpu/search_method.h"
#include "decide/rate_decisions.h"

namespace c63::cpu {

/// Searches one plane by SAD plus the cost of vectors. A search method finds the best few vectors of every block. Then
/// the best of them, or the left neighbour's vector, is chosen for each block, row by row. For each frame, call
/// begin(), prepare_rows() for all rows, prepare(), then search_block_row() for all rows of blocks. MCU rows may be
/// searched in any order and at the same time.
class CostSearch {
 public:
  /// `rows_per_mcu` is the number of rows of blocks in an MCU row. The caller searches these rows one after another, on
  /// one thread.
  CostSearch(std::unique_ptr<BlockSearcher> searcher, const Kernels& kernels, const PlaneGeometry& geometry, int rows_per_mcu,
             int range);

  /// Sets the planes of the next frame, with kPlaneGuard bytes around them, and the decisions for its search.
  void begin(ConstPlaneView current, ConstPlaneView reference, const RateDecisions& rate);
  /// Computes the search method's data about rows [first, end) of the reference's samples. Several threads may do so at
  /// the same time.
  void prepare_rows(int first, int end) { searcher_->prepare_rows(first, end); }
  /// Computes the search method's data that depend on all rows, on one thread.
  void prepare() { searcher_->prepare(); }
  /// Searches a row of blocks. Returns the sum of the SADs of the chosen vectors.
  std::uint64_t search_block_row(int row);

  /// The number of vectors that found() gives for each block.
  [[nodiscard]] int found_count() const { return count_; }
  /// The best vectors of a block, best first: found_count() of them. If the window has fewer candidates, the last
  /// vector is repeated.
  [[nodiscard]] const MotionVector* found(int block) const {
    return found_.data() + static_cast<std::size_t>(block) * kMaxFoundVectors;
  }
  /// The chosen vector of each block of the plane.
  [[nodiscard]] const MotionVector* chosen() const { return chosen_.data(); }

 private:
  /// The number of blocks that are searched together.
  static constexpr int kGroup = 8;
  using Searches = std::array<CostedSearch, kGroup>;

  /// Finds the best vectors of blocks [first, first + count) of a row. Sets `costs` to the cost of each block's best
  /// vector.
  void search(int row, int first, int count, Searches& searches, std::uint32_t* costs);

  const Kernels& kernels_;
  std::unique_ptr<BlockSearcher> searcher_;
  PlaneGeometry geometry_;
  int rows_per_mcu_;
  int range_;
  ConstPlaneView current_;
  ConstPlaneView reference_;
  std::int32_t sad_per_bit_ = 0;  ///< the value for which costs_ was computed
  CostTable costs_;
  int count_ = 1;
  std::vector<MotionVector> found_;
  std::vector<MotionVector> chosen_;
};

}  // namespace c63::cpu
