// Prefix scan. In the fast form, each thread takes the next tile of the values, loads it into the cache and sums it.
// The thread of the previous tile gives it the sum of all earlier tiles. It adds the sum of its own tile and passes the
// result on at once. Then it scans its tile, which is still in the cache. At the same time it sums the tile that it
// takes next. So memory is read once and written once, without pauses. Sums of doubles differ from those of the serial
// form in the last digits.

#include <atomic>
#include <utility>

#include "c63/filter_checks.h"
#include "c63/filters.h"
#include "c63/thread_pool.h"
#include "filters/clones.h"

namespace c63 {
namespace {

// Sums of integers must wrap around if they overflow, so integers are added as unsigned numbers.
template <typename T>
using Adder = std::conditional_t<std::is_floating_point_v<T>, T, std::uint32_t>;

template <typename T>
Adder<T> scan_serial(std::span<const T> values, T* out, Adder<T> total, bool inclusive) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Adder<T> before = total;
    total += static_cast<Adder<T>>(values[i]);
    out[i] = static_cast<T>(inclusive ? total : before);
  }
  return total;
}

C63_CLONES std::uint32_t tile_sum(const std::uint32_t* values, std::size_t count) {
  std::uint32_t total = 0;
  for (std::size_t i = 0; i < count; ++i) total += values[i];
  return total;
}
/// Returns the sum of a tile. scan_vectors() can also sum a tile, as `next`. Both add the values in the same order, so
/// the result does not depend on which of them is used.
C63_CLONES double tile_sum(const double* values, std::size_t count) {
  Vector<double> sums{};
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    Vector<double> x;
    std::memcpy(&x, values + i, sizeof x);
    sums += x;
  }
  double total = 0;
  for (std::size_t lane = 0; lane < 8; ++lane) total += sums[lane];
  for (; i < count; ++i) total += values[i];
  return total;
}

template <typename A>
struct ScanSums {
  A total;  ///< the sum after the last scanned value
  A next;   ///< the sum of the values at `next`
};

/// Sets `out` to vector x moved up by kBy lanes, with zeros below.
template <std::size_t kBy, typename V, std::size_t... kLane>
[[gnu::always_inline]] inline void move_up(const V& x, V& out, std::index_sequence<kLane...>) {
  out = __builtin_shufflevector(V{}, x, (sizeof...(kLane) + kLane - kBy)...);
}

/// Sets all lanes of `out` to the last lane of x.
template <typename V, std::size_t... kLane>
[[gnu::always_inline]] inline void spread_last(const V& x, V& out, std::index_sequence<kLane...>) {
  out = __builtin_shufflevector(x, x, (0 * kLane + sizeof...(kLane) - 1)...);
}

