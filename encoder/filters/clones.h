#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

// A function with C63_CLONES is compiled once for each of these instruction sets. When a program starts, the loader
// chooses the best one that the machine has. These functions are plain loops, which the compiler vectorizes. Sanitizers
// start before the loader chooses, so with them only the default is compiled.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__SANITIZE_ADDRESS__)
#define C63_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define C63_CLONES
#endif

namespace c63 {

// Vectors of 64 bytes, which the compiler computes with as with numbers. It keeps one in a single register, or in two
// or four smaller ones.
template <typename T>
struct VectorOf {
  using type __attribute__((vector_size(64))) = T;
};
template <typename T>
using Vector = typename VectorOf<T>::type;
template <typename T>
inline constexpr std::size_t kLanesOf = 64 / sizeof(T);

/// C63_STREAM_VECTOR writes 64 bytes directly to memory, past the caches. Without SSE2, it is an ordinary store. The
/// address must be a multiple of 16.
#if defined(__SSE2__)
#define C63_STREAM_VECTOR(address, vector)                                              \
  do {                                                                                  \
    const auto raw_ = (c63::Vector<long long>)(vector);                                 \
    auto* to_ = reinterpret_cast<__m128i*>(address);                                    \
    _mm_stream_si128(to_, (__m128i)__builtin_shufflevector(raw_, raw_, 0, 1));          \
    _mm_stream_si128(to_ + 1, (__m128i)__builtin_shufflevector(raw_, raw_, 2, 3));      \
    _mm_stream_si128(to_ + 2, (__m128i)__builtin_shufflevector(raw_, raw_, 4, 5));      \
    _mm_stream_si128(to_ + 3, (__m128i)__builtin_shufflevector(raw_, raw_, 6, 7));      \
  } while (false)
#else
#define C63_STREAM_VECTOR(address, vector) std::memcpy(address, &(vector), 64)
#endif

/// Copies `bytes` bytes to memory past the caches; for large outputs. Without SSE2, it is an ordinary copy. A normal
/// store would first read each cache line of the output from memory.
inline void stream_out(void* to, const void* from, std::size_t bytes) {
#if defined(__SSE2__)
  auto* out = static_cast<std::uint8_t*>(to);
  const auto* in = static_cast<const std::uint8_t*>(from);
  const std::size_t head = (16 - reinterpret_cast<std::uintptr_t>(out) % 16) % 16;
  if (bytes < 64 + head) {
    std::memcpy(out, in, bytes);
    return;
  }
  std::memcpy(out, in, head);
  std::size_t i = head;
  for (; i + 16 <= bytes; i += 16) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(out + i), _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i)));
  }
  std::memcpy(out + i, in + i, bytes - i);
#else
  std::memcpy(to, from, bytes);
#endif
}

/// Makes the output visible to other threads. Call it in each thread after its last stream_out().
inline void stream_end() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

/// Returns true if an output should be written past the caches: it has at least 8 MiB, which is too large for a cache,
/// and its address is a multiple of 16.
[[nodiscard]] inline bool streams(const void* out, std::size_t bytes) {
  return bytes >= std::size_t{8} << 20 && reinterpret_cast<std::uintptr_t>(out) % 16 == 0;
}

}  // namespace c63
