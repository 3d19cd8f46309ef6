#include "cpu/pair_search.h"


#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "c63/thread_pool.h"
#include "cpu/plane_search.h"
#include "cpu/search_method.h"

namespace c63::cpu {
namespace {

/// A plane with kPlaneGuard readable bytes around it: the caller's plane, or a copy.
class GuardedPlane {
 public:
  void set(ConstPlaneView plane, bool is_guarded) {
    view_ = plane;
    if (is_guarded) return;
    const auto width = static_cast<std::size_t>(plane.width);
    samples_.resize(width * static_cast<std::size_t>(plane.height) + 2 * kPlaneGuard);
    std::uint8_t* const copy = samples_.data() + kPlaneGuard;
    for (int y = 0; y < plane.height; ++y) std::memcpy(copy + static_cast<std::size_t>(y) * width, plane.row(y), width);
    view_ = {copy, plane.width, plane.height, plane.width};
  }
  [[nodiscard]] ConstPlaneView view() const { return view_; }

 private:
  ConstPlaneView view_;
  std::vector<std::uint8_t> samples_;
};

}  // namespace

/// Searches one pair of planes after another. The MCU rows of a pair are searched in parallel.
class PairSearcher {
 public:
  PairSearcher(const PlaneGeometry& geometry, const MotionSettings& settings, const Kernels& kernels)
      : geometry_(geometry),
        settings_(settings),
        kernels_(kernels),
        search_(make_block_searcher(settings.method, kernels, geometry, settings.range), kernels, geometry, kRowsPerMcu, settings.range) {}

  /// Searches one pair of planes. `results` and `around` point to the entries of this pair's blocks. A block's window lies
  /// around its vector in `around`. If `around` is null, all windows lie around the zero vector.
  void search(const MotionPair& pair, const MotionResults& results, const MotionVector* around) {
    current_.set(pair.current, settings_.guarded);
    reference_.set(pair.reference, settings_.guarded);
    search_.begin(current_.view(), reference_.view(), around);
    const int mcu_rows = (geometry_.height + kMcuSize - 1) / kMcuSize;
    parallel_for(mcu_rows, [&](int row) {
      search_.prepare_rows(row * kMcuSize, std::min((row + 1) * kMcuSize, geometry_.height));
    });
    search_.prepare();
    parallel_for(mcu_rows, [&](int mcu_row) {
      search_.search_mcu_row(mcu_row);
      for (int row = mcu_row * kRowsPerMcu; row < std::min((mcu_row + 1) * kRowsPerMcu, geometry_.rows); ++row) {
        for (int column = 0; column < geometry_.columns; ++column) finish_block(column, row, results);
      }
    });
  }

 private:
  static constexpr int kRowsPerMcu = kMcuSize / kBlockSize;

  /// Writes the results of a block.
  void finish_block(int column, int row, const MotionResults& results) const {
    const auto block = static_cast<std::size_t>(row * geometry_.columns + column);
    const int x = column * kBlockSize;
    const int y = row * kBlockSize;
    MotionVector vector = search_.chosen()[block];
    std::uint32_t sad = search_.sads()[block];
    if (settings_.zero_bias > 0) {
      const std::uint32_t zero = sad_at(x, y, x, y);
      if (zero < sad + static_cast<std::uint32_t>(settings_.zero_bias)) {
        vector = {};
        sad = zero;
      }
    }
    results.vectors[block] = vector;
    if (results.sads != nullptr) results.sads[block] = static_cast<std::uint16_t>(sad);
    const Position best{x + vector.x, y + vector.y};
    if (results.seconds != nullptr) results.seconds[block] = second_of(column, row, best);
    if (results.quarters != nullptr) add_quarters(x, y, best, results.quarters + 4 * block);
  }

  [[nodiscard]] std::uint32_t sad_at(int x, int y, int from_x, int from_y) const {
    const ConstPlaneView current = current_.view();
    const ConstPlaneView reference = reference_.view();
    return kernels_.sad(&current.at(x, y), current.pitch, &reference.at(from_x, from_y), reference.pitch);
  }

