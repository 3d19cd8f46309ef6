#include "io/copy_in_pieces.h"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace c63 {
namespace {

constexpr std::size_t kPiece = 256 << 10;

#if defined(__SSE2__)
/// Stores go to memory without the line being fetched first: two thirds of the traffic.
void copy_past_caches(const std::uint8_t* from, std::uint8_t* to, std::size_t count) {
  const std::size_t head = std::min(count, static_cast<std::size_t>(-reinterpret_cast<std::uintptr_t>(to) & 15));
  std::memcpy(to, from, head);
  std::size_t i = head;
  for (; i + 64 <= count; i += 64) {
    const auto* source = reinterpret_cast<const __m128i*>(from + i);
    auto* target = reinterpret_cast<__m128i*>(to + i);
    const __m128i a = _mm_loadu_si128(source);
    const __m128i b = _mm_loadu_si128(source + 1);
    const __m128i c = _mm_loadu_si128(source + 2);
    const __m128i d = _mm_loadu_si128(source + 3);
    _mm_stream_si128(target, a);
    _mm_stream_si128(target + 1, b);
    _mm_stream_si128(target + 2, c);
    _mm_stream_si128(target + 3, d);
  }
  std::memcpy(to + i, from + i, count - i);
  _mm_sfence();
}
#else
void copy_past_caches(const std::uint8_t* from, std::uint8_t* to, std::size_t count) { std::memcpy(to, from, count); }
#endif

}  // namespace

void copy_in_pieces(std::span<const std::uint8_t> from, std::span<std::uint8_t> to) {
  if (from.size() < 2 * kPiece) {
    std::ranges::copy(from, to.begin());
    return;
  }
  oneapi::tbb::parallel_for(std::size_t{0}, (from.size() + kPiece - 1) / kPiece, [&](std::size_t i) {
    const std::size_t first = i * kPiece;
    copy_past_caches(from.data() + first, to.data() + first, std::min(kPiece, from.size() - first));
  });
}

}  // namespace c63
