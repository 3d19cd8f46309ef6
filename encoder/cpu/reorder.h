#pragma once

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "cpu/unroll.h"

namespace c63::cpu {
namespace {
namespace portable {

namespace hn = hwy::HWY_NAMESPACE;

/// Controls of table look-ups that reorder 64 16-bit values in eight registers: value 8·o + i of the output is value
/// order(8·o + i) of the input.
struct Reordering {
  /// The control for [output register][input register]; 0x80 if the value is in another input register.
  alignas(16) std::uint8_t bytes[8][8][16];
  bool used[8][8];

  template <typename Order>
  constexpr explicit Reordering(const Order& order) : bytes(), used() {
    for (std::size_t o = 0; o < 8; ++o) {
      for (std::size_t from = 0; from < 8; ++from) {
        for (std::size_t i = 0; i < 8; ++i) {
          const bool here = order(8 * o + i) / 8 == from;
          used[o][from] = used[o][from] || here;
          for (std::size_t b = 0; b < 2; ++b) {
            bytes[o][from][2 * i + b] = static_cast<std::uint8_t>(here ? order(8 * o + i) % 8 * 2 + b : 0x80);
          }
        }
      }
    }
  }
};

/// Returns register o of the reordered values. If registers have several lanes of 128 bits, each lane is reordered by
/// itself.
template <const Reordering& kOrder, int o, typename D>
[[gnu::always_inline]] inline hn::Vec<D> reordered(D d, const hn::Vec<D> (&in)[8]) {
  const hn::Repartition<std::uint8_t, D> bytes;
  auto sum = hn::Zero(bytes);
  unroll<8>([&](auto from) __attribute__((always_inline)) {
    if constexpr (kOrder.used[o][from]) {
      const auto control = hn::LoadDup128(bytes, kOrder.bytes[o][from]);
      sum = hn::Or(sum, hn::TableLookupBytesOr0(hn::BitCast(bytes, in[from]), control));
    }
  });
  return hn::BitCast(d, sum);
}

}  // namespace portable
}  // namespace
}  // namespace c63::cpu
