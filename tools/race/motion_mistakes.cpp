#include "race/motion_mistakes.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <tuple>

#include "codec/search_window.h"

namespace c63 {
namespace {

using Found = std::optional<MotionVector>;

/// Computes how much a candidate differs from the block: the exact SAD, or a wrong one.
using SadFunction = std::uint32_t (*)(const std::uint8_t* current, std::ptrdiff_t current_pitch,
                                      const std::uint8_t* reference, std::ptrdiff_t reference_pitch);

template <int kWidth = 8, int kHeight = 8, int kRowStep = 1, typename Difference>
std::uint32_t sum_of(const std::uint8_t* a, std::ptrdiff_t a_pitch, const std::uint8_t* b, std::ptrdiff_t b_pitch,
                     Difference difference) {
  std::uint32_t sum = 0;
  for (int y = 0; y < kHeight; y += kRowStep) {
    for (int x = 0; x < kWidth; ++x) {
      sum += static_cast<std::uint32_t>(difference(int{a[y * a_pitch + x]}, int{b[y * b_pitch + x]}));
    }
  }
  return sum;
}

constexpr auto kAbsolute = [](int a, int b) { return a > b ? a - b : b - a; };

std::uint32_t sad_exact(const std::uint8_t* a, std::ptrdiff_t ap, const std::uint8_t* b, std::ptrdiff_t bp) {
  return sum_of(a, ap, b, bp, kAbsolute);
}
std::uint32_t sad_squares(const std::uint8_t* a, std::ptrdiff_t ap, const std::uint8_t* b, std::ptrdiff_t bp) {
  return sum_of(a, ap, b, bp, [](int x, int y) { return (x - y) * (x - y); });
}
std::uint32_t sad_signed_samples(const std::uint8_t* a, std::ptrdiff_t ap, const std::uint8_t* b, std::ptrdiff_t bp) {
  return sum_of(a, ap, b, bp,
                [](int x, int y) { return kAbsolute(static_cast<std::int8_t>(x), static_cast<std::int8_t>(y)); });
}
std::uint32_t sad_wrapped_differences(const std::uint8_t* a, std::ptrdiff_t ap, const std::uint8_t* b,
                                      std::ptrdiff_t bp) {
  return sum_of(a, ap, b, bp, [](int x, int y) { return static_cast<std::uint8_t>(x - y); });
}
std::uint32_t sad_wrapped_the_other_way(const std::uint8_t* a, std::ptrdiff_t ap, const std::uint8_t* b,
                                        std::ptrdiff_t bp) {
  return sum_of(a, ap, b, bp, [](int x, int y) { return static_cast<std::uint8_t>(y - x); });
}
std::uint32_t sad_narrow_differences(const std::uint8_t* a, std::ptrdiff_t ap, const std::uint8_t* b,
                                     std::ptrdiff_t bp) {
  return sum_of(a, ap, b, bp, [](int x, int y) { return std::abs(static_cast<std::int8_t>(x - y)); });
}
std::uint32_t sad_without_abs(const std::uint8_t* a, std::ptrdiff_t ap, const std::uint8_t* b, std::ptrdiff_t bp) {
  const auto sum = static_cast<std::int32_t>(sum_of(a, ap, b, bp, [](int x, int y) { return x - y; }));
  return static_cast<std::uint32_t>(std::abs(sum));
}
std::uint32_t sad_8_bits(const std::uint8_t* a, std::ptrdiff_t ap, const std::uint8_t* b, std::ptrdiff_t bp) {
  return sad_exact(a, ap, b, bp) & 0xFFU;
}
std::uint32_t sad_12_bits(const std::uint8_t* a, std::ptrdiff_t ap, const std::uint8_t* b, std::ptrdiff_t bp) {
  return sad_exact(a, ap, b, bp) & 0xFFFU;
}
std::uint32_t sad_saturated(const std::uint8_t* a, std::ptrdiff_t ap, const std::uint8_t* b, std::ptrdiff_t bp) {
  return std::min(sad_exact(a, ap, b, bp), 255U);
}

/// The order of candidates with the same SAD: the first of them is kept.
enum class Order { raster, reversed, columns, nearest, zero_first };

template <Order kOrder>
auto place_in_order(const SearchedBlock& block, int x, int y) {
  const int dx = x - block.column * kBlockSize;
  const int dy = y - block.row * kBlockSize;
  if constexpr (kOrder == Order::raster) return std::tuple(0, y, x);
  if constexpr (kOrder == Order::reversed) return std::tuple(0, -y, -x);
  if constexpr (kOrder == Order::columns) return std::tuple(0, x, y);
  if constexpr (kOrder == Order::nearest) return std::tuple(dx * dx + dy * dy, y, x);
  if constexpr (kOrder == Order::zero_first) return std::tuple(dx == 0 && dy == 0 ? 0 : 1, y, x);
}

SearchWindow window_of(const SearchedBlock& b) {
  return search_window(b.column, b.row, b.current.width, b.current.height, b.range);
}

/// Returns the candidates of a window whose blocks lie inside the plane.
SearchWindow readable(const SearchedBlock& b, SearchWindow w) {
  return {std::max(w.left, 0), std::max(w.top, 0), std::min(w.right, b.current.width - kBlockSize + 1),
          std::min(w.bottom, b.current.height - kBlockSize + 1)};
}

/// Searches those candidates of `window` that lie in the plane and for which tried(x, y) returns true.
template <Order kOrder = Order::raster, SadFunction kSad = sad_exact, typename Tried>
Found search(const SearchedBlock& b, SearchWindow window, const Tried& tried) {
  const SearchWindow w = readable(b, window);
  const int own_x = b.column * kBlockSize;
  const int own_y = b.row * kBlockSize;
  if (w.empty()) return MotionVector{};
  const std::uint8_t* const current = &b.current.at(own_x, own_y);
  bool any = false;
  std::uint32_t least = 0;
  decltype(place_in_order<kOrder>(b, 0, 0)) place{};
  MotionVector best;
  for (int y = w.top; y < w.bottom; ++y) {
    for (int x = w.left; x < w.right; ++x) {
      if (!tried(x, y)) continue;
      const std::uint32_t sad = kSad(current, b.current.pitch, &b.reference.at(x, y), b.reference.pitch);
      if (any && sad > least) continue;
      const auto here = place_in_order<kOrder>(b, x, y);
      if (any && sad == least && !(here < place)) continue;
      any = true;
      least = sad;
      place = here;
      best = {static_cast<std::int8_t>(x - own_x), static_cast<std::int8_t>(y - own_y)};
    }
  }
  return best;
}

template <Order kOrder = Order::raster, SadFunction kSad = sad_exact>
Found search(const SearchedBlock& b, SearchWindow window) {
  return search<kOrder, kSad>(b, window, [](int, int) { return true; });
}

/// Searches only the first `count` candidates of the window, in raster order.
Found search_first(const SearchedBlock& b, int count) {
  const SearchWindow w = window_of(b);
  const int width = w.right - w.left;
  if (w.empty() || width * (w.bottom - w.top) <= count) return std::nullopt;
  return search(b, w, [&](int x, int y) { return (y - w.top) * width + x - w.left < count; });
}

Found with_range(const SearchedBlock& b, int range) {
  if (range == b.range || range < 1) return std::nullopt;
  SearchedBlock other = b;
  other.range = range;
  return search(b, window_of(other));
}

/// Searches as if a plane's width were its pitch, in one plane or both.
Found with_width_as_pitch(const SearchedBlock& b, bool current, bool reference) {
  const bool changes =
      (current && b.current.pitch != b.current.width) || (reference && b.reference.pitch != b.reference.width);
  if (!changes) return std::nullopt;
  SearchedBlock other = b;
  if (current) other.current.pitch = b.current.width;
  if (reference) other.reference.pitch = b.reference.width;
  return search(other, window_of(b));
}

Found exact_of(const SearchedBlock& b, int block) {
  if (block < 0 || block >= static_cast<int>(b.exact.size())) return std::nullopt;
  return b.exact[static_cast<std::size_t>(block)];
}
int number_of(const SearchedBlock& b) { return b.row * (b.current.width / kBlockSize) + b.column; }

SearchWindow changed(const SearchedBlock& b, int left, int top, int right, int bottom) {
  const SearchWindow w = window_of(b);
  return {w.left + left, w.top + top, w.right + right, w.bottom + bottom};
}

/// Returns the block's window with wrong bounds: each is moved by this many samples. The wrong window is cut at the
/// plane's edges, as a right one is.
SearchWindow reaching(const SearchedBlock& b, int left, int top, int right, int bottom) {
  const int x = b.column * kBlockSize;
  const int y = b.row * kBlockSize;
  return {std::max(0, x - b.range + left), std::max(0, y - b.range + top),
          std::min(b.current.width - kBlockSize, x + b.range + right),
          std::min(b.current.height - kBlockSize, y + b.range + bottom)};
}

/// Returns the window with more candidates: those that touch the plane's right or bottom border, or both. The codec
/// excludes them.
SearchWindow to_border(const SearchedBlock& b, bool right, bool bottom) {
  const SearchWindow w = window_of(b);
  const SearchWindow whole = whole_search_window(b.column, b.row, b.current.width, b.current.height, b.range);
  return {w.left, w.top, right ? whole.right : w.right, bottom ? whole.bottom : w.bottom};
}

/// Returns a window of full size, which is moved into the plane if it leaves it. The codec cuts such a window instead.
SearchWindow moved_in(const SearchedBlock& b) {
  const auto moved = [](int own, int range, int last) {
    int first = own - range;
    int end = own + range;
    if (first < 0) {
      end -= first;
      first = 0;
    }
    if (end > last) {
      first -= end - last;
      end = last;
    }
    return std::pair(std::max(first, 0), end);
  };
  const auto [left, right] = moved(b.column * kBlockSize, b.range, b.current.width - kBlockSize);
  const auto [top, bottom] = moved(b.row * kBlockSize, b.range, b.current.height - kBlockSize);
  return {left, top, right, bottom};
}

MotionVector wrapped(MotionVector v, int bits) {
  const int half = 1 << (bits - 1);
  const auto wrap = [half](int c) { return static_cast<std::int8_t>(((c + half) & (2 * half - 1)) - half); };
  return {wrap(v.x), wrap(v.y)};
}

template <SadFunction kSad>
Found with_sad(const SearchedBlock& b) {
  return search<Order::raster, kSad>(b, window_of(b));
}

template <int kWidth, int kHeight, int kRowStep = 1>
std::uint32_t sad_of_part(const std::uint8_t* a, std::ptrdiff_t ap, const std::uint8_t* b, std::ptrdiff_t bp) {
  return sum_of<kWidth, kHeight, kRowStep>(a, ap, b, bp, kAbsolute);
}

/// Starts at the zero vector, or at the candidate nearest to it. Moves to the best of the eight neighbours, until no
/// neighbour is better. Many fast searches end with such steps.
Found descend(const SearchedBlock& b) {
  const SearchWindow w = window_of(b);
  if (w.empty()) return MotionVector{};
  int x = std::clamp(b.column * kBlockSize, w.left, w.right - 1);
  int y = std::clamp(b.row * kBlockSize, w.top, w.bottom - 1);
  for (;;) {
    const Found next = search(
        b, {std::max(w.left, x - 1), std::max(w.top, y - 1), std::min(w.right, x + 2), std::min(w.bottom, y + 2)});
    const int next_x = b.column * kBlockSize + next->x;
    const int next_y = b.row * kBlockSize + next->y;
    if (next_x == x && next_y == y) return next;
    const auto sad_at = [&](int px, int py) {
      return sad_exact(&b.current.at(b.column * kBlockSize, b.row * kBlockSize), b.current.pitch,
                       &b.reference.at(px, py), b.reference.pitch);
    };
    if (sad_at(next_x, next_y) >= sad_at(x, y))
      return MotionVector{static_cast<std::int8_t>(x - b.column * kBlockSize),
                          static_cast<std::int8_t>(y - b.row * kBlockSize)};
    x = next_x;
    y = next_y;
  }
}

constexpr std::array kMistakes = {
    // Mistakes in the order of candidates with equal SAD.
    MotionMistake{"last-of-equals",
                  "of candidates with equal SAD the last is kept: compare with <, not <=, and let a reduction prefer "
                  "the lower candidate",
                  [](const SearchedBlock& b) { return search<Order::reversed>(b, window_of(b)); }},
    MotionMistake{
        "columns-first",
        "of candidates with equal SAD the leftmost is kept: go through rows outside and columns inside (y, then x)",
        [](const SearchedBlock& b) { return search<Order::columns>(b, window_of(b)); }},
    MotionMistake{"zero-preferred",
                  "of candidates with equal SAD the zero vector is kept: the codec keeps the first in raster order",
                  [](const SearchedBlock& b) { return search<Order::zero_first>(b, window_of(b)); }},
    MotionMistake{"shortest-preferred",
                  "of candidates with equal SAD the shortest vector is kept: the codec keeps the first in raster order",
                  [](const SearchedBlock& b) { return search<Order::nearest>(b, window_of(b)); }},

    // Mistakes in a bound of the window.
    MotionMistake{"window-left-short",
                  "the window begins one column too late: its first column is x = max(0, 8*bx - range)",
                  [](const SearchedBlock& b) { return search(b, changed(b, 1, 0, 0, 0)); }},
    MotionMistake{"window-top-short", "the window begins one row too late: its first row is y = max(0, 8*by - range)",
                  [](const SearchedBlock& b) { return search(b, changed(b, 0, 1, 0, 0)); }},
    MotionMistake{"window-right-short",
                  "the window ends one column too early: its last column is min(w - 8, 8*bx + range) - 1",
                  [](const SearchedBlock& b) { return search(b, changed(b, 0, 0, -1, 0)); }},
    MotionMistake{"window-bottom-short",
                  "the window ends one row too early: its last row is min(h - 8, 8*by + range) - 1",
                  [](const SearchedBlock& b) { return search(b, changed(b, 0, 0, 0, -1)); }},
    MotionMistake{"reach-left-short",
                  "the window begins at 8*bx - range + 1 away from the left edge: vectors go down to -range",
                  [](const SearchedBlock& b) { return search(b, reaching(b, 1, 0, 0, 0)); }},
    MotionMistake{"reach-top-short",
                  "the window begins at 8*by - range + 1 away from the top edge: vectors go down to -range",
                  [](const SearchedBlock& b) { return search(b, reaching(b, 0, 1, 0, 0)); }},
    MotionMistake{"reach-right-short",
                  "the window ends at 8*bx + range - 2 away from the right edge: vectors go up to range - 1",
                  [](const SearchedBlock& b) { return search(b, reaching(b, 0, 0, -1, 0)); }},
    MotionMistake{"reach-bottom-short",
                  "the window ends at 8*by + range - 2 away from the bottom edge: vectors go up to range - 1",
                  [](const SearchedBlock& b) { return search(b, reaching(b, 0, 0, 0, -1)); }},
    MotionMistake{"range-inclusive-right",
                  "the window includes the vector component x = +range: its end is exclusive (<, not <=)",
                  [](const SearchedBlock& b) { return search(b, reaching(b, 0, 0, 1, 0)); }},
    MotionMistake{"range-inclusive-bottom",
                  "the window includes the vector component y = +range: its end is exclusive (<, not <=)",
                  [](const SearchedBlock& b) { return search(b, reaching(b, 0, 0, 0, 1)); }},
    MotionMistake{"range-inclusive",
                  "the window includes the vector components +range: its ends are exclusive (<, not <=)",
                  [](const SearchedBlock& b) { return search(b, reaching(b, 0, 0, 1, 1)); }},
    MotionMistake{
        "border-inclusive-right",
        "the window includes x = w - 8, the last column that fits: by the codec's rules it does not (<, not <=)",
        [](const SearchedBlock& b) { return search(b, to_border(b, true, false)); }},
    MotionMistake{"border-inclusive-bottom",
                  "the window includes y = h - 8, the last row that fits: by the codec's rules it does not (<, not <=)",
                  [](const SearchedBlock& b) { return search(b, to_border(b, false, true)); }},
    MotionMistake{"border-inclusive",
                  "the window includes x = w - 8 and y = h - 8: by the codec's rules it does not (<, not <=)",
                  [](const SearchedBlock& b) { return search(b, to_border(b, true, true)); }},
    MotionMistake{"window-inclusive", "all ends of the window are taken as inclusive (<=): they are exclusive (<)",
                  [](const SearchedBlock& b) { return search(b, changed(b, 0, 0, 1, 1)); }},
    MotionMistake{"edge-left-short", "at the left edge the window begins at x = 1: it begins at 0",
                  [](const SearchedBlock& b) {
                    const SearchWindow w = window_of(b);
                    return search(b, changed(b, w.left == 0 ? 1 : 0, 0, 0, 0));
                  }},
    MotionMistake{"edge-top-short", "at the top edge the window begins at y = 1: it begins at 0",
                  [](const SearchedBlock& b) {
                    const SearchWindow w = window_of(b);
                    return search(b, changed(b, 0, w.top == 0 ? 1 : 0, 0, 0));
                  }},
    MotionMistake{"edge-right-short",
                  "at the right edge the window ends one column too early: its end is w - 8, exclusive",
                  [](const SearchedBlock& b) {
                    const SearchWindow w = window_of(b);
                    return search(b, changed(b, 0, 0, w.right == b.current.width - 8 ? -1 : 0, 0));
                  }},
    MotionMistake{"edge-bottom-short",
                  "at the bottom edge the window ends one row too early: its end is h - 8, exclusive",
                  [](const SearchedBlock& b) {
                    const SearchWindow w = window_of(b);
                    return search(b, changed(b, 0, 0, 0, w.bottom == b.current.height - 8 ? -1 : 0));
                  }},
    MotionMistake{"window-moved", "at an edge the window is moved into the plane: it must be cut",
                  [](const SearchedBlock& b) { return search(b, moved_in(b)); }},

    // Mistakes with the range.
    MotionMistake{
        "range-doubled",
        "twice the range is searched: chroma planes have half of luma's range, and the job's range is already halved",
        [](const SearchedBlock& b) { return with_range(b, 2 * b.range); }},
    MotionMistake{"range-halved", "half the range is searched: the job's range is already that of the plane",
                  [](const SearchedBlock& b) { return with_range(b, b.range / 2); }},
    MotionMistake{"range-fixed-16", "range 16 is searched everywhere: take the job's range, which is 8 for chroma",
                  [](const SearchedBlock& b) { return with_range(b, 16); }},
    MotionMistake{"range-fixed-8", "range 8 is searched everywhere: take the job's range",
                  [](const SearchedBlock& b) { return with_range(b, 8); }},
    MotionMistake{"range-short", "the range is one too small on all sides",
                  [](const SearchedBlock& b) { return with_range(b, b.range - 1); }},
    MotionMistake{"range-long", "the range is one too large on all sides",
                  [](const SearchedBlock& b) { return with_range(b, b.range + 1); }},

    // Mistakes that leave out candidates.
    MotionMistake{"candidates-256",
                  "only the first 256 candidates of a window are tried: let each thread continue in steps of the "
                  "number of threads",
                  [](const SearchedBlock& b) { return search_first(b, 256); }},
    MotionMistake{"candidates-512",
                  "only the first 512 candidates of a window are tried: let each thread continue in steps of the "
                  "number of threads",
                  [](const SearchedBlock& b) { return search_first(b, 512); }},
    MotionMistake{"candidates-1024", "only the first 1024 candidates of a window are tried: ranges above 16 have more",
                  [](const SearchedBlock& b) { return search_first(b, 1024); }},
    MotionMistake{"every-second", "only every second column and row of the window is tried",
                  [](const SearchedBlock& b) {
                    const SearchWindow w = window_of(b);
                    return search(b, w, [&](int x, int y) { return (x - w.left) % 2 == 0 && (y - w.top) % 2 == 0; });
                  }},
    MotionMistake{"zero-only", "the vectors are all zero: nothing is searched, or nothing is stored",
                  [](const SearchedBlock&) -> Found { return MotionVector{}; }},

    // Mistakes in the difference of blocks.
    MotionMistake{"squares", "squares of differences are summed: the codec sums absolute differences",
                  with_sad<sad_squares>},
    MotionMistake{"without-abs", "differences are summed without their absolute value", with_sad<sad_without_abs>},
    MotionMistake{"wrapped-difference",
                  "differences of unsigned bytes wrap below zero: take them as int, then the absolute value",
                  with_sad<sad_wrapped_differences>},
    MotionMistake{"wrapped-difference",
                  "differences of unsigned bytes wrap below zero: take them as int, then the absolute value",
                  with_sad<sad_wrapped_the_other_way>},
    MotionMistake{"narrow-difference",
                  "differences are kept in a signed byte, which overflows at 128: take them as int",
                  with_sad<sad_narrow_differences>},
    MotionMistake{"signed-samples", "samples are read as signed char: they are unsigned", with_sad<sad_signed_samples>},
    MotionMistake{"sad-8-bits", "SADs are kept in 8 bits and overflow: they go up to 16320", with_sad<sad_8_bits>},
    MotionMistake{"sad-12-bits", "SADs are kept in 12 bits and overflow: they go up to 16320, which takes 14",
                  with_sad<sad_12_bits>},
    MotionMistake{"sad-saturated", "SADs are saturated at 255: they go up to 16320", with_sad<sad_saturated>},
    MotionMistake{"seven-rows", "the last row of the block is left out of the SAD", with_sad<sad_of_part<8, 7>>},
    MotionMistake{"seven-columns", "the last column of the block is left out of the SAD", with_sad<sad_of_part<7, 8>>},
    MotionMistake{"half-block", "the lower half of the block is left out of the SAD", with_sad<sad_of_part<8, 4>>},
    MotionMistake{"half-width", "the right half of the block is left out of the SAD", with_sad<sad_of_part<4, 8>>},
    MotionMistake{"every-second-row", "every second row of the block is left out of the SAD",
                  with_sad<sad_of_part<8, 8, 2>>},

    // Mistakes in addressing the planes.
    MotionMistake{"width-as-pitch", "rows are addressed by the width: their distance is the pitch",
                  [](const SearchedBlock& b) { return with_width_as_pitch(b, true, true); }},
    MotionMistake{"width-as-reference-pitch",
                  "rows of the reference are addressed by the width: their distance is the reference's pitch",
                  [](const SearchedBlock& b) { return with_width_as_pitch(b, false, true); }},
    MotionMistake{"width-as-current-pitch",
                  "rows of the current plane are addressed by the width: their distance is its pitch",
                  [](const SearchedBlock& b) { return with_width_as_pitch(b, true, false); }},
    MotionMistake{"current-pitch-for-both",
                  "the reference is addressed by the current plane's pitch: it has its own pitch",
                  [](const SearchedBlock& b) -> Found {
                    if (b.current.pitch >= b.reference.pitch) return std::nullopt;
                    SearchedBlock other = b;
                    other.reference.pitch = b.current.pitch;
                    return search(other, window_of(b));
                  }},
    MotionMistake{"planes-swapped",
                  "the reference's block is searched in the current plane: search the current block in the reference",
                  [](const SearchedBlock& b) {
                    SearchedBlock other = b;
                    std::swap(other.current, other.reference);
                    return search(other, window_of(b));
                  }},

    // Mistakes in the vector that is stored.
    MotionMistake{"components-swapped", "the components of vectors are swapped: x comes first",
                  [](const SearchedBlock& b) -> Found {
                    const Found v = exact_of(b, number_of(b));
                    return MotionVector{v->y, v->x};
                  }},
    MotionMistake{"negated", "vectors have the wrong sign: they point from the block to its prediction",
                  [](const SearchedBlock& b) -> Found {
                    const Found v = exact_of(b, number_of(b));
                    return MotionVector{static_cast<std::int8_t>(-v->x), static_cast<std::int8_t>(-v->y)};
                  }},
    MotionMistake{"window-corner", "vectors count from the window's corner: subtract the block's own place",
                  [](const SearchedBlock& b) -> Found {
                    const Found v = exact_of(b, number_of(b));
                    const SearchWindow w = window_of(b);
                    return MotionVector{static_cast<std::int8_t>(v->x + 8 * b.column - w.left),
                                        static_cast<std::int8_t>(v->y + 8 * b.row - w.top)};
                  }},
    MotionMistake{"plain-range",
                  "vectors are counted from -range, as if no edge cut the window: count from the window's corner",
                  [](const SearchedBlock& b) -> Found {
                    const Found v = exact_of(b, number_of(b));
                    const SearchWindow w = window_of(b);
                    return MotionVector{static_cast<std::int8_t>(v->x + 8 * b.column - w.left - b.range),
                                        static_cast<std::int8_t>(v->y + 8 * b.row - w.top - b.range)};
                  }},
    MotionMistake{"absolute-place", "vectors are places in the plane: subtract the block's own place",
                  [](const SearchedBlock& b) -> Found {
                    const Found v = exact_of(b, number_of(b));
                    return MotionVector{static_cast<std::int8_t>(v->x + 8 * b.column),
                                        static_cast<std::int8_t>(v->y + 8 * b.row)};
                  }},
    MotionMistake{"vector-4-bits", "components of vectors are kept in 4 bits and overflow",
                  [](const SearchedBlock& b) -> Found { return wrapped(*exact_of(b, number_of(b)), 4); }},
    MotionMistake{"vector-5-bits", "components of vectors are kept in 5 bits and overflow",
                  [](const SearchedBlock& b) -> Found { return wrapped(*exact_of(b, number_of(b)), 5); }},
    MotionMistake{"vector-6-bits", "components of vectors are kept in 6 bits and overflow",
                  [](const SearchedBlock& b) -> Found { return wrapped(*exact_of(b, number_of(b)), 6); }},
    MotionMistake{"vector-7-bits",
                  "components of vectors are kept in 7 bits and overflow: they need 8 for ranges above 64",
                  [](const SearchedBlock& b) -> Found { return wrapped(*exact_of(b, number_of(b)), 7); }},

    // Mistakes that store the result of another block, or an old result.
    MotionMistake{"stale",
                  "the result is that of the previous call: a value is kept from call to call, or nothing is written",
                  [](const SearchedBlock& b) -> Found {
                    if (b.previous.size() != b.exact.size()) return std::nullopt;
                    return b.previous[static_cast<std::size_t>(number_of(b))];
                  }},
    MotionMistake{"block-before", "results lie one block too late: block i has the result of block i - 1",
                  [](const SearchedBlock& b) { return exact_of(b, number_of(b) - 1); }},
    MotionMistake{"block-after", "results lie one block too early: block i has the result of block i + 1",
                  [](const SearchedBlock& b) { return exact_of(b, number_of(b) + 1); }},
    MotionMistake{"blocks-transposed",
                  "results are stored column by column: the block at (column, row) has number row * columns + column",
                  [](const SearchedBlock& b) {
                    const int rows = b.current.height / kBlockSize;
                    const int columns = b.current.width / kBlockSize;
                    return exact_of(b, number_of(b) % rows * columns + number_of(b) / rows);
                  }},

    // This is no mistake if the search is meant to leave out candidates.
    MotionMistake{"descent",
                  "vectors are those of a search that stops at a local minimum: it is not exhaustive (use --inexact if "
                  "you want that)",
                  descend},
};

}  // namespace

std::span<const MotionMistake> motion_mistakes() { return kMistakes; }

}  // namespace c63
