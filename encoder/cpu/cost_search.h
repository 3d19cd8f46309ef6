#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "c63/motion_vector.h"
#include "codec/geometry.h"
#include "cpu/cost_table.h"
#include "cpu/decision_kernels.h"
#include "cpu/kernels.h"
#include "cpu/search_method.h"
#include "decide/rate_decisions.h"

namespace c63::cpu {

/// Search of one plane by SAD and the cost of vectors. A search method finds the best few vectors of every block. Then
/// each row of blocks chooses among them; a block may take its left neighbour's vector. For a frame call begin(),
/// prepare_rows() for all rows, prepare(), then search_block_row() for all rows of blocks. MCU rows may be searched in
/// any order and at the same time.
class CostSearch {
 public:
  /// One thread searches `rows_per_mcu` rows of blocks, one after another.
  CostSearch(std::unique_ptr<BlockSearcher> searcher, const Kernels& kernels, const PlaneGeometry& geometry, int rows_per_mcu,
             int range);

  /// Sets the planes of the next frame, with kPlaneGuard around them, and the parameters of its search.
  void begin(ConstPlaneView current, ConstPlaneView reference, const RateDecisions& rate);
  /// Prepares rows [first, end) of samples of the reference.
  void prepare_rows(int first, int end) { searcher_->prepare_rows(first, end); }
  /// Prepares the rest, on one thread.
  void prepare() { searcher_->prepare(); }
  /// Searches a row of blocks. Returns the sum of the SADs of the chosen vectors.
  std::uint64_t search_block_row(int row);

  /// Number of vectors found for each block, unless its window has fewer.
  [[nodiscard]] int found_count() const { return count_; }
  /// The best vectors of a block, best first. If there are fewer, the last one is repeated.
  [[nodiscard]] const MotionVector* found(int block) const {
    return found_.data() + static_cast<std::size_t>(block) * kMaxFoundVectors;
  }
  /// The chosen vectors of all blocks of the plane.
  [[nodiscard]] const MotionVector* chosen() const { return chosen_.data(); }

 private:
  /// Blocks that are searched together.
  static constexpr int kGroup = 8;
  using Searches = std::array<CostedSearch, kGroup>;

  /// Finds the best vectors of blocks [first, first + count) of a row, and the cost of the best one.
  void search(int row, int first, int count, Searches& searches, std::uint32_t* costs);

  const Kernels& kernels_;
  std::unique_ptr<BlockSearcher> searcher_;
  PlaneGeometry geometry_;
  int rows_per_mcu_;
  int range_;
  ConstPlaneView current_;
  ConstPlaneView reference_;
  std::int32_t sad_per_bit_ = 0;  ///< the λ of costs_
  CostTable costs_;
  int count_ = 1;
  std::vector<MotionVector> found_;
  std::vector<MotionVector> chosen_;
};

}  // namespace c63::cpu
