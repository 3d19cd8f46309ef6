#pragma once

// Prefix codes on the device, and how eight threads write the codes of one block.

#include <cuda_runtime.h>

#include <cstdint>

#include "codec/vlc.h"

namespace c63::cuda {

/// The tables of prefix codes. A code is one word: bits 0 to 15 are the code's bits, and the bits above are its length.
struct CodeTables {
  std::uint32_t ac[2][256];  ///< luma, chroma; by symbol
  std::uint32_t dc[2][16];   ///< luma (and vectors), chroma; by size
};

constexpr std::uint32_t packed_code(VlcCode code) { return static_cast<std::uint32_t>(code.length) << 16 | code.bits; }

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

__device__ constexpr CodeTables kCodeTables = make_code_tables();

/// Copies the tables to shared memory. All `threads` threads of the thread block call it.
__device__ __forceinline__ void load_code_tables(CodeTables& tables, int threads) {
  constexpr int kWords = sizeof(CodeTables) / sizeof(std::uint32_t);
  for (int i = static_cast<int>(threadIdx.x); i < kWords; i += threads) {
    reinterpret_cast<std::uint32_t*>(&tables)[i] = reinterpret_cast<const std::uint32_t*>(&kCodeTables)[i];
  }
}

/// Up to 32 bits to append to a stream, the most significant bit first.
struct BitRun {
  std::uint32_t bits = 0;
  int length = 0;

  __device__ __forceinline__ void put_before(std::uint32_t more, int count) {
    bits |= more << length;
    length += count;
  }
};

/// Returns a code of CodeTables, followed by the `size` bits of a value.
__device__ __forceinline__ BitRun code_with_value(std::uint32_t code, int value, int size) {
  return {(code & 0xFFFFU) << size | value_bits(value, size), static_cast<int>(code >> 16) + size};
}

/// Writes a run into words that were zero, from bit `position` on. Uses atomic ORs, because other threads may write
/// other bits of the same words at the same time.
__device__ __forceinline__ void put_run(std::uint32_t* words, int position, BitRun run) {
  if (run.length == 0) return;
  const std::uint32_t top = run.bits << (32 - run.length);
  std::uint32_t* const word = words + (position >> 5);
  const unsigned shift = static_cast<unsigned>(position) & 31U;
  atomicOr(word, top >> shift);
  const std::uint32_t rest = __funnelshift_r(0, top, shift);
  if (rest != 0) atomicOr(word + 1, rest);
}

}  // namespace c63::cuda
