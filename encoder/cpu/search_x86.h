#pragma once

// The search with AVX2 and with AVX-512: one source, in which a template parameter V stands for the registers of the
// instruction set. It has a register of costs (Words) and its operations, and the kernels that need all registers.
// Everything is local to the file that includes it. Otherwise the linker could merge it with code that is compiled for
// another instruction set, which the machine may not have.
//
// A window is searched in tiles of at most 32x64 candidates. The candidates of a row are taken in octets of eight
// neighbours. The first step searches the octets around the four starts (BlockSearch). The second step finds the octets
// of a tile with at least one candidate that its sums of 4x4 samples, and the cost of its vector, do not rule out. It
// tests 32 candidates of a row at a time, without a branch. The third step searches those octets: such candidates are
// close together, and an octet costs little more than one candidate. Each step is done for several blocks before the
// next one, so that no block waits for another's result. Each step is a function that is not inlined, because it needs
// all registers.
//
// Most blocks that do not move are equal to their first start. Then all that is left is to prove that no candidate
// before it is equal, too. On 1920x1080 frames of objects this saves a quarter of c63mv's time without decoding, on a
// Xeon.

#include "cpu/search_bounds_x86.h"

namespace c63::cpu {
namespace {

constexpr std::size_t kAny = 0;  ///< stands for the number of wanted candidates: not known before the program runs

// ---- the best of registers of candidates

/// Receives registers of costs, each with a number. For each position in a register, it keeps the kBest (one or two)
/// lowest costs of all registers, and the numbers of the registers that have them. Of equal costs, it keeps the one
/// that came first.
template <typename V, std::size_t kBest>
class BestOfPlaces {
 public:
  using Words = typename V::Words;

  [[gnu::always_inline]] void take(Words costs, int number) {
    const Words numbers = V::all(number);
    const auto best = V::less(costs, first_);
    if constexpr (kBest > 1) {
      const auto good = V::less(costs, second_);
      second_ = V::min(second_, V::max(first_, costs));
      second_numbers_ = V::select(best, first_numbers_, V::select(good, numbers, second_numbers_));
    }
    first_ = V::min(first_, costs);
    first_numbers_ = V::select(best, numbers, first_numbers_);
  }

  /// Adds a cost to each position.
  [[gnu::always_inline]] void add_costs(Words costs) {
    first_ = V::add(first_, costs);
    if constexpr (kBest > 1) second_ = V::add(second_, costs);
  }

  /// Adds the keys of the best kBest candidates to `best`. Of candidates with equal costs, the one with the lower
  /// order(register number) is better, and of those the one at the lower position. index_of(order, position) returns
  /// the index of a candidate in the window.
  template <typename Order, typename IndexOf>
  [[gnu::always_inline]] void write(Order&& order, IndexOf&& index_of, BestKeys& best) {
    for (std::size_t i = 0; i < kBest; ++i) {
      const int cost = V::smallest(first_);
      if (cost >= kNoCost) return;
      const Words orders = V::select(V::equal(first_, V::all(cost)), order(first_numbers_), V::all(kNoCost));
      const int least = V::smallest(orders);
      const int place = V::first(V::equal(orders, V::all(least)));
      const std::uint32_t key = candidate_key(static_cast<std::uint32_t>(cost), static_cast<std::uint32_t>(index_of(least, place)));
      if constexpr (kBest == 1) return best.add_to_one(key);
      best.add(key);
      const auto taken = V::equal(V::load(kWordNumbers.data()), V::all(place));
      first_ = V::select(taken, second_, first_);
      first_numbers_ = V::select(taken, second_numbers_, first_numbers_);
    }
  }

