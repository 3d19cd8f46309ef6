#include "c63/cuda/fine_estimator.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "c63/cuda/devices.h"
#include "cuda_me/kernels/fine_motion.h"
#include "cuda_me/kernels/motion.h"
#include "cuda_me/plane_uploads.h"
#include "cuda_me/runtime/memory.h"
#include "cuda_me/runtime/stream.h"

namespace c63::cuda {
namespace {

constexpr std::ptrdiff_t kRowUnit = 16;  // so that wide loads are possible

constexpr std::ptrdiff_t whole_units(int width) { return (width + kRowUnit - 1) / kRowUnit * kRowUnit; }

}  // namespace

struct FineEstimator::State {
  /// The planes and fields of all jobs at one size of the pyramid.
  struct Level {
    FineGrid grid;
    DeviceBuffer<std::uint8_t> planes;  ///< two for each job; of the full size, the caller's are used
    DeviceBuffer<FineVector> vectors;
    DeviceBuffer<FineVector> before;  ///< those of the previous pass of smoothing

    [[nodiscard]] std::size_t blocks() const { return static_cast<std::size_t>(grid.blocks()); }
    [[nodiscard]] std::ptrdiff_t pitch() const { return whole_units(grid.width); }
    [[nodiscard]] std::size_t plane_bytes() const { return static_cast<std::size_t>(pitch()) * static_cast<std::size_t>(grid.height); }
  };
  using Jobs = std::vector<FineJob>;

  State(const FineMotionSettings& wanted, int on) : settings(wanted), device(on) {
    check_fine_motion({}, settings, {});
    static_cast<void>(require_device(device));
    const DeviceGuard guard(device);
    exact = make_motion_search("automatic");
  }

  [[nodiscard]] int range_at(std::size_t level) const {
    const int scale = 1 << level;
    return (settings.range + scale - 1) / scale;
  }

  void lay_out(int width, int height) {
    const FineGrid grid{width, height, settings.block};
    if (!levels.empty() && levels[0].grid.width == width && levels[0].grid.height == height) return;
    levels.clear();
    levels.push_back({grid, {}, {}, {}});
    for (int i = 0; settings.range > kMostExactRange && i < kPyramidSteps; ++i) {
      const FineGrid& last = levels.back().grid;
      levels.push_back({{half_side(last.width), half_side(last.height), kBlockSize}, {}, {}, {}});
    }
  }

  /// Returns the jobs of a level.
  Jobs jobs_of(std::size_t index, std::span<const MotionPair> pairs) {
    Level& level = levels[index];
    FineVector* const vectors = make_room(level.vectors, pairs.size() * level.blocks());
    std::uint8_t* const planes = index == 0 ? nullptr : make_room(level.planes, 2 * pairs.size() * level.plane_bytes());
    Jobs jobs;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      FineJob job{pairs[i].current.data, pairs[i].reference.data, pairs[i].current.pitch, pairs[i].reference.pitch, level.grid,
                  vectors + i * level.blocks()};
      if (index > 0) {
        job.current = planes + 2 * i * level.plane_bytes();
        job.reference = job.current + level.plane_bytes();
        job.current_pitch = job.reference_pitch = level.pitch();
      }
      jobs.push_back(job);
    }
    return jobs;
  }

