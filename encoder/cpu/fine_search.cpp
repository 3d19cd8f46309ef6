// The search of true motion on the CPU (c63/fine_motion.h).

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "c63/error.h"
#include "c63/fine_motion.h"
#include "c63/motion_search.h"
#include "c63/thread_pool.h"
#include "cpu/kernels.h"
#include "decide/fine_motion.h"

namespace c63 {
namespace cpu {
namespace {

/// A plane with a margin, and readable bytes around it as kernels need them.
class WidePlane {
 public:
  static constexpr int kMargin = 16;  // what is interpolated, and the filter's taps around it
  static_assert(kMargin >= kHalfMargin + 3);

  void resize(int width, int height) {
    const std::ptrdiff_t pitch = (width + 2 * kMargin + 15) / 16 * 16;
    samples_.resize(static_cast<std::size_t>(pitch * (height + 2 * kMargin)) + 2 * kPlaneGuard);
    view_ = {samples_.data() + kPlaneGuard + kMargin * pitch + kMargin, width, height, pitch};
  }
  [[nodiscard]] const PlaneView& view() const { return view_; }

  /// Repeats the edges of row y in the margins to its left and right.
  void extend_row(int y) {
    std::uint8_t* const row = view_.row(y);
    std::memset(row - kMargin, row[0], kMargin);
    std::memset(row + view_.width, row[view_.width - 1], kMargin);
  }
  /// Repeats the first and the last row, which have been extended, in the margins above and below.
  void extend_rows() {
    const auto bytes = static_cast<std::size_t>(view_.width + 2 * kMargin);
    for (int i = 1; i <= kMargin; ++i) {
      std::memcpy(view_.row(-i) - kMargin, view_.row(0) - kMargin, bytes);
      std::memcpy(view_.row(view_.height - 1 + i) - kMargin, view_.row(view_.height - 1) - kMargin, bytes);
    }
  }

 private:
  std::vector<std::uint8_t> samples_;
  PlaneView view_;
};

/// Calls body(y) for the rows first to end - 1, on all threads.
template <typename Body>
void for_each_row(int first, int end, const Body& body) {
  parallel_ranges(static_cast<std::size_t>(end - first), 16, [&](std::size_t begin, std::size_t stop) {
    for (std::size_t i = begin; i < stop; ++i) body(first + static_cast<int>(i));
  });
}

/// The two planes of a pair, at one size of the pyramid.
struct PyramidLevel {
  WidePlane current;
  WidePlane reference;
  FineGrid grid;
  std::vector<FineVector> vectors;  ///< in whole samples
  std::vector<FineVector> before;   ///< those of the previous pass of smoothing
};

/// The first of the cheapest vectors that were offered.
struct Cheapest {
  std::uint32_t cost = UINT32_MAX;
  FineVector vector{};

  void offer(FineVector candidate, std::uint32_t its_cost) {
    if (its_cost < cost) *this = {its_cost, candidate};
  }
};

class FinePairSearch {
 public:
  FinePairSearch(const FineMotionSettings& settings, const Kernels& kernels, int width, int height)
      : settings_(settings), kernels_(kernels), levels_(settings.range > kMostExactRange ? kPyramidSteps + 1 : 1) {
    for (PyramidLevel& level : levels_) {
      level.grid = {width, height, &level == levels_.data() ? settings.block : kBlockSize};
      level.current.resize(width, height);
      level.reference.resize(width, height);
      level.vectors.resize(static_cast<std::size_t>(level.grid.blocks()));
      width = half_side(width);
      height = half_side(height);
    }
    for (WidePlane& plane : halves_) plane.resize(levels_[0].grid.width, levels_[0].grid.height);
    const int range = range_at(levels_.size() - 1);
    if (levels_.back().grid.side == kBlockSize) exact_.emplace(MotionSettings{.range = range, .zero_bias = 1, .guarded = true, .simd = settings.simd});
  }