 private:
  Words first_ = V::all(kNoCost);
  Words first_numbers_ = V::all(0);
  Words second_ = V::all(kNoCost);
  Words second_numbers_ = V::all(0);
};

/// Adds the candidates of a register to `best`, if they are good enough. at(i) returns the position of its octet i.
template <typename V, typename At>
[[gnu::always_inline]] inline void add_best(const BlockSearch& search, typename V::Words costs, BestKeys& best, At&& at) {
  // The cheapest candidates are added first, because they lower the limit for the others.
  while (V::any_at_most(costs, best.limit())) {
    const int least = V::smallest(costs);
    const auto found = V::equal(costs, V::all(least));
    costs = V::select(found, V::all(kNoCost), costs);
    for (std::uint32_t places = V::bits(found); places != 0; places &= places - 1) {
      const int place = std::countr_zero(places) / V::kBitsOfWord;
      const Position octet = at(place / kOctet);
      best.add(candidate_key(static_cast<std::uint32_t>(least), search.index_of(octet.x + place % kOctet, octet.y)));
    }
  }
}

// ---- rows of candidates, for searches without bounds

/// A register of candidates moves down a window, row by row. Each row of samples belongs to eight rows of candidates. So
/// eight sums are in progress at any time; sum i belongs to the candidate row whose number is i modulo 8. Phase::fill
/// completes only one row of candidates. Phase::drain reads only seven rows of the reference and begins no row of
/// candidates.
enum class Phase { fill, steady, drain };

/// Processes eight rows of the reference and advances `reference` and `row`. `Shape` says which candidates a register
/// has: load() loads their samples, add_row() adds their differences from row k of the block.
template <Phase kPhase, typename Shape, typename Block, typename Sums, typename Minima>
[[gnu::always_inline]] inline void eight_rows(const Shape& shape, const Block& block, const std::uint8_t*& reference,
                                              std::ptrdiff_t pitch, int& row, Sums (&sums)[8], Minima& minima) {
  unroll<kPhase == Phase::drain ? 7 : 8>([&](auto r) __attribute__((always_inline)) {
    const auto samples = shape.load(reference);
    reference += pitch;
    asm("" : "+r"(reference));  // makes the compiler keep one address, because there are not enough registers for eight
    unroll<8>([&](auto k) __attribute__((always_inline)) {
      if constexpr (kPhase == Phase::steady || (kPhase == Phase::fill) == (k <= r)) {
        Shape::template add_row<k == 0>(sums[(r - k) & 7], block, k, samples);
      }
    });
    if constexpr (kPhase != Phase::fill || r == 7) {
      minima.take(sums[(r - 7) & 7], row);
      ++row;
      asm("" : "+r"(row));
    }
  });
}

/// Calls minima.take() with the SADs of each of `rows` rows of candidates, and the row's number.
template <typename Shape, typename Block, typename Minima>
[[gnu::always_inline]] inline void search_rows(const Shape& shape, const Block& block, const std::uint8_t* reference,
                                               std::ptrdiff_t pitch, int rows, Minima& minima) {
  typename Shape::Sums sums[8];
  int row = 0;
  if (rows >= 8) {
    const std::uint8_t* next = reference;
    eight_rows<Phase::fill>(shape, block, next, pitch, row, sums, minima);
    for (int group = 1; group < rows / 8; ++group) {
      eight_rows<Phase::steady>(shape, block, next, pitch, row, sums, minima);
    }
    eight_rows<Phase::drain>(shape, block, next, pitch, row, sums, minima);
  }
  for (row = rows & ~7; row < rows; ++row) {
    unroll<8>([&](auto k) __attribute__((always_inline)) {
      Shape::template add_row<k == 0>(sums[0], block, k, shape.load(reference + (row + k) * pitch));
    });
    minima.take(sums[0], row);
  }
}

// ---- octets

/// Returns the costs of the candidates of a register of octets. samples(i) points to the samples of octet i, words(i) to
/// the costs of its columns and pair(i) to that of its row.
template <typename V, bool kCosted, typename SamplesOf, typename WordsOf, typename PairOf>
[[gnu::always_inline]] inline typename V::Words costs_of(const typename V::Block& block, std::ptrdiff_t pitch, SamplesOf&& samples,
                                                         WordsOf&& words, PairOf&& pair) {
  std::array<const std::uint8_t*, V::kTogether> at;
  unroll<V::kTogether>([&](auto i) __attribute__((always_inline)) { at[i] = samples(i); });
  const typename V::Words sads = V::sads_of_octets(block, at, pitch);
  if constexpr (!kCosted) return sads;
  return V::add(V::add(sads, V::words_of_octets(words)), V::pairs_of_octets(pair));
}

template <typename V, bool kCosted, std::size_t kBest>
struct Job;

/// Searches the octets around the starts. Sets the job's limit: at least kBest candidates of the window cost no more than
/// this. If the number of wanted candidates is not 2, adds candidates to job.best. Each octet has its start in its
/// middle, if the window allows it. But if one candidate is wanted, the first octet is that of the first tile which
/// contains the start.
template <typename V, bool kCosted, std::size_t kBest>
[[gnu::noinline]] void search_starts(const BlockSearch& search, const SearchCosts& costs, Job<V, kCosted, kBest>& job) {
  constexpr int kRegisters = static_cast<int>(kStarts) / V::kTogether;
  const typename V::Block block(search);
  const SearchWindow& window = search.window;
  Position first[kStarts];
  unroll<static_cast<int>(kStarts)>([&](auto i) __attribute__((always_inline)) {
    int x = search.starts[i].x;
    asm("" : "+r"(x));  // x and y were just written, one by one; reading them as one vector would wait for that
    const int at = kBest == 1 && i == 0 ? window.left + (x - window.left) / kOctet * kOctet : std::max(x - kOctet / 2, window.left);
    first[i] = {std::min(at, window.right - kOctet), search.starts[i].y};
  });
  typename V::Words found[kRegisters];
  unroll<kRegisters>([&](auto r) __attribute__((always_inline)) {
    const auto octet = [&](int i) __attribute__((always_inline)) { return first[r * V::kTogether + i]; };
    found[r] = costs_of<V, kCosted>(
        block, search.reference.pitch,
        [&](int i) __attribute__((always_inline)) { return &search.reference.at(octet(i).x, octet(i).y); },
        [&](int i) __attribute__((always_inline)) { return costs.words.data() + SearchCosts::entry(octet(i).x - search.own.x); },
        [&](int i) __attribute__((always_inline)) { return costs.pairs.data() + SearchCosts::entry(octet(i).y - search.own.y); });
  });
  if constexpr (kBest == kAny) {
    for (int r = 0; r < kRegisters; ++r) {
      add_best<V>(search, found[r], job.best, [&](int i) { return first[r * V::kTogether + i]; });
    }
    job.limit = job.best.limit();
    return;
  }
  const auto least_of_all = [&]() __attribute__((always_inline)) {
    typename V::Words least = found[0];
    for (int r = 1; r < kRegisters; ++r) least = V::min(least, found[r]);
    return V::smallest(least);
  };
  job.limit = least_of_all();
  if constexpr (kBest == 1) {
    for (int r = 0; r < kRegisters; ++r) {
      const auto equal = V::equal(found[r], V::all(job.limit));
      if (kRegisters > 1 && V::bits(equal) == 0) continue;
      const int place = V::first(equal);
      const Position octet = first[r * V::kTogether + place / kOctet];
      job.best.add_to_one(candidate_key(static_cast<std::uint32_t>(job.limit), search.index_of(octet.x + place % kOctet, octet.y)));
    }
  } else {
    for (int r = 0; r < kRegisters; ++r) {  // octets may overlap, so equal costs count once
      found[r] = V::select(V::equal(found[r], V::all(job.limit)), V::all(kNoCost), found[r]);
    }
    job.limit = std::min(least_of_all(), kNoCost - 1);
  }
}

/// Searches the listed octets of a tile. Overwrites entries after the list.
template <typename V, bool kCosted, std::size_t kBest>
[[gnu::noinline]] void search_octets(const BlockSearch& search, const Tile& tile, std::uint8_t* octets, int count, BestKeys& best) {
  // Copies of the last octet fill up the list to a multiple of the octets of a register.
  const std::uint32_t last = octets[count - 1] * 0x01010101U;
  __builtin_memcpy(octets + count, &last, sizeof last);
  const typename V::Block block(search);
  BestOfPlaces<V, kBest == kAny ? 1 : kBest> places;
  const std::uint8_t* const samples = &search.reference.at(tile.left, tile.top);
  const std::ptrdiff_t pitch = search.reference.pitch;
  for (int i = 0; i < count; i += V::kTogether) {
    const std::uint8_t* const some = octets + i;
    const auto column = [&](int j) __attribute__((always_inline)) { return some[j] % kTileOctets * kOctet; };
    const auto row = [&](int j) __attribute__((always_inline)) { return some[j] / kTileOctets; };
    typename V::Words costs = costs_of<V, kCosted>(
        block, pitch, [&](int j) __attribute__((always_inline)) { return samples + row(j) * pitch + column(j); },
        [&](int j) __attribute__((always_inline)) { return tile.column_words + column(j); },
        [&](int j) __attribute__((always_inline)) { return tile.row_pairs + row(j); });
    if constexpr (kBest == kAny) {
      add_best<V>(search, costs, best, [&](int j) { return Position{tile.left + column(j), tile.top + row(j)}; });
    } else {
      // The copies must not count as second best candidates.
      if constexpr (kBest > 1) costs = V::with_first(kOctet * (count - i), costs);
      places.take(costs, i);
    }
  }
  if constexpr (kBest != kAny) {
    places.write([](typename V::Words numbers) { return numbers; },
                 [&](int i, int place) {
                   const int octet = octets[i + place / kOctet];
                   return search.index_of(tile.x_of(octet) + place % kOctet, tile.y_of(octet));
                 },
                 best);
  }
}

// ---- blocks

/// Searches all candidates of a tile. If it is no wider than half a register, the other half has more rows.
template <typename V, bool kCosted, std::size_t kBest>
[[gnu::always_inline]] inline void search_columns(const BlockSearch& search, const Tile& tile, BestKeys& best) {
  const int rows = tile.rows / 2;
  if (tile.columns <= V::TwoRows::kColumns && tile.rows % 2 == 0) {
    V::template search_columns<kCosted, kBest>(search, tile, typename V::TwoRows(rows, search.reference.pitch), rows, best);
  } else {
    V::template search_columns<kCosted, kBest>(search, tile, typename V::OneRow(), tile.rows, best);
  }
}

/// Searches all candidates of a window, without bounds.
template <typename V, bool kCosted, std::size_t kBest>
void search_window(const BlockSearch& search, const SearchCosts& costs) {
  BestKeys best({search.keys, kBest});
  Tile tile;
  for (int y = search.window.top; y < search.window.bottom; y += kTileRows) {
    for (int x = search.window.left; x < search.window.right; x += kTileColumns) {
      tile.move_to<kCosted>(search, costs, x, y);
      search_columns<V, kCosted, kBest>(search, tile, best);
    }
  }
}

/// A block at work.
template <typename V, bool kCosted, std::size_t kBest>
struct Job {
  const BlockSearch* search;
  BestKeys best;
  int limit;  ///< only candidates that cost no more than this are wanted
  int count;  ///< octets to search in the tile, or kAllOctets
  Tile tile;  ///< the tile to search next; it has no rows if the window is searched
  alignas(64) std::uint8_t octets[kListRoom];

