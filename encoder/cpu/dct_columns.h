#pragma once

#include "codec/dct.h"
#include "cpu/unroll.h"

namespace c63::cpu {
namespace {

/// One pass over all columns of `Block` with GCC's vector operators. Its `rows` are eight registers of binary32. Output
/// i is Σ_j input j times the weight of j in i, with products in ascending order; each product and each sum is rounded.
/// The weights of input 0 (inverse) and of output 0 (forward) are one. The weights of two outputs often differ only in
/// sign, so one product serves both: subtracting it equals adding the product with the negative weight.
///
/// Inputs from kInputs on are taken as zero. They would add zeros to every sum, which can only change its sign.
template <bool kForward, int kInputs = 8, typename Block>
[[gnu::always_inline]] inline Block transform_columns(const Block& in) {
  Block out;
  unroll<kInputs>([&](auto j) __attribute__((always_inline)) {
    unroll<8>([&](auto i) __attribute__((always_inline)) {
      constexpr float weight = kForward ? kDctCosines[j][i] : kDctCosines[i][j];
      constexpr float magnitude = weight < 0 ? -weight : weight;
      auto product = in.rows[j];
      if constexpr (magnitude != 1) product = product * magnitude;
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
