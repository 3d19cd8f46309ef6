#pragma once

#include <utility>

namespace c63::cpu {
namespace {

/// Calls f(std::integral_constant<int, 0>), f(<1>), …, f(<kCount - 1>). The index is a constant in each call, so arrays
/// of registers stay in registers. In a loop that the compiler unrolls, the index may remain a variable.
template <int kCount, typename F>
[[gnu::always_inline]] inline void unroll(F&& f) {
  [&]<int... kIndex>(std::integer_sequence<int, kIndex...>) __attribute__((always_inline)) {
    (f(std::integral_constant<int, kIndex>()), ...);
  }(std::make_integer_sequence<int, kCount>());
}

}  // namespace
}  // namespace c63::cpu