  void begin(const BlockSearch& block, const QuarterSumsView& sums, const SearchCosts& costs, std::size_t wanted) {
    search = &block;
    best = BestKeys({block.keys, kBest == kAny ? wanted : kBest});
    limit = kNoCost - 1;
    tile.move_to<kCosted>(block, costs, block.window.left, block.window.top);
    if (sums.data == nullptr || block.width() < kOctet) return;
    if (!kCosted && kBest == 1 && is_equal(block, block.starts[0])) {
      limit = 0;
      best.add(candidate_key(0, block.index_of(block.starts[0].x, block.starts[0].y)));
      return;
    }
    search_starts<V, kCosted, kBest>(block, costs, *this);
  }

  [[nodiscard]] bool has_tile() const { return tile.rows > 0; }

  /// Lists the octets of the tile.
  void list(const QuarterSumsView& sums) {
    const BlockSearch& block = *search;
    limit = std::min(limit, best.limit());
    count = kAllOctets;
    if (sums.data == nullptr) return list_all();
    if constexpr (!kCosted) {
      if (limit == 0 && is_whole_window()) {
        // Only an equal candidate before it is better. In a flat area, the first candidate of the window often is equal.
        const Position found = block.candidate_of(best.first());
        if (is_equal(block, {block.window.left, block.window.top})) {
          best.add(candidate_key(0, 0));
          tile.rows = 0;
        } else {
          tile.rows = may_be_equal_before(block, sums, found) ? found.y + 1 - tile.top : 0;
        }
        count = 0;
        if (tile.rows == 0) return;
      }
    }
    count = list_octets<V, kCosted>(block, sums, tile, limit, octets);
    // If most octets are left, a search of all rows is faster: it loads each row of samples once for eight rows of
    // candidates, and the cost of a row once for all its candidates.
    if (kBest != kAny && 8 * count > (kCosted ? 5 : 7) * tile.octets()) count = kAllOctets;
    if (count == kAllOctets) return list_all();
    // Often the only octet left is that of the first start, which is searched.
    if (kBest == 1 && count == 1 && limit != 0 && is_whole_window()) {
      const Position& start = block.starts[0];
      if (octets[0] == kTileOctets * (start.y - tile.top) + (start.x - tile.left) / kOctet) count = 0;
    }
  }

