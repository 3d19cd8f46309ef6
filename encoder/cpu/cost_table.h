#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cpu/decision_kernels.h"
#include "decide/vector_cost.h"

namespace c63::cpu {

/// What every vector of a search range adds to a SAD, as CostedSearch reads it.
class CostTable {
 public:
  CostTable(const VectorCosts& costs, int range)
      : range_(range), pitch_((2 * range + kRegister) / kRegister * kRegister),
        costs_(static_cast<std::size_t>(pitch_ * (2 * range + 1) + kCostGuard)) {
    std::uint16_t* row = costs_.data();
    for (int y = -range; y <= range; ++y, row += pitch_) {
      for (int x = -range; x <= range; ++x) row[x + range] = static_cast<std::uint16_t>(costs.of(x, y));
    }
  }

  [[nodiscard]] std::ptrdiff_t pitch() const { return pitch_; }
  [[nodiscard]] const std::uint16_t* at(int x, int y) const { return costs_.data() + (y + range_) * pitch_ + x + range_; }

 private:
  static constexpr int kRegister = 32;  ///< numbers of 16 bits in the largest one: rows that begin with one are read faster

  int range_;
  std::ptrdiff_t pitch_;
  std::vector<std::uint16_t> costs_;
};

}  // namespace c63::cpu
