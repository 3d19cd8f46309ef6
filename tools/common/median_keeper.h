#pragma once

#include <cstddef>
#include <iterator>
#include <map>
#include <utility>

namespace c63::tools {

/// Finds the item with the median value without keeping all items. Items come one by one, and each item that can no
/// longer be the median is dropped. So at most about half of the items are kept at the same time.
template <typename Item>
class MedianKeeper {
 public:
  /// At most `most` items will be added; fewer are allowed.
  explicit MedianKeeper(std::size_t most) : last_rank_((most - 1) / 2), most_(most) {}

  void add(double value, Item item) {
    items_.emplace(value, std::move(item));
    ++added_;
    // Each later item raises the rank of an item by one or not at all. So an item above the median's rank never becomes
    // the median.
    while (lower_ + items_.size() - 1 > last_rank_) items_.erase(std::prev(items_.end()));
    const std::size_t to_come = most_ - added_;
    for (; lower_ + to_come < last_rank_; ++lower_) items_.erase(items_.begin());
  }

  /// Returns the item of median value, as index_of_median() defines it. At least one item must have been added.
  [[nodiscard]] const Item& median() const {
    return std::next(items_.begin(), static_cast<std::ptrdiff_t>((added_ - 1) / 2 - lower_))->second;
  }
  [[nodiscard]] std::size_t kept() const { return items_.size(); }

 private:
  std::size_t last_rank_;  ///< rank of the median if `most` items come
  std::size_t most_;
  std::multimap<double, Item> items_;  ///< equal values keep the order in which they came
  std::size_t lower_ = 0;              ///< number of dropped items that rank below those kept
  std::size_t added_ = 0;
};

}  // namespace c63::tools
