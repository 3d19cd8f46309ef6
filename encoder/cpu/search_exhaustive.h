#pragma once

#include <cstdint>
#include <vector>

#include "cpu/search_method.h"

namespace c63::cpu {

/// The base class of the methods that consider every candidate. They differ only in how they find the least SAD. To
/// find the best vectors by cost, all of them use quarter sums, which rule out most candidates.
class ExhaustiveSearch : public BlockSearcher {
 public:
  using BlockSearcher::BlockSearcher;

  void begin(ConstPlaneView current, ConstPlaneView reference, SearchGoal goal) override;
  void prepare_rows(int first, int end) override;
  void search_best(std::span<const CostedSearch> blocks, std::size_t count) const override;

 protected:
  void visit(SearchCandidates& candidates) const override;
  /// Prepares data of rows [first, end) of the reference for search().
  virtual void prepare_rows_for_sad(int /*first*/, int /*end*/) {}

  void make_room_for_sums();
  void add_quarter_sums(int first, int end);
  [[nodiscard]] QuarterSumsView quarter_sums() const { return {quarter_sums_.data(), geometry_.width}; }

 private:
  SearchGoal goal_ = SearchGoal::least_sad;
  /// Quarter sums of the reference; allocated when begin() first needs them.
  std::vector<std::uint8_t> quarter_sums_;
};

}  // namespace c63::cpu