  /// Returns the smallest SAD that the search finds among the window's candidates at least settings_.second_distance
  /// columns or rows away from `best`; kNoSecond if there is none. They lie in four parts of the window: above, to the
  /// left, to the right and below.
  [[nodiscard]] std::uint16_t second_of(int column, int row, const Position& best) const {
    const SearchWindow w = search_.window_of(column, row);
    const int near = settings_.second_distance - 1;
    const int top = std::clamp(best.y - near, w.top, std::max(w.top, w.bottom));
    const int bottom = std::clamp(best.y + near + 1, top, std::max(top, w.bottom));
    const std::array parts{SearchWindow{w.left, w.top, w.right, top},
                           SearchWindow{w.left, top, std::min(best.x - near, w.right), bottom},
                           SearchWindow{std::max(best.x + near + 1, w.left), top, w.right, bottom},
                           SearchWindow{w.left, bottom, w.right, w.bottom}};
    std::uint32_t smallest = MotionResults::kNoSecond;
    for (const SearchWindow& part : parts) {
      if (!part.empty()) smallest = std::min(smallest, search_.least_sad(part, column, row));
    }
    return static_cast<std::uint16_t>(smallest);
  }

  void add_quarters(int x, int y, const Position& best, std::uint16_t* quarters) const {
    const ConstPlaneView current = current_.view();
    const ConstPlaneView reference = reference_.view();
    std::array<int, 4> sums{};
    for (int i = 0; i < kBlockSize; ++i) {
      const std::uint8_t* const a = current.row(y + i) + x;
      const std::uint8_t* const b = reference.row(best.y + i) + best.x;
      for (int j = 0; j < kBlockSize; ++j) sums[static_cast<std::size_t>(i / 4 * 2 + j / 4)] += std::abs(a[j] - b[j]);
    }
    for (std::size_t q = 0; q < sums.size(); ++q) quarters[q] = static_cast<std::uint16_t>(sums[q]);
  }

  PlaneGeometry geometry_;
  const MotionSettings& settings_;
  const Kernels& kernels_;
  PlaneSearch search_;
  GuardedPlane current_;
  GuardedPlane reference_;
};

namespace {

/// Returns the number of pairs to search at the same time. It is above 1 if the rows of one pair do not keep all
/// threads busy.
std::size_t pairs_at_once(std::size_t pairs, const PlaneGeometry& geometry) {
  constexpr std::size_t kRowsPerThread = 4;  // with fewer, threads are idle at the end of a pair
  const auto threads = static_cast<std::size_t>(ThreadPool::current().concurrency());
  const auto rows = static_cast<std::size_t>((geometry.height + kMcuSize - 1) / kMcuSize);
  return std::clamp<std::size_t>((kRowsPerThread * threads + rows - 1) / rows, 1, std::min(threads, pairs));
}

}  // namespace

PairSearchers::PairSearchers(int width, int height, const MotionSettings& settings, const Kernels& kernels)
    : geometry_{width, height, width / kBlockSize, height / kBlockSize,
                static_cast<std::size_t>(width) * static_cast<std::size_t>(height)},
      settings_(settings),
      kernels_(kernels) {}

PairSearchers::~PairSearchers() = default;

void PairSearchers::search(std::span<const MotionPair> pairs, const MotionResults& results,
                           const MotionVector* around) {
  if (pairs.empty()) return;
  const auto blocks = static_cast<std::size_t>(geometry_.blocks());
  const std::size_t at_once = pairs_at_once(pairs.size(), geometry_);
  while (searchers_.size() < at_once)
    searchers_.push_back(std::make_unique<PairSearcher>(geometry_, settings_, kernels_));
  parallel_for(at_once, [&](std::size_t part) {
    const std::size_t first = part * pairs.size() / at_once;
    for (std::size_t i = first; i < (part + 1) * pairs.size() / at_once; ++i) {
      const std::size_t at = i * blocks;
      const MotionResults own{results.vectors + at, results.sads != nullptr ? results.sads + at : nullptr,
                              results.seconds != nullptr ? results.seconds + at : nullptr,
                              results.quarters != nullptr ? results.quarters + 4 * at : nullptr};
      searchers_[part]->search(pairs[i], own, around != nullptr ? around + at : nullptr);
    }
  });
}

}  // namespace c63::cpu
