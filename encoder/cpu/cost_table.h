#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cpu/decision_kernels.h"
#include "decide/vector_cost.h"

namespace c63::cpu {

/// What every vector of a search range costs, in units of SAD. CostedSearch points into these rows of costs.
class CostTable {
 public:
  CostTable(const VectorCosts& costs, int range)
      : range_(range), pitch_((2 * range + 1 + kOutOfRangeColumns + kRegister - 1) / kRegister * kRegister),
        costs_(static_cast<std::size_t>(pitch_ * (2 * range + 1) + kRegister + kCostGuard), kOutOfRange),
        quarters_(costs_.size(), 255) {
    for (int y = -range; y <= range; ++y) {
      for (int x = -range; x <= range; ++x) {
        const std::uint32_t cost = costs.of(x, y);
        costs_[place(x, y)] = static_cast<std::uint16_t>(cost);
        quarters_[place(x, y)] = static_cast<std::uint8_t>(std::min<std::uint32_t>(cost / 4, 255));
      }
    }
  }

  [[nodiscard]] std::ptrdiff_t pitch() const { return pitch_; }
  [[nodiscard]] const std::uint16_t* costs(int x, int y) const { return costs_.data() + place(x, y); }
  [[nodiscard]] const std::uint8_t* quarters(int x, int y) const { return quarters_.data() + place(x, y); }

 private:
  static constexpr int kRegister = 32;  ///< 16-bit numbers in the largest register; aligned rows are read faster

  static_assert(kRegister >= kOutOfRangeColumns);

  [[nodiscard]] std::size_t place(int x, int y) const {
    return static_cast<std::size_t>(kRegister + (y + range_) * pitch_ + x + range_);
  }

  int range_;
  std::ptrdiff_t pitch_;
  std::vector<std::uint16_t> costs_;
  std::vector<std::uint8_t> quarters_;
};

}  // namespace c63::cpu
