#include <algorithm>
#include <array>
#include <cstdlib>
#include <tuple>

#include "codec/search_window.h"
#include "race/motion_audit.h"

namespace c63 {
namespace {

using Block = SearchedBlock;
using Found = std::optional<MotionVector>;

constexpr auto kAbsolute = [](int a, int b) { return a > b ? a - b : b - a; };
constexpr auto kWhole = [](std::uint32_t sum) { return sum; };

/// The SAD of a block and a candidate, or a wrong one: what is summed for each pair of samples, what becomes of the
/// sum, and which part of the block counts.
template <auto kDifference = kAbsolute, auto kOfSum = kWhole, int kWidth = 8, int kHeight = 8, int kRowStep = 1>
struct Sad {
  static std::uint32_t of(const Block& block, int candidate_x, int candidate_y) {
    std::uint32_t sum = 0;
    for (int y = 0; y < kHeight; y += kRowStep) {
      const std::uint8_t* const a = &block.current.at(8 * block.column, 8 * block.row + y);
      const std::uint8_t* const b = &block.reference.at(candidate_x, candidate_y + y);
      for (int x = 0; x < kWidth; ++x) sum += static_cast<std::uint32_t>(kDifference(int{a[x]}, int{b[x]}));
    }
    return kOfSum(sum);
  }
};
template <int kWidth, int kHeight, int kRowStep = 1>
using SadOfPart = Sad<kAbsolute, kWhole, kWidth, kHeight, kRowStep>;

/// The order of candidates with the same SAD: the first of them is kept.
enum class Order { raster, reversed, columns, nearest, zero_first };

template <Order kOrder>
auto place_in_order(const Block& b, int x, int y) {
  const int dx = x - 8 * b.column;
  const int dy = y - 8 * b.row;
  if constexpr (kOrder == Order::raster) return std::tuple(0, y, x);
  if constexpr (kOrder == Order::reversed) return std::tuple(0, -y, -x);
  if constexpr (kOrder == Order::columns) return std::tuple(0, x, y);
  if constexpr (kOrder == Order::nearest) return std::tuple(dx * dx + dy * dy, y, x);
  if constexpr (kOrder == Order::zero_first) return std::tuple(dx == 0 && dy == 0 ? 0 : 1, y, x);
}

SearchWindow window_of(const Block& b) {
  return search_window(b.column, b.row, b.current.width, b.current.height, b.range);
}

MotionVector vector_to(const Block& b, int x, int y) {
  return {static_cast<std::int8_t>(x - 8 * b.column), static_cast<std::int8_t>(y - 8 * b.row)};
}

constexpr auto kEvery = [](int, int) { return true; };

/// Searches those candidates of `window` that lie in the plane and for which tried(x, y) returns true.
template <Order kOrder = Order::raster, typename SadOf = Sad<>, typename Tried = decltype(kEvery)>
Found search(const Block& b, SearchWindow window, const Tried& tried = kEvery) {
  const SearchWindow w = {std::max(window.left, 0), std::max(window.top, 0),
                          std::min(window.right, b.current.width - kBlockSize + 1),
                          std::min(window.bottom, b.current.height - kBlockSize + 1)};
  if (w.empty()) return MotionVector{};
  bool any = false;
  std::uint32_t least = 0;
  decltype(place_in_order<kOrder>(b, 0, 0)) place{};
  MotionVector best;
  for (int y = w.top; y < w.bottom; ++y) {
    for (int x = w.left; x < w.right; ++x) {
      if (!tried(x, y)) continue;
      const std::uint32_t sad = SadOf::of(b, x, y);
      if (any && sad > least) continue;
      const auto here = place_in_order<kOrder>(b, x, y);
      if (any && sad == least && !(here < place)) continue;
      any = true;
      least = sad;
      place = here;
      best = vector_to(b, x, y);
    }
  }
  return best;
}

// What programmers do wrong. A `Bounds` moves the left, top, right and bottom bound of a window by that many samples.

template <Order kOrder>
Found in_order(const Block& b) {
  return search<kOrder>(b, window_of(b));
}

template <auto kDifference, auto kOfSum = kWhole>
Found with_sad(const Block& b) {
  return search<Order::raster, Sad<kDifference, kOfSum>>(b, window_of(b));
}
template <auto kOfSum>
Found with_sum(const Block& b) {
  return with_sad<kAbsolute, kOfSum>(b);
}
template <int kWidth, int kHeight, int kRowStep = 1>
Found with_part(const Block& b) {
  return search<Order::raster, SadOfPart<kWidth, kHeight, kRowStep>>(b, window_of(b));
}

struct Bounds {
  int left, top, right, bottom;
};

template <Bounds kBy>
Found with_window(const Block& b) {
  const SearchWindow w = window_of(b);
  return search(b, {w.left + kBy.left, w.top + kBy.top, w.right + kBy.right, w.bottom + kBy.bottom});
}

/// Moves only the bounds that are at the plane's edges.
template <Bounds kBy>
Found with_edges(const Block& b) {
  const SearchWindow w = window_of(b);
  return search(b, {w.left + (w.left == 0 ? kBy.left : 0), w.top + (w.top == 0 ? kBy.top : 0),
                    w.right + (w.right == b.current.width - 8 ? kBy.right : 0),
                    w.bottom + (w.bottom == b.current.height - 8 ? kBy.bottom : 0)});
}

/// Moves the bounds before the window is cut at the plane's edges.
template <Bounds kBy>
Found with_reach(const Block& b) {
  const int x = 8 * b.column;
  const int y = 8 * b.row;
  return search(b, {std::max(0, x - b.range + kBy.left), std::max(0, y - b.range + kBy.top),
                    std::min(b.current.width - kBlockSize, x + b.range + kBy.right),
                    std::min(b.current.height - kBlockSize, y + b.range + kBy.bottom)});
}

/// Includes the candidates that touch the plane's right or bottom border, or both. The codec excludes them.
template <bool kRight, bool kBottom>
Found with_border(const Block& b) {
  const SearchWindow w = window_of(b);
  const SearchWindow whole = whole_search_window(b.column, b.row, b.current.width, b.current.height, b.range);
  return search(b, {w.left, w.top, kRight ? whole.right : w.right, kBottom ? whole.bottom : w.bottom});
}

/// Moves a window of full size into the plane if it leaves it. The codec cuts such a window instead.
Found with_window_moved_in(const Block& b) {
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
  const auto [left, right] = moved(8 * b.column, b.range, b.current.width - kBlockSize);
  const auto [top, bottom] = moved(8 * b.row, b.range, b.current.height - kBlockSize);
  return search(b, {left, top, right, bottom});
}

/// Takes the range that kRange returns for the right one.
template <auto kRange>
Found with_range(const Block& b) {
  Block other = b;
  other.range = kRange(b.range);
  if (other.range == b.range || other.range < 1) return std::nullopt;
  return search(other, window_of(other));
}

/// Searches only the first kCount candidates of the window, in raster order.
template <int kCount>
Found with_first(const Block& b) {
  const SearchWindow w = window_of(b);
  const int width = w.right - w.left;
  if (w.empty() || width * (w.bottom - w.top) <= kCount) return std::nullopt;
  return search(b, w, [&](int x, int y) { return (y - w.top) * width + x - w.left < kCount; });
}

Found with_every_second(const Block& b) {
  const SearchWindow w = window_of(b);
  return search(b, w, [&](int x, int y) { return (x - w.left) % 2 == 0 && (y - w.top) % 2 == 0; });
}

/// Takes the width of planes as their pitch.
template <bool kCurrent, bool kReference>
Found with_width_as_pitch(const Block& b) {
  const bool changes =
      (kCurrent && b.current.pitch != b.current.width) || (kReference && b.reference.pitch != b.reference.width);
  if (!changes) return std::nullopt;
  Block other = b;
  if (kCurrent) other.current.pitch = b.current.width;
  if (kReference) other.reference.pitch = b.reference.width;
  return search(other, window_of(b));
}

Found with_current_pitch(const Block& b) {
  if (b.current.pitch >= b.reference.pitch) return std::nullopt;
  Block other = b;
  other.reference.pitch = b.current.pitch;
  return search(other, window_of(b));
}

Found with_planes_swapped(const Block& b) {
  Block other = b;
  std::swap(other.current, other.reference);
  return search(other, window_of(b));
}

int number_of(const Block& b) { return b.row * (b.current.width / kBlockSize) + b.column; }

Found exact_of(const Block& b, int block) {
  if (block < 0 || block >= static_cast<int>(b.exact.size())) return std::nullopt;
  return b.exact[static_cast<std::size_t>(block)];
}

/// Stores what kChange makes of the components of the right vector.
template <auto kChange>
Found stored(const Block& b) {
  const MotionVector v = *exact_of(b, number_of(b));
  const auto [x, y] = kChange(b, int{v.x}, int{v.y});
  return MotionVector{static_cast<std::int8_t>(x), static_cast<std::int8_t>(y)};
}

template <int kBits>
constexpr auto kWrapped = [](const Block&, int x, int y) {
  constexpr int kHalf = 1 << (kBits - 1);
  return std::pair(((x + kHalf) & (2 * kHalf - 1)) - kHalf, ((y + kHalf) & (2 * kHalf - 1)) - kHalf);
};

/// Starts at the zero vector, or at the candidate nearest to it. Moves to the best of the eight neighbours, until no
/// neighbour is better. Many fast searches end with such steps.
Found descend(const Block& b) {
  const SearchWindow w = window_of(b);
  if (w.empty()) return MotionVector{};
  int x = std::clamp(8 * b.column, w.left, w.right - 1);
  int y = std::clamp(8 * b.row, w.top, w.bottom - 1);
  for (;;) {
    const Found next = search(
        b, {std::max(w.left, x - 1), std::max(w.top, y - 1), std::min(w.right, x + 2), std::min(w.bottom, y + 2)});
    const int next_x = 8 * b.column + next->x;
    const int next_y = 8 * b.row + next->y;
    if (Sad<>::of(b, next_x, next_y) >= Sad<>::of(b, x, y)) return vector_to(b, x, y);
    x = next_x;
    y = next_y;
  }
}

constexpr std::array kMistakes = std::to_array<MotionMistake>({
    // Mistakes in the order of candidates with equal SAD.
    {"last-of-equals",
     "of candidates with equal SAD the last is kept: compare with <, not <=, and let a reduction prefer the lower "
     "candidate",
     in_order<Order::reversed>},
    {"columns-first",
     "of candidates with equal SAD the leftmost is kept: go through rows outside and columns inside (y, then x)",
     in_order<Order::columns>},
    {"zero-preferred",
     "of candidates with equal SAD the zero vector is kept: the codec keeps the first in raster order",
     in_order<Order::zero_first>},
    {"shortest-preferred",
     "of candidates with equal SAD the shortest vector is kept: the codec keeps the first in raster order",
     in_order<Order::nearest>},

    // Mistakes in a bound of the window.
    {"window-left-short", "the window begins one column too late: its first column is x = max(0, 8*bx - range)",
     with_window<Bounds{1, 0, 0, 0}>},
    {"window-top-short", "the window begins one row too late: its first row is y = max(0, 8*by - range)",
     with_window<Bounds{0, 1, 0, 0}>},
    {"window-right-short", "the window ends one column too early: its last column is min(w - 8, 8*bx + range) - 1",
     with_window<Bounds{0, 0, -1, 0}>},
    {"window-bottom-short", "the window ends one row too early: its last row is min(h - 8, 8*by + range) - 1",
     with_window<Bounds{0, 0, 0, -1}>},
    {"reach-left-short", "the window begins at 8*bx - range + 1 away from the left edge: vectors go down to -range",
     with_reach<Bounds{1, 0, 0, 0}>},
    {"reach-top-short", "the window begins at 8*by - range + 1 away from the top edge: vectors go down to -range",
     with_reach<Bounds{0, 1, 0, 0}>},
    {"reach-right-short", "the window ends at 8*bx + range - 2 away from the right edge: vectors go up to range - 1",
     with_reach<Bounds{0, 0, -1, 0}>},
    {"reach-bottom-short", "the window ends at 8*by + range - 2 away from the bottom edge: vectors go up to range - 1",
     with_reach<Bounds{0, 0, 0, -1}>},
    {"range-inclusive-right", "the window includes the vector component x = +range: its end is exclusive (<, not <=)",
     with_reach<Bounds{0, 0, 1, 0}>},
    {"range-inclusive-bottom", "the window includes the vector component y = +range: its end is exclusive (<, not <=)",
     with_reach<Bounds{0, 0, 0, 1}>},
    {"range-inclusive", "the window includes the vector components +range: its ends are exclusive (<, not <=)",
     with_reach<Bounds{0, 0, 1, 1}>},
    {"border-inclusive-right",
     "the window includes x = w - 8, the last column that fits: by the codec's rules it does not (<, not <=)",
     with_border<true, false>},
    {"border-inclusive-bottom",
     "the window includes y = h - 8, the last row that fits: by the codec's rules it does not (<, not <=)",
     with_border<false, true>},
    {"border-inclusive", "the window includes x = w - 8 and y = h - 8: by the codec's rules it does not (<, not <=)",
     with_border<true, true>},
    {"window-inclusive", "all ends of the window are taken as inclusive (<=): they are exclusive (<)",
     with_window<Bounds{0, 0, 1, 1}>},
    {"edge-left-short", "at the left edge the window begins at x = 1: it begins at 0", with_edges<Bounds{1, 0, 0, 0}>},
    {"edge-top-short", "at the top edge the window begins at y = 1: it begins at 0", with_edges<Bounds{0, 1, 0, 0}>},
    {"edge-right-short", "at the right edge the window ends one column too early: its end is w - 8, exclusive",
     with_edges<Bounds{0, 0, -1, 0}>},
    {"edge-bottom-short", "at the bottom edge the window ends one row too early: its end is h - 8, exclusive",
     with_edges<Bounds{0, 0, 0, -1}>},
    {"window-moved", "at an edge the window is moved into the plane: it must be cut", with_window_moved_in},

    // Mistakes with the range.
    {"range-doubled",
     "twice the range is searched: chroma planes have half of luma's range, and the job's range is already halved",
     with_range<[](int range) { return 2 * range; }>},
    {"range-halved", "half the range is searched: the job's range is already that of the plane",
     with_range<[](int range) { return range / 2; }>},
    {"range-fixed-16", "range 16 is searched everywhere: take the job's range, which is 8 for chroma",
     with_range<[](int) { return 16; }>},
    {"range-fixed-8", "range 8 is searched everywhere: take the job's range", with_range<[](int) { return 8; }>},
    {"range-short", "the range is one too small on all sides", with_range<[](int range) { return range - 1; }>},
    {"range-long", "the range is one too large on all sides", with_range<[](int range) { return range + 1; }>},

    // Mistakes that leave out candidates.
    {"candidates-256",
     "only the first 256 candidates of a window are tried: let each thread continue in steps of the number of threads",
     with_first<256>},
    {"candidates-512",
     "only the first 512 candidates of a window are tried: let each thread continue in steps of the number of threads",
     with_first<512>},
    {"candidates-1024", "only the first 1024 candidates of a window are tried: ranges above 16 have more",
     with_first<1024>},
    {"every-second", "only every second column and row of the window is tried", with_every_second},
    {"zero-only", "the vectors are all zero: nothing is searched, or nothing is stored",
     [](const Block&) -> Found { return MotionVector{}; }},

    // Mistakes in the difference of blocks.
    {"squares", "squares of differences are summed: the codec sums absolute differences",
     with_sad<[](int a, int b) { return (a - b) * (a - b); }>},
    {"without-abs", "differences are summed without their absolute value",
     with_sad<[](int a, int b) { return a - b; },
              [](std::uint32_t sum) { return static_cast<std::uint32_t>(std::abs(static_cast<std::int32_t>(sum))); }>},
    {"wrapped-difference", "differences of unsigned bytes wrap below zero: take them as int, then the absolute value",
     with_sad<[](int a, int b) { return static_cast<std::uint8_t>(a - b); }>},
    {"wrapped-difference", "differences of unsigned bytes wrap below zero: take them as int, then the absolute value",
     with_sad<[](int a, int b) { return static_cast<std::uint8_t>(b - a); }>},
    {"narrow-difference", "differences are kept in a signed byte, which overflows at 128: take them as int",
     with_sad<[](int a, int b) { return std::abs(static_cast<std::int8_t>(a - b)); }>},
    {"signed-samples", "samples are read as signed char: they are unsigned",
     with_sad<[](int a, int b) { return kAbsolute(static_cast<std::int8_t>(a), static_cast<std::int8_t>(b)); }>},
    {"sad-8-bits", "SADs are kept in 8 bits and overflow: they go up to 16320",
     with_sum<[](std::uint32_t sum) { return sum & 0xFFU; }>},
    {"sad-12-bits", "SADs are kept in 12 bits and overflow: they go up to 16320, which takes 14",
     with_sum<[](std::uint32_t sum) { return sum & 0xFFFU; }>},
    {"sad-saturated", "SADs are saturated at 255: they go up to 16320",
     with_sum<[](std::uint32_t sum) { return std::min(sum, 255U); }>},
    {"seven-rows", "the last row of the block is left out of the SAD", with_part<8, 7>},
    {"seven-columns", "the last column of the block is left out of the SAD", with_part<7, 8>},
    {"half-block", "the lower half of the block is left out of the SAD", with_part<8, 4>},
    {"half-width", "the right half of the block is left out of the SAD", with_part<4, 8>},
    {"every-second-row", "every second row of the block is left out of the SAD", with_part<8, 8, 2>},

    // Mistakes in addressing the planes.
    {"width-as-pitch", "rows are addressed by the width: their distance is the pitch", with_width_as_pitch<true, true>},
    {"width-as-reference-pitch",
     "rows of the reference are addressed by the width: their distance is the reference's pitch",
     with_width_as_pitch<false, true>},
    {"width-as-current-pitch", "rows of the current plane are addressed by the width: their distance is its pitch",
     with_width_as_pitch<true, false>},
    {"current-pitch-for-both", "the reference is addressed by the current plane's pitch: it has its own pitch",
     with_current_pitch},
    {"planes-swapped",
     "the reference's block is searched in the current plane: search the current block in the reference",
     with_planes_swapped},

    // Mistakes in the vector that is stored.
    {"components-swapped", "the components of vectors are swapped: x comes first",
     stored<[](const Block&, int x, int y) { return std::pair(y, x); }>},
    {"negated", "vectors have the wrong sign: they point from the block to its prediction",
     stored<[](const Block&, int x, int y) { return std::pair(-x, -y); }>},
    {"window-corner", "vectors count from the window's corner: subtract the block's own place",
     stored<[](const Block& b, int x, int y) {
       return std::pair(x + 8 * b.column - window_of(b).left, y + 8 * b.row - window_of(b).top);
     }>},
    {"plain-range", "vectors are counted from -range, as if no edge cut the window: count from the window's corner",
     stored<[](const Block& b, int x, int y) {
       return std::pair(x + 8 * b.column - window_of(b).left - b.range, y + 8 * b.row - window_of(b).top - b.range);
     }>},
    {"absolute-place", "vectors are places in the plane: subtract the block's own place",
     stored<[](const Block& b, int x, int y) { return std::pair(x + 8 * b.column, y + 8 * b.row); }>},
    {"vector-4-bits", "components of vectors are kept in 4 bits and overflow", stored<kWrapped<4>>},
    {"vector-5-bits", "components of vectors are kept in 5 bits and overflow", stored<kWrapped<5>>},
    {"vector-6-bits", "components of vectors are kept in 6 bits and overflow", stored<kWrapped<6>>},
    {"vector-7-bits", "components of vectors are kept in 7 bits and overflow: they need 8 for ranges above 64",
     stored<kWrapped<7>>},

    // Mistakes that store the result of another block, or an old result.
    {"stale", "the result is that of the previous call: a value is kept from call to call, or nothing is written",
     [](const Block& b) -> Found {
       if (b.previous.size() != b.exact.size()) return std::nullopt;
       return b.previous[static_cast<std::size_t>(number_of(b))];
     }},
    {"block-before", "results lie one block too late: block i has the result of block i - 1",
     [](const Block& b) { return exact_of(b, number_of(b) - 1); }},
    {"block-after", "results lie one block too early: block i has the result of block i + 1",
     [](const Block& b) { return exact_of(b, number_of(b) + 1); }},
    {"blocks-transposed",
     "results are stored column by column: the block at (column, row) has number row * columns + column",
     [](const Block& b) {
       const int rows = b.current.height / kBlockSize;
       return exact_of(b, number_of(b) % rows * (b.current.width / kBlockSize) + number_of(b) / rows);
     }},

    // This is no mistake if the search is meant to leave out candidates.
    {"descent",
     "vectors are those of a search that stops at a local minimum: it is not exhaustive (use --inexact if you want "
     "that)",
     descend},
});

}  // namespace

std::span<const MotionMistake> motion_mistakes() { return kMistakes; }

}  // namespace c63
