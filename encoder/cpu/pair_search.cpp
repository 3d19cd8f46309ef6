#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "c63/error.h"
#include "c63/motion.h"
#include "c63/motion_search.h"
#include "c63/thread_pool.h"
#include "codec/geometry.h"
#include "cpu/kernels.h"
#include "cpu/plane_search.h"
#include "cpu/search_method.h"

namespace c63 {
namespace cpu {
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

/// Returns the number of pairs to search at the same time. It is above 1 if the rows of one pair do not keep all
/// threads busy.
std::size_t pairs_at_once(std::size_t pairs, const PlaneGeometry& geometry) {
  constexpr std::size_t kRowsPerThread = 4;  // with fewer, threads are idle at the end of a pair
  const auto threads = static_cast<std::size_t>(ThreadPool::current().concurrency());
  const auto rows = static_cast<std::size_t>((geometry.height + kMcuSize - 1) / kMcuSize);
  return std::clamp<std::size_t>((kRowsPerThread * threads + rows - 1) / rows, 1, std::min(threads, pairs));
}

void require(bool condition, const char* id, const std::string& message) {
  if (!condition) throw Error(ErrorKind::usage, id, message);
}

void check_settings(const MotionSettings& settings) {
  require(settings.range >= 1 && settings.range <= 127, "C63-MERANGE-RANGE",
          "search range " + std::to_string(settings.range) + " is outside 1..127: vectors have 7 bits");
  require(settings.zero_bias >= 0 && settings.zero_bias <= 16320, "C63-SETTING",
          "zero bias " + std::to_string(settings.zero_bias) + " is outside 0..16320, the SADs of a block");
  require(settings.second_distance >= 1 && settings.second_distance <= 127, "C63-SETTING",
          "second distance " + std::to_string(settings.second_distance) + " is outside 1..127 samples");
}

void check_pair(const MotionPair& pair, const MotionPair& first) {
  const auto is_of_size = [&](const ConstPlaneView& plane) {
    return plane.width == first.current.width && plane.height == first.current.height;
  };
  require(pair.current.data != nullptr && pair.reference.data != nullptr, "C63-PLANE-NULL", "a plane without samples");
  require(is_of_size(pair.current) && is_of_size(pair.reference), "C63-PLANE-SIZE", "the planes differ in size");
}

}  // namespace
}  // namespace cpu

struct PlaneSearcher::State {
  explicit State(const MotionSettings& of_all) : settings(of_all), kernels(cpu::kernels(settings.simd)) {
    cpu::check_settings(settings);
  }

  PlaneGeometry geometry;  ///< of the first planes
  MotionSettings settings;
  const cpu::Kernels& kernels;
  std::vector<std::unique_ptr<cpu::PairSearcher>> searchers;  ///< one for each pair that is searched at the same time
};

PlaneSearcher::PlaneSearcher(const MotionSettings& settings) : state_(std::make_unique<State>(settings)) {}
PlaneSearcher::~PlaneSearcher() = default;
PlaneSearcher::PlaneSearcher(PlaneSearcher&&) noexcept = default;
PlaneSearcher& PlaneSearcher::operator=(PlaneSearcher&&) noexcept = default;

void PlaneSearcher::estimate(std::span<const MotionPair> pairs, const MotionResults& results,
                             const MotionVector* around) {
  State& state = *state_;
  if (pairs.empty()) return;
  for (const MotionPair& pair : pairs) cpu::check_pair(pair, pairs[0]);
  const ConstPlaneView& plane = pairs[0].current;
  cpu::require(plane.width > 0 && plane.height > 0 && plane.width % kBlockSize == 0 && plane.height % kBlockSize == 0,
               "C63-PLANE-SIZE",
               "plane size " + std::to_string(plane.width) + "x" + std::to_string(plane.height) +
                   ": both sides must be multiples of 8");
  cpu::require(results.vectors != nullptr, "C63-PLANE-NULL", "there must be room for vectors");
  if (state.geometry.width == 0) {
    state.geometry = {plane.width, plane.height, plane.width / kBlockSize, plane.height / kBlockSize,
                      static_cast<std::size_t>(plane.width) * static_cast<std::size_t>(plane.height)};
  }
  cpu::require(plane.width == state.geometry.width && plane.height == state.geometry.height, "C63-PLANE-SIZE",
               "the planes differ in size from the previous planes");
  const auto blocks = static_cast<std::size_t>(state.geometry.blocks());
  const std::size_t at_once = cpu::pairs_at_once(pairs.size(), state.geometry);
  while (state.searchers.size() < at_once) {
    state.searchers.push_back(std::make_unique<cpu::PairSearcher>(state.geometry, state.settings, state.kernels));
  }
  parallel_for(at_once, [&](std::size_t part) {
    const std::size_t first = part * pairs.size() / at_once;
    for (std::size_t i = first; i < (part + 1) * pairs.size() / at_once; ++i) {
      const std::size_t at = i * blocks;
      const MotionResults own{results.vectors + at, results.sads != nullptr ? results.sads + at : nullptr,
                              results.seconds != nullptr ? results.seconds + at : nullptr,
                              results.quarters != nullptr ? results.quarters + 4 * at : nullptr};
      state.searchers[part]->search(pairs[i], own, around != nullptr ? around + at : nullptr);
    }
  });
}

PairSearch cpu_pair_search(const MotionSettings& settings) {
  if (settings.fine) {
    return [searcher = std::make_shared<FineSearcher>(*settings.fine)](std::span<const MotionPair> pairs, const MotionResults& results) {
      searcher->estimate(pairs, results);
    };
  }
  return [searcher = std::make_shared<PlaneSearcher>(settings)](std::span<const MotionPair> pairs, const MotionResults& results) {
    searcher->estimate(pairs, results);
  };
}

PairSearch open_pair_search(std::function<PairSearch()> open, const std::string& name, PairSearch fallback,
                            std::function<void(const std::string&)> note) {
  std::shared_future<PairSearch> opening = std::async(std::launch::async, std::move(open)).share();
  return [=, search = PairSearch()](std::span<const MotionPair> pairs, const MotionResults& results) mutable {
    if (search) return search(pairs, results);
    try {
      PairSearch opened = opening.get();
      opened(pairs, results);  // may fail, because it allocates memory on the device
      search = std::move(opened);
      note("searching on " + name);
    } catch (const Error& error) {
      if (!fallback) throw;
      note("searching on the CPU: " + error.message());
      search = fallback;
      search(pairs, results);
    }
  };
}

void estimate_motion(std::span<const MotionPair> pairs, const MotionSettings& settings, const MotionResults& results,
                     const MotionVector* around) {
  PlaneSearcher(settings).estimate(pairs, results, around);
}

MotionField estimate_motion(ConstPlaneView current, ConstPlaneView reference, int range, SearchMethod method) {
  const MotionPair pair{current, reference};
  MotionField field{current.width / kBlockSize, current.height / kBlockSize, {}, {}};
  const auto blocks = static_cast<std::size_t>(field.columns) * static_cast<std::size_t>(field.rows);
  field.vectors.resize(blocks);
  field.sads.resize(blocks);
  estimate_motion({&pair, 1}, {.range = range, .method = method}, {field.vectors.data(), field.sads.data()});
  return field;
}

}  // namespace c63