  /// Searches a pair of planes. Writes one vector for each 8x8 block, and the SADs if they are wanted.
  void search(const MotionPair& pair, FineVector* vectors, std::uint16_t* sads) {
    copy(pair.current, levels_[0].current);
    copy(pair.reference, levels_[0].reference);
    for (std::size_t i = 1; i < levels_.size(); ++i) {
      halve(levels_[i - 1].current, levels_[i].current);
      halve(levels_[i - 1].reference, levels_[i].reference);
    }
    search_exactly(levels_.back());
    smooth(levels_.back());
    for (std::size_t i = levels_.size() - 1; i-- > 0;) {
      refine(levels_[i], levels_[i + 1], range_at(i));
      smooth(levels_[i]);
    }
    if (settings_.fraction > 1) interpolate();
    finish(vectors, sads);
  }

 private:
  [[nodiscard]] int range_at(std::size_t level) const {
    const int scale = 1 << level;
    return (settings_.range + scale - 1) / scale;
  }

  static void copy(ConstPlaneView from, WidePlane& to) {
    for_each_row(0, from.height, [&](int y) {
      std::memcpy(to.view().row(y), from.row(y), static_cast<std::size_t>(from.width));
      to.extend_row(y);
    });
    to.extend_rows();
  }

  /// Each sample of the smaller picture is the mean of four.
  static void halve(const WidePlane& from, WidePlane& to) {
    const PlaneView& small = to.view();
    for_each_row(0, small.height, [&](int y) {
      // Rows and columns beyond the plane, and not only one beyond it, are those of the edge.
      const std::uint8_t* const a = from.view().row(std::min(2 * y, from.view().height - 1));
      const std::uint8_t* const b = from.view().row(std::min(2 * y + 1, from.view().height - 1));
      for (int x = 0; x < small.width; ++x) {
        small.at(x, y) = static_cast<std::uint8_t>((a[2 * x] + a[2 * x + 1] + b[2 * x] + b[2 * x + 1] + 2) >> 2);
      }
      to.extend_row(y);
    });
    to.extend_rows();
  }

  [[nodiscard]] std::uint32_t sad_of(const PyramidLevel& level, const FineBlock& block, FineVector v) const {
    const PlaneView& current = level.current.view();
    const PlaneView& reference = level.reference.view();
    std::uint32_t sad = 0;
    for (int y = block.y; y < block.y + block.height; y += kBlockSize) {
      for (int x = block.x; x < block.x + block.width; x += kBlockSize) {
        sad += kernels_.sad(&current.at(x, y), current.pitch, &reference.at(x + v.x, y + v.y), reference.pitch);
      }
    }
    return sad;
  }

  /// Calls body(index, block) for all blocks of a level, on all threads.
  template <typename Body>
  static void for_each_block(const PyramidLevel& level, const Body& body) {
    parallel_for(level.grid.rows(), [&](int row) {
      for (int column = 0; column < level.grid.columns(); ++column) {
        const int index = row * level.grid.columns() + column;
        body(index, level.grid.block(index));
      }
    });
  }

  void search_exactly(PyramidLevel& level) {
    const int range = range_at(levels_.size() - 1);
    if (exact_) {
      const MotionPair pair{level.current.view(), level.reference.view()};
      whole_.resize(level.vectors.size());
      exact_->estimate({&pair, 1}, {.vectors = whole_.data()});
      std::ranges::transform(whole_, level.vectors.begin(), [](MotionVector v) { return FineVector{v.x, v.y}; });
      return;
    }
    for_each_block(level, [&](int index, const FineBlock& block) {
      Cheapest best;
      best.offer({}, sad_of(level, block, {}));
      const SearchWindow window = block.window(range, level.grid.width, level.grid.height);
      for (int y = window.top; y < window.bottom; ++y) {
        for (int x = window.left; x < window.right; ++x) {
          const FineVector v{static_cast<std::int16_t>(x - block.x), static_cast<std::int16_t>(y - block.y)};
          best.offer(v, sad_of(level, block, v));
        }
      }
      level.vectors[static_cast<std::size_t>(index)] = best.vector;
    });
  }

