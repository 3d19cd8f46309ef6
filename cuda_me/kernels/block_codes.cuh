#pragma once

// Prefix codes on the device, and how eight threads write the codes of one block.

#include <cuda_runtime.h>

#include <cstdint>

#include "codec/vlc.h"

namespace c63::cuda {

/// A code as one word: its bits, and its length from bit 16 on.
struct CodeTables {
  std::uint32_t ac[2][256];  ///< luma, chroma; by symbol
  std::uint32_t dc[2][16];   ///< luma (and vectors), chroma; by size
};

constexpr std::uint32_t packed_code(VlcCode code) {
  return static_cast<std::uint32_t>(code.length) << 16 | code.bits;
}

constexpr CodeTables make_code_tables() {
  CodeTables tables{};
  for (int symbol = 0; symbol < 256; ++symbol) {
    tables.ac[0][symbol] = packed_code(kAcLumaCodes[symbol]);
    tables.ac[1][symbol] = packed_code(kAcChromaCodes[symbol]);
  }
  for (int size = 0; size < 12; ++size) {
    tables.dc[0][size] = packed_code(kDcLumaCodes[size]);
    tables.dc[1][size] = packed_code(kDcChromaCodes[size]);
  }
  return tables;
}

/// A few bits on their way into a stream, most significant first; at most 64.
struct BitRun {
  unsigned long long bits = 0;
  int length = 0;

  __device__ __forceinline__ void append(std::uint32_t more, int count) {
    bits = bits << count | more;
    length += count;
  }
  /// A packed code and the `size` value bits behind it.
  __device__ __forceinline__ void append_code(std::uint32_t code, int value, int size) {
    append((code & 0xFFFFU) << size | value_bits(value, size), static_cast<int>(code >> 16) + size);
  }
};

/// ORs a run into zeroed words from bit `position` on; other threads may write other bits of the same words.
__device__ __forceinline__ void put_run(std::uint32_t* words, int position, BitRun run) {
  if (run.length == 0) return;
  const unsigned long long top = run.bits << (64 - run.length);
  std::uint32_t* const word = words + (position >> 5);
  const int shift = position & 31;
  const unsigned long long first = top >> shift;
  const auto w0 = static_cast<std::uint32_t>(first >> 32);
  const auto w1 = static_cast<std::uint32_t>(first);
  if (w0 != 0) atomicOr(word, w0);
  if (w1 != 0) atomicOr(word + 1, w1);
  if (shift + run.length > 64) atomicOr(word + 2, static_cast<std::uint32_t>(top << (32 - shift)));
}

}  // namespace c63::cuda
