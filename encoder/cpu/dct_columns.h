#pragma once

#include <hwy/highway.h>

#include "codec/dct.h"
#include "cpu/unroll.h"

namespace c63::cpu {
namespace {

/// Transforms all columns of a block, which is one pass of a transform, with vector operators. The block's `rows`
/// are eight registers of binary32 values. Output i is Σ_j (input j · weight of j in i), with j ascending; each product
/// and each sum is rounded. The weights of input 0 (inverse) and of output 0 (forward) are 1. The weights of two
/// outputs often differ only in sign; then one product is added to one sum and subtracted from the other.
///
/// Inputs from kInputs on must be zero. They are left out, because adding them could only change the sign of a zero.
template <bool kForward, int kInputs = 8, typename Block>
[[gnu::always_inline]] inline Block transform_columns(const Block& in) {
  Block out;
  unroll<kInputs>([&](auto j) __attribute__((always_inline)) {
    unroll<8>([&](auto i) __attribute__((always_inline)) {
      constexpr float weight = kForward ? kDctCosines[j][i] : kDctCosines[i][j];
      constexpr float magnitude = weight < 0 ? -weight : weight;
      auto product = in.rows[j];
      if constexpr (requires { product.raw; }) {  // a vector of Highway
        if constexpr (magnitude != 1) {
          product = product * hwy::HWY_NAMESPACE::Set(hwy::HWY_NAMESPACE::DFromV<decltype(product)>(), magnitude);
        }
      } else {
        product = magnitude != 1 ? product * magnitude : product;
      }
      if constexpr (j == 0) {
        static_assert(weight > 0);
        out.rows[i] = product;
      } else {
        out.rows[i] = weight < 0 ? out.rows[i] - product : out.rows[i] + product;
      }
    });
  });
  return out;
}

}  // namespace
}  // namespace c63::cpu
