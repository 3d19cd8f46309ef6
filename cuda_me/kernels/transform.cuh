#pragma once

// The 8x8 transform. A thread transforms one row or column of a block. The format fixes the order of additions
// (codec/dct.h).

#include <type_traits>
#include <utility>

#include "codec/dct.h"

namespace c63::cuda {

template <typename Body, int... I>
__device__ __forceinline__ void unroll(Body&& body, std::integer_sequence<int, I...>) {
  (body(std::integral_constant<int, I>{}), ...);
}
/// Calls body(0) … body(7), with indices that are known at compile time.
template <typename Body>
__device__ __forceinline__ void for_8(Body&& body) {
  unroll(std::forward<Body>(body), std::make_integer_sequence<int, 8>{});
}

/// Computes out[i] = Σ in[j]·c[j][i], where c is kDctCosines. Adds the products in the order of j.
__device__ __forceinline__ void forward_line(const float (&in)[8], float (&out)[8]) {
  for_8([&](auto j) {
    for_8([&](auto i) {
      constexpr float c = kDctCosines[j][i];
      const float product = in[j] * c;
      out[i] = j == 0 ? product : out[i] + product;
    });
  });
}

/// Returns the first row of kDctCosines that has the same magnitude in column j as row i.
constexpr int first_of_same_magnitude(int i, int j) {
  for (int k = 0; k < i; ++k) {
    if (kDctCosines[k][j] == kDctCosines[i][j] || kDctCosines[k][j] == -kDctCosines[i][j]) return k;
  }
  return i;
}

/// Computes out[i] = Σ in[j]·c[i][j], where c is kDctCosines. Adds the products in the order of j. A column of the
/// table has at most four different magnitudes, so several outputs share a product. A product with -c is exactly the
/// negated product with c.
__device__ __forceinline__ void inverse_line(const float (&in)[8], float (&out)[8]) {
  for_8([&](auto j) {
    float products[8];
    for_8([&](auto i) {
      constexpr int first = first_of_same_magnitude(i, j);
      constexpr float c = kDctCosines[i][j];
      if constexpr (first == i) products[i] = in[j] * c;
      constexpr bool negated = (c < 0) != (kDctCosines[first][j] < 0);
      const float product = negated ? -products[first] : products[first];
      out[i] = j == 0 ? product : out[i] + product;
    });
  });
}

}  // namespace c63::cuda