/// Scans whole vectors. An output is `before` plus the sum of the values before its place. If `inclusive` is true, it
/// includes the value at its place. `out` may be `in`. If `stream` is true, writes past the caches; the address `out` must
/// then be a multiple of 16. If `next` is not null, also sums the `count` values that begin there.
template <typename A>
[[gnu::always_inline]] inline ScanSums<A> scan_in_lanes(const A* in, A* out, std::size_t count, A before, bool inclusive,
                                                        bool stream, const A* next) {
  constexpr std::size_t kWidth = kLanesOf<A>;
  constexpr std::make_index_sequence<kWidth> kAll;
  const Vector<A> zero{};
  Vector<A> total = zero + before;
  Vector<A> next_total{};
  for (std::size_t i = 0; i < count; i += kWidth) {
    Vector<A> x;
    std::memcpy(&x, in + i, sizeof x);
    // To scan a vector, adds the vector moved up by 1 lane, then the result moved up by 2 lanes, and so on.
    Vector<A> up;
    move_up<1>(x, up, kAll);
    x += up;
    move_up<2>(x, up, kAll);
    x += up;
    move_up<4>(x, up, kAll);
    x += up;
    if constexpr (kWidth > 8) {
      move_up<8>(x, up, kAll);
      x += up;
    }
    Vector<A> last;
    spread_last(x, last, kAll);
    if (!inclusive) move_up<1>(Vector<A>(x), x, kAll);
    x += total;
    total += last;
    if (stream) {
      C63_STREAM_VECTOR(out + i, x);
    } else {
      std::memcpy(out + i, &x, sizeof x);
    }
    if (next != nullptr) {
      Vector<A> y;
      std::memcpy(&y, next + i, sizeof y);
      next_total += y;
    }
  }
  A sum = 0;
  for (std::size_t lane = 0; lane < kWidth; ++lane) sum += next_total[lane];
  return {total[0], sum};
}
C63_CLONES ScanSums<std::uint32_t> scan_vectors(const std::uint32_t* in, std::uint32_t* out, std::size_t count,
                                                std::uint32_t before, bool inclusive, bool stream, const std::uint32_t* next) {
  return scan_in_lanes(in, out, count, before, inclusive, stream, next);
}
C63_CLONES ScanSums<double> scan_vectors(const double* in, double* out, std::size_t count, double before, bool inclusive,
                                         bool stream, const double* next) {
  return scan_in_lanes(in, out, count, before, inclusive, stream, next);
}

template <typename T>
struct alignas(64) TilePrefix {
  Adder<T> before{};  ///< sum of all earlier tiles
  std::atomic<bool> ready{false};
};

template <typename T>
void scan_fast(std::span<const T> values, std::span<T> out, bool inclusive) {
  constexpr std::size_t kTileBytes = std::size_t{256} << 10;  // fits in the second-level cache
  constexpr std::size_t kTileValues = kTileBytes / sizeof(T);
  const std::size_t tiles = (values.size() + kTileValues - 1) / kTileValues;
  if (tiles <= 1) {
    scan_serial(values, out.data(), {}, inclusive);
    return;
  }
  const bool stream = streams(out.data(), out.size_bytes());
  const auto tile_at = [&](std::size_t tile) {
    return values.subspan(tile * kTileValues, std::min(kTileValues, values.size() - tile * kTileValues));
  };
  const auto raw = [](std::span<const T> tile) { return reinterpret_cast<const Adder<T>*>(tile.data()); };
  std::vector<TilePrefix<T>> prefixes(tiles + 1);
  prefixes[0].ready = true;
  std::atomic<std::size_t> next_tile{0};
  const auto work = [&] {
    std::size_t tile = next_tile++;
    if (tile >= tiles) return;
    Adder<T> sum = tile_sum(raw(tile_at(tile)), tile_at(tile).size());
    while (tile < tiles) {
      // Waits for the sum of all earlier tiles. Threads take the tiles in order, so another thread already works on the
      // previous tile. That thread does not wait for this tile, so there is no deadlock.
      prefixes[tile].ready.wait(false, std::memory_order_acquire);
      const Adder<T> before = prefixes[tile].before;
      prefixes[tile + 1].before = before + sum;
      prefixes[tile + 1].ready.store(true, std::memory_order_release);
      prefixes[tile + 1].ready.notify_one();

      const auto mine = tile_at(tile);
      T* to = out.data() + tile * kTileValues;
      tile = next_tile++;
      const auto next = tile < tiles ? tile_at(tile) : std::span<const T>();
      const bool together = next.size() == kTileValues;
      const std::size_t whole = mine.size() / kLanesOf<T> * kLanesOf<T>;
      const auto sums = scan_vectors(raw(mine), reinterpret_cast<Adder<T>*>(to), whole, before, inclusive, stream,
                                     together ? raw(next) : nullptr);
      scan_serial(mine.subspan(whole), to + whole, sums.total, inclusive);
      sum = together ? sums.next : tile_sum(raw(next), next.size());
    }
    if (stream) stream_end();
  };
  parallel_for(ThreadPool::current().concurrency(), [&](int) { work(); });
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
