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

/// Returns eight samples of each of `kCount` blocks or rows. of(b) returns those of number b.
template <int kCount, int kFirst = 0, typename Of>
[[gnu::always_inline]] inline auto eights(Of&& of) {
  if constexpr (kCount == 1) {
    return of(kFirst);
  } else {
    const hn::Simd<std::uint8_t, 8 * kCount, 0> d;
    return hn::Combine(d, eights<kCount / 2, kFirst + kCount / 2>(of), eights<kCount / 2, kFirst>(of));
  }
}

/// Splits a register into parts of kLanes numbers, and calls f(part, its index) for each.
template <std::size_t kLanes, typename D, typename F>
[[gnu::always_inline]] inline void split(D d, hn::Vec<D> v, F&& f, std::size_t first = 0) {
  if constexpr (hn::MaxLanes(d) == kLanes) {
    f(v, first);
  } else {
    const hn::Half<D> half;
    split<kLanes>(half, hn::LowerHalf(half, v), f, first);
    split<kLanes>(half, hn::UpperHalf(half, v), f, first + hn::MaxLanes(half) / kLanes);
  }
}

/// Truncates numbers to integers. On x86, hn::ConvertTo() takes longer, because it also limits them.
template <typename V>
[[gnu::always_inline]] inline auto truncated(V v) {
  const hn::RebindToSigned<hn::DFromV<V>> d;
#if defined(C63_SIMD_X86)
  using Raw = decltype(hn::Zero(d).raw);
  using Numbers __attribute__((vector_size(sizeof(V)))) = std::int32_t;
  return hn::Vec<decltype(d)>{(Raw)__builtin_convertvector(v.raw, Numbers)};
#else
  return hn::ConvertTo(d, v);
#endif
}

}  // namespace portable
}  // namespace
}  // namespace c63::cpu