  /// Finds the vectors of a level with those of the smaller one.
  void refine(PyramidLevel& level, const PyramidLevel& smaller, int range) {
    for_each_block(level, [&](int index, const FineBlock& block) {
      std::array<FineVector, kRefineSeeds> seeds;
      Cheapest best;
      for (int i = 0; i < kRefineSeeds; ++i) {
        const FineVector seed = refine_seed(i, block, level.grid, smaller.grid, smaller.vectors.data(), range);
        seeds[static_cast<std::size_t>(i)] = seed;
        if (std::find(seeds.begin(), seeds.begin() + i, seed) != seeds.begin() + i) continue;  // it would find nothing better
        for (int j = 0; j < kRefineSide * kRefineSide; ++j) {
          const FineVector v = refine_candidate(seed, j);
          const bool is_candidate = block.is_legal(v, level.grid.width, level.grid.height) && is_in_range(v, range);
          if (is_candidate) best.offer(v, sad_of(level, block, v));
        }
      }
      level.vectors[static_cast<std::size_t>(index)] = best.vector;
    });
  }

  void smooth(PyramidLevel& level) {
    if (settings_.smooth == 0) return;
    const FineGrid& grid = level.grid;
    for (int pass = 0; pass < kSmoothPasses; ++pass) {
      level.before = level.vectors;
      const FineVector* const before = level.before.data();
      for_each_block(level, [&](int index, const FineBlock& block) {
        const int column = index % grid.columns();
        const int row = index / grid.columns();
        const int weight = settings_.smooth * (block.width / kBlockSize) * (block.height / kBlockSize);
        std::array<FineVector, kSmoothCandidates> tried;
        Cheapest best;
        for (int i = 0; i < kSmoothCandidates; ++i) {
          const FineVector v = smooth_candidate(i, column, row, grid, before);
          tried[static_cast<std::size_t>(i)] = v;
          if (std::find(tried.begin(), tried.begin() + i, v) != tried.begin() + i || !block.is_legal(v, grid.width, grid.height)) continue;
          best.offer(v, sad_of(level, block, v) + static_cast<std::uint32_t>(weight * smooth_distance(v, column, row, grid, before)));
        }
        level.vectors[static_cast<std::size_t>(index)] = best.vector;
      });
    }
  }

  /// Makes the planes of half samples.
  void interpolate() {
    const PlaneView& whole = levels_[0].reference.view();
    const int count = whole.width + 2 * kHalfMargin;
    for_each_row(-kHalfMargin, whole.height + kHalfMargin, [&](int y) {
      kernels_.half_samples(whole.row(y) - kHalfMargin, whole.pitch, count, halves_[0].view().row(y) - kHalfMargin,
                            halves_[1].view().row(y) - kHalfMargin, halves_[2].view().row(y) - kHalfMargin);
    });
  }

  /// Returns where the samples at (x, y) lie in the four interpolated planes.
  [[nodiscard]] std::array<const std::uint8_t*, 4> planes_at(int x, int y) const {
    return {&levels_[0].reference.view().at(x, y), &halves_[0].view().at(x, y), &halves_[1].view().at(x, y), &halves_[2].view().at(x, y)};
  }

