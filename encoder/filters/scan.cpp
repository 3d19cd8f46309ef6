// Prefix scan. In the fast form each thread takes the next tile, adds it up while it comes into the cache, gets the sum
// of all before it from the tile before, hands its own on at once, and scans the tile from the cache: memory is read
// once and written once.
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <atomic>
#include <thread>

#include "c63/filters.h"
#include "filters/checks.h"
#include "filters/clones.h"

namespace c63 {
namespace {

// Integers wrap: they are added as unsigned.
template <typename T>
using Adder = std::conditional_t<std::is_floating_point_v<T>, T, std::uint32_t>;

template <typename T>
Adder<T> scan_serial(std::span<const T> values, T* out, Adder<T> total, bool inclusive) {
  if (inclusive) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      total += static_cast<Adder<T>>(values[i]);
      out[i] = static_cast<T>(total);
    }
  } else {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto value = static_cast<Adder<T>>(values[i]);
      out[i] = static_cast<T>(total);
      total += value;
    }
  }
  return total;
}

C63_CLONES std::uint32_t tile_sum(const std::uint32_t* values, std::size_t count) {
  std::uint32_t total = 0;
  for (std::size_t i = 0; i < count; ++i) total += values[i];
  return total;
}
C63_CLONES double tile_sum(const double* values, std::size_t count) {
  constexpr std::size_t kLanes = 32;
  double lanes[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::size_t k = 0; k < kLanes; ++k) lanes[k] += values[i + k];
  }
  double total = 0;
  for (; i < count; ++i) total += values[i];
  for (const double lane : lanes) total += lane;
  return total;
}

template <typename T>
struct alignas(64) TilePrefix {
  Adder<T> before{};  ///< sum of all tiles before
  std::atomic<bool> ready{false};
};

template <typename T>
void scan_fast(std::span<const T> values, std::span<T> out, bool inclusive) {
  constexpr std::size_t kTileBytes = std::size_t{256} << 10;  // stays in the second cache
  constexpr std::size_t kTile = kTileBytes / sizeof(T);
  const std::size_t tiles = (values.size() + kTile - 1) / kTile;
  if (tiles <= 1) {
    scan_serial(values, out.data(), {}, inclusive);
    return;
  }
  const bool stream = out.size_bytes() >= kStreamBytes;
  std::vector<TilePrefix<T>> prefixes(tiles + 1);
  prefixes[0].ready = true;
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    std::vector<T> piece(2048);
    for (std::size_t tile = next++; tile < tiles; tile = next++) {
      const std::size_t first = tile * kTile;
      const auto mine = values.subspan(first, std::min(kTile, values.size() - first));
      const auto* raw = reinterpret_cast<const Adder<T>*>(mine.data());
      const Adder<T> sum = tile_sum(raw, mine.size());
      // Tiles are taken in order, so the one before is in some thread's hands and does not wait for this one.
      while (!prefixes[tile].ready.load(std::memory_order_acquire)) std::this_thread::yield();
      Adder<T> total = prefixes[tile].before;
      prefixes[tile + 1].before = total + sum;
      prefixes[tile + 1].ready.store(true, std::memory_order_release);
      for (std::size_t i = 0; i < mine.size(); i += piece.size()) {
        const auto part = mine.subspan(i, std::min(piece.size(), mine.size() - i));
        T* target = stream ? piece.data() : out.data() + first + i;
        total = scan_serial(part, target, total, inclusive);
        if (stream) stream_out(out.data() + first + i, target, part.size_bytes());
      }
    }
    if (stream) stream_end();
  };
  tbb::parallel_for(0, tbb::this_task_arena::max_concurrency(), [&](int) { work(); });
}

template <typename T>
void scan(std::span<const T> values, std::span<T> out, FilterForm form, bool inclusive) {
  check_same_length(values.size(), "the values", out.size(), "the output");
  if (values.data() != out.data()) {
    check_apart(values.data(), values.size_bytes(), out.data(), out.size_bytes());
  }
  if (form == FilterForm::serial) {
    scan_serial(values, out.data(), {}, inclusive);
  } else {
    scan_fast(values, out, inclusive);
  }
}

}  // namespace

template <typename T>
void inclusive_scan(std::span<const T> values, std::span<T> out, FilterForm form) {
  scan(values, out, form, true);
}

template <typename T>
void exclusive_scan(std::span<const T> values, std::span<T> out, FilterForm form) {
  scan(values, out, form, false);
}

#define C63_INSTANTIATE(T)                                                        \
  template void inclusive_scan<T>(std::span<const T>, std::span<T>, FilterForm);  \
  template void exclusive_scan<T>(std::span<const T>, std::span<T>, FilterForm);
C63_INSTANTIATE(std::int32_t)
C63_INSTANTIATE(std::uint32_t)
C63_INSTANTIATE(double)
#undef C63_INSTANTIATE

}  // namespace c63