  void search_exactly(const Level& level, const Jobs& jobs, int range, cudaStream_t stream) {
    if (level.grid.side != kBlockSize) {
      search_blocks(jobs, range, stream);
      return;
    }
    const std::size_t all = jobs.size() * level.blocks();
    MotionVector* const vectors = make_room(whole, all);
    std::uint16_t* const sads = make_room(whole_sads, all);
    std::vector<MotionJob> searched;
    std::vector<FineExact> taken;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const FineJob& job = jobs[i];
      const std::size_t at = i * level.blocks();
      searched.push_back({job.current, job.reference, job.current_pitch, job.reference_pitch, level.grid.width, level.grid.height, range,
                          vectors + at, sads + at});
      taken.push_back({job, vectors + at, sads + at});
    }
    exact->enqueue(searched, stream);
    take_vectors(taken, stream);
  }

  void smooth(Level& level, const Jobs& jobs, cudaStream_t stream) {
    if (settings.smooth == 0) return;
    const std::size_t all = jobs.size() * level.blocks();
    FineVector* const before = make_room(level.before, all);
    copy_async(before, level.vectors.data(), all, stream);
    static_assert(kSmoothPasses % 2 == 1);  // so that the last pass writes the level's vectors
    for (int pass = 0; pass < kSmoothPasses; ++pass) {
      std::vector<FineStep> steps;
      for (std::size_t i = 0; i < jobs.size(); ++i) {
        FineStep step{jobs[i], before + i * level.blocks(), level.grid};
        if (pass % 2 == 1) {
          step.from = jobs[i].vectors;
          step.job.vectors = before + i * level.blocks();
        }
        steps.push_back(step);
      }
      smooth_vectors(steps, settings.smooth, stream);
    }
  }

  /// Searches at most kFineJobs pairs.
  void search(std::span<const MotionPair> pairs, FineVector* vectors, std::uint16_t* sads, cudaStream_t stream) {
    std::vector<Jobs> jobs;
    for (std::size_t i = 0; i < levels.size(); ++i) jobs.push_back(jobs_of(i, pairs));
    for (std::size_t i = 1; i < levels.size(); ++i) {
      std::vector<FineHalving> halvings;
      for (std::size_t j = 0; j < pairs.size(); ++j) {
        const Level& level = levels[i];
        std::uint8_t* const planes = level.planes.data() + 2 * j * level.plane_bytes();
        halvings.push_back({jobs[i - 1][j], planes, planes + level.plane_bytes(), level.pitch()});
      }
      halve_planes(halvings, stream);
    }
    search_exactly(levels.back(), jobs.back(), range_at(levels.size() - 1), stream);
    smooth(levels.back(), jobs.back(), stream);
    for (std::size_t i = levels.size() - 1; i-- > 0;) {
      std::vector<FineStep> steps;
      for (std::size_t j = 0; j < pairs.size(); ++j) steps.push_back({jobs[i][j], jobs[i + 1][j].vectors, levels[i + 1].grid});
      refine_vectors(steps, range_at(i), stream);
      smooth(levels[i], jobs[i], stream);
    }
    const FineGrid& grid = levels[0].grid;
    const auto bytes = static_cast<std::size_t>(4 * FineHalves{grid.width, grid.height}.plane_bytes());
    const std::size_t blocks = blocks_of_picture();
    std::uint8_t* const all_halves = make_room(halves, pairs.size() * bytes);
    std::vector<FineFinish> last;
    for (std::size_t j = 0; j < pairs.size(); ++j) {
      last.push_back({jobs[0][j], all_halves + j * bytes, vectors + j * blocks, sads != nullptr ? sads + j * blocks : nullptr});
    }
    interpolate_halves(last, stream);
    find_fractions(last, settings.fraction, stream);
  }

  [[nodiscard]] std::size_t blocks_of_picture() const {
    const FineGrid& grid = levels[0].grid;
    return static_cast<std::size_t>(grid.width / kBlockSize) * static_cast<std::size_t>(grid.height / kBlockSize);
  }

  void enqueue(std::span<const MotionPair> pairs, const MotionResults& results, cudaStream_t stream) {
    check_fine_motion(pairs, settings, results);
    if (pairs.empty()) return;
    lay_out(pairs[0].current.width, pairs[0].current.height);
    const std::size_t blocks = blocks_of_picture();
    for (std::size_t first = 0; first < pairs.size(); first += kFineJobs) {
      const std::span<const MotionPair> some = pairs.subspan(first, std::min(kFineJobs, pairs.size() - first));
      FineVector* const vectors = results.fine + first * blocks;
      search(some, vectors, results.sads != nullptr ? results.sads + first * blocks : nullptr, stream);
      if (results.agrees == nullptr) continue;
      std::vector<MotionPair> turned;
      for (const MotionPair& pair : some) turned.push_back({pair.reference, pair.current});
      FineVector* const back = make_room(backward, some.size() * blocks);
      search(turned, back, nullptr, stream);
      const FineGrid grid{levels[0].grid.width, levels[0].grid.height, kBlockSize};
      for (std::size_t i = 0; i < some.size(); ++i) {
        compare_fields(grid, vectors + i * blocks, back + i * blocks, settings.check, results.agrees + (first + i) * blocks, stream);
      }
    }
  }

  void estimate_on_host(std::span<const MotionPair> pairs, const MotionResults& results, cudaStream_t stream) {
    check_fine_motion(pairs, settings, results);
    if (pairs.empty()) return;
    lay_out(pairs[0].current.width, pairs[0].current.height);
    const std::size_t all = pairs.size() * blocks_of_picture();
    const std::vector<MotionPair> moved = upload_pairs(pairs, whole_units(pairs[0].current.width), batch_planes, stream);
    MotionResults found;
    found.fine = make_room(batch_fine, all);
    if (results.sads != nullptr) found.sads = make_room(batch_sads, all);
    if (results.agrees != nullptr) found.agrees = make_room(batch_agrees, all);
    enqueue(moved, found, stream);
    copy_async(results.fine, found.fine, all, stream);
    if (results.sads != nullptr) copy_async(results.sads, found.sads, all, stream);
    if (results.agrees != nullptr) copy_async(results.agrees, found.agrees, all, stream);
  }

  FineMotionSettings settings;
  int device;
  std::vector<Level> levels;  ///< from the full size down
  std::unique_ptr<MotionSearch> exact;
  DeviceBuffer<MotionVector> whole;  ///< results of `exact`
  DeviceBuffer<std::uint16_t> whole_sads;
  DeviceBuffer<std::uint8_t> halves;
  DeviceBuffer<FineVector> backward;
  // For calls with pairs in host memory.
  DeviceBuffer<std::uint8_t> batch_planes;
  DeviceBuffer<FineVector> batch_fine;
  DeviceBuffer<std::uint16_t> batch_sads;
  DeviceBuffer<std::uint8_t> batch_agrees;
  std::optional<Stream> own_stream;
};

FineEstimator::FineEstimator(const FineMotionSettings& settings, int device) : state_(std::make_unique<State>(settings, device)) {}
FineEstimator::FineEstimator(FineEstimator&&) noexcept = default;
FineEstimator& FineEstimator::operator=(FineEstimator&&) noexcept = default;
FineEstimator::~FineEstimator() = default;

void FineEstimator::estimate_async(std::span<const MotionPair> pairs, const MotionResults& results, CUstream_st* stream) {
  const DeviceGuard guard(state_->device);
  state_->enqueue(pairs, results, stream);
}

void FineEstimator::estimate(std::span<const MotionPair> pairs, const MotionResults& results) {
  const DeviceGuard guard(state_->device);
  if (!state_->own_stream) state_->own_stream.emplace();
  state_->estimate_on_host(pairs, results, *state_->own_stream);
  state_->own_stream->synchronize();
}

}  // namespace c63::cuda