  /// Finds the fractions, and writes the results.
  void finish(FineVector* vectors, std::uint16_t* sads) const {
    const PyramidLevel& level = levels_[0];
    const int columns = level.grid.width / kBlockSize;
    for_each_block(level, [&](int index, const FineBlock& block) {
      const FineVector whole = level.vectors[static_cast<std::size_t>(index)];
      FineVector found{static_cast<std::int16_t>(whole.x * kFineUnits), static_cast<std::int16_t>(whole.y * kFineUnits)};
      constexpr int kMostParts = 16;
      std::array<std::array<std::uint32_t, kFractions>, kMostParts> parts{};
      int best = kFractions / 2;
      const auto for_each_part = [&](const auto& body) {
        int part = 0;
        for (int y = block.y; y < block.y + block.height; y += kBlockSize) {
          for (int x = block.x; x < block.x + block.width; x += kBlockSize) body(parts[static_cast<std::size_t>(part++)], x, y);
        }
      };
      const PlaneView& current = level.current.view();
      if (settings_.fraction > 1) {
        const int step = settings_.fraction == 2 ? 2 : 1;
        std::array<std::uint32_t, kFractions> sums{};
        for_each_part([&](auto& part, int x, int y) {
          kernels_.fraction_sads(&current.at(x, y), current.pitch, planes_at(x + whole.x, y + whole.y), current.pitch, step, part.data());
          for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += part[i];
        });
        std::uint32_t key = UINT32_MAX;
        for (int y = -kFractionReach; y <= kFractionReach; ++y) {
          for (int x = -kFractionReach; x <= kFractionReach; ++x) {
            if (x % step != 0 || y % step != 0) continue;
            key = std::min(key, fraction_key(sums[static_cast<std::size_t>((y + kFractionReach) * kFractionSide + x + kFractionReach)], x, y));
          }
        }
        best = static_cast<int>(key & 63);
        found = fraction_of_key(key, whole);
      } else if (sads != nullptr) {
        for_each_part([&](auto& part, int x, int y) {
          part[kFractions / 2] = sad_of(level, {x, y, kBlockSize, kBlockSize}, whole);
        });
      }
      const FineVector vector = settings_.fraction == kFineUnits ? gradient_step(gradient_sums(block, found), found) : found;
      for_each_part([&](const auto& part, int x, int y) {
        const auto at = static_cast<std::size_t>(y / kBlockSize * columns + x / kBlockSize);
        vectors[at] = vector;
        if (sads != nullptr) sads[at] = static_cast<std::uint16_t>(part[static_cast<std::size_t>(best)]);
      });
    });
  }

  [[nodiscard]] GradientSums gradient_sums(const FineBlock& block, FineVector v) const {
    const PlaneView& current = levels_[0].current.view();
    const SearchWindow window = gradient_window(block, current.width, current.height);
    const auto place = [&](bool second) {
      const HalfPoint p = quarter_point(v.x / (kFineUnits / 4), v.y / (kFineUnits / 4), second);
      return planes_at(window.left + p.x, window.top + p.y)[static_cast<std::size_t>(p.plane)];
    };
    const std::uint8_t* a = place(false);
    const std::uint8_t* b = place(true);
    GradientSums sums;
    for (int y = window.top; y < window.bottom; ++y, a += current.pitch, b += current.pitch) {
      const std::uint8_t* const row = &current.at(window.left, y);
      for (int x = 0; x < window.right - window.left; ++x) {
        sums.add(row[x + 1] - row[x - 1], row[x + current.pitch] - row[x - current.pitch], row[x] - mean_sample(a[x], b[x]));
      }
    }
    return sums;
  }