  /// Searches the listed octets, and moves to the next tile.
  void search_tile(const SearchCosts& costs) {
    if (count == kAllOctets) {
      if constexpr (kBest != kAny) search_columns<V, kCosted, kBest>(*search, tile, best);
    } else if (count > 0) {
      search_octets<V, kCosted, kBest>(*search, tile, octets, count, best);
    }
    const SearchWindow& window = search->window;
    const bool is_last = tile.left + kTileColumns >= window.right;
    const int x = is_last ? window.left : tile.left + kTileColumns;
    const int y = is_last ? tile.top + kTileRows : tile.top;
    tile.rows = 0;
    if (y < window.bottom) tile.move_to<kCosted>(*search, costs, x, y);
  }

 private:
  [[nodiscard]] bool is_whole_window() const {
    const SearchWindow& window = search->window;
    return window.right - window.left <= kTileColumns && window.bottom - window.top <= kTileRows;
  }
  void list_all() {
    if constexpr (kBest != kAny) return;
    count = 0;
    for (int octet = 0; octet < kTileOctets * tile.rows; ++octet) {
      if (octet % kTileOctets * kOctet < tile.columns) octets[count++] = static_cast<std::uint8_t>(octet);
    }
  }
};

/// Does what Kernels::search does, for blocks with the same template arguments.
template <typename V, bool kCosted, std::size_t kBest>
void search_alike(std::span<const BlockSearch> blocks, const QuarterSumsView& sums, const SearchCosts& costs, std::size_t wanted) {
  if constexpr (kBest != kAny) {
    if (sums.data == nullptr) {
      for (const BlockSearch& block : blocks) search_window<V, kCosted, kBest>(block, costs);
      return;
    }
  }
  constexpr std::size_t kJobs = 8;
  Job<V, kCosted, kBest> jobs[kJobs];
  for (; !blocks.empty(); blocks = blocks.subspan(std::min(kJobs, blocks.size()))) {
    const std::span at_work(jobs, std::min(kJobs, blocks.size()));
    for (std::size_t i = 0; i < at_work.size(); ++i) at_work[i].begin(blocks[i], sums, costs, wanted);
    for (bool is_done = false; !is_done;) {
      is_done = true;
      for (auto& job : at_work) {
        if (job.has_tile()) job.list(sums);
      }
      for (auto& job : at_work) {
        if (!job.has_tile()) continue;
        job.search_tile(costs);
        is_done = is_done && !job.has_tile();
      }
    }
  }
}

/// Kernels::search.
template <typename V>
void search_blocks(std::span<const BlockSearch> blocks, const QuarterSumsView& sums, const SearchCosts* costs, std::size_t count) {
  const bool is_free = costs == nullptr && count == 1;
  const SearchCosts& of_vectors = costs != nullptr ? *costs : free_vectors();
  while (!blocks.empty()) {
    // Where vectors are free and windows have whole octets, no costs are needed to keep candidates out.
    const auto needs_costs = [&](const BlockSearch& block) { return !is_free || block.width() % kOctet != 0; };
    const bool first = needs_costs(blocks[0]);
    std::size_t alike = 1;
    while (alike < blocks.size() && needs_costs(blocks[alike]) == first) ++alike;
    const auto search = !first       ? search_alike<V, false, 1>
                        : count == 1 ? search_alike<V, true, 1>
                        : count == 2 ? search_alike<V, true, 2>
                                     : search_alike<V, true, kAny>;
    search(blocks.first(alike), sums, of_vectors, count);
    blocks = blocks.subspan(alike);
  }
}

}  // namespace
}  // namespace c63::cpu
