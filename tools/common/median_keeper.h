#pragma once

#include <cstddef>
#include <iterator>
#include <map>
#include <utility>

namespace c63::tools {

/// Keeps, of items that come one by one, those that may yet turn out to be the one of median value: about half of them
/// after the first half, ever fewer from there on.
template <typename Item>
class MedianKeeper {
 public:
  /// At most `most` items will come; it may be fewer.
  explicit MedianKeeper(std::size_t most) : last_rank_((most - 1) / 2), most_(most) {}

  void add(double value, Item item) {
    items_.emplace(value, std::move(item));
    ++added_;
    // What comes yet can only raise the rank of an item, each by one.
    while (lower_ + items_.size() - 1 > last_rank_) items_.erase(std::prev(items_.end()));
    const std::size_t to_come = most_ - added_;
    for (; lower_ + to_come < last_rank_; ++lower_) items_.erase(items_.begin());
  }

  /// The item of median value of those that came, as index_of_median() has it. There is one.
  [[nodiscard]] const Item& median() const {
    return std::next(items_.begin(), static_cast<std::ptrdiff_t>((added_ - 1) / 2 - lower_))->second;
  }
  [[nodiscard]] std::size_t kept() const { return items_.size(); }

 private:
  std::size_t last_rank_;  ///< the median's if all come
  std::size_t most_;
  std::multimap<double, Item> items_;  ///< equal values in the order in which they came
  std::size_t lower_ = 0;              ///< items of lower rank that are not kept
  std::size_t added_ = 0;
};

}  // namespace c63::tools