  FineMotionSettings settings_;
  const Kernels& kernels_;
  std::vector<PyramidLevel> levels_;          ///< from the full size down
  std::array<WidePlane, 3> halves_;    ///< of the reference: half a sample right, below, both
  std::optional<PlaneSearcher> exact_; ///< of the smallest level, if its blocks have 8x8 samples
  std::vector<MotionVector> whole_;
};

void require_fine(bool condition, const char* id, const std::string& message) {
  if (!condition) throw Error(ErrorKind::usage, id, message);
}

}  // namespace
}  // namespace cpu

void check_fine_motion(std::span<const MotionPair> pairs, const FineMotionSettings& settings, const MotionResults& results) {
  using cpu::require_fine;
  require_fine(settings.range >= 1 && settings.range <= 512, "C63-MERANGE-RANGE",
               "search range " + std::to_string(settings.range) + " is outside 1..512");
  require_fine(settings.block == 8 || settings.block == 16 || settings.block == 32, "C63-SETTING", "blocks have 8, 16 or 32 samples");
  require_fine(settings.fraction == 1 || settings.fraction == 2 || settings.fraction == 4 || settings.fraction == kFineUnits, "C63-SETTING",
               "the fractions of samples are 1, 2, 4 or 32");
  require_fine(settings.smooth >= 0 && settings.smooth <= 1000, "C63-SETTING", "the weight of smoothness is outside 0..1000");
  if (pairs.empty()) return;
  const ConstPlaneView& first = pairs[0].current;
  for (const MotionPair& pair : pairs) {
    for (const ConstPlaneView& plane : {pair.current, pair.reference}) {
      require_fine(plane.data != nullptr, "C63-PLANE-NULL", "a plane without samples");
      require_fine(plane.width == first.width && plane.height == first.height, "C63-PLANE-SIZE", "the planes differ in size");
    }
  }
  require_fine(first.width > 0 && first.height > 0 && first.width % kBlockSize == 0 && first.height % kBlockSize == 0, "C63-PLANE-SIZE",
               "plane size " + std::to_string(first.width) + "x" + std::to_string(first.height) + ": both sides must be multiples of 8");
  require_fine(results.fine != nullptr, "C63-PLANE-NULL", "there must be room for vectors");
  require_fine(results.vectors == nullptr && results.seconds == nullptr && results.quarters == nullptr, "C63-SETTING",
               "this search has no second SADs and no quarters");
  require_fine(results.agrees == nullptr || settings.check >= 0, "C63-SETTING", "blocks are compared only with a limit");
}

struct FineSearcher::State {
  FineMotionSettings settings;
  int width = 0;
  int height = 0;
  std::unique_ptr<cpu::FinePairSearch> search = {};
  std::vector<FineVector> backward = {};
};

FineSearcher::FineSearcher(const FineMotionSettings& settings) : state_(std::make_unique<State>(State{settings})) {
  check_fine_motion({}, settings, {});
}
FineSearcher::~FineSearcher() = default;
FineSearcher::FineSearcher(FineSearcher&&) noexcept = default;
FineSearcher& FineSearcher::operator=(FineSearcher&&) noexcept = default;

void FineSearcher::estimate(std::span<const MotionPair> pairs, const MotionResults& results) {
  State& state = *state_;
  check_fine_motion(pairs, state.settings, results);
  if (pairs.empty()) return;
  const FineGrid grid{pairs[0].current.width, pairs[0].current.height, kBlockSize};
  if (!state.search) {
    state.width = grid.width;
    state.height = grid.height;
    state.search = std::make_unique<cpu::FinePairSearch>(state.settings, cpu::kernels(state.settings.simd), grid.width, grid.height);
  }
  cpu::require_fine(grid.width == state.width && grid.height == state.height, "C63-PLANE-SIZE",
                    "the planes differ in size from the previous planes");
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const std::size_t at = i * static_cast<std::size_t>(grid.blocks());
    FineVector* const vectors = results.fine + at;
    state.search->search(pairs[i], vectors, results.sads != nullptr ? results.sads + at : nullptr);
    if (results.agrees == nullptr) continue;
    state.backward.resize(static_cast<std::size_t>(grid.blocks()));
    state.search->search({pairs[i].reference, pairs[i].current}, state.backward.data(), nullptr);
    for (int block = 0; block < grid.blocks(); ++block) {
      results.agrees[at + static_cast<std::size_t>(block)] = vectors_agree(block % grid.columns(), block / grid.columns(), grid, vectors,
                                                                           state.backward.data(), state.settings.check);
    }
  }
}

void estimate_fine_motion(std::span<const MotionPair> pairs, const FineMotionSettings& settings, const MotionResults& results) {
  FineSearcher(settings).estimate(pairs, results);
}

}  // namespace c63
