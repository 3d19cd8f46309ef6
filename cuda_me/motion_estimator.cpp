#include "c63/cuda/motion_estimator.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "c63/cuda/backend.h"
#include "c63/cuda/devices.h"
#include "c63/cuda/fine_estimator.h"
#include "c63/error.h"
#include "codec/geometry.h"
#include "cuda_me/kernels/motion.h"
#include "cuda_me/plane_uploads.h"
#include "cuda_me/runtime/memory.h"
#include "cuda_me/runtime/stream.h"

namespace c63::cuda {
namespace {

/// The pitch of the estimator's own planes is a multiple of this, in bytes, so that wide loads are possible.
constexpr int kRowAlignment = 16;

[[noreturn]] void refuse_planes(const std::string& why) { throw Error(ErrorKind::usage, "C63-MOTION-PLANE", why); }

void require_between(int least, int value, int most, const char* what) {
  if (value >= least && value <= most) return;
  refuse_planes(std::string("the ") + what + " must be " + std::to_string(least) + ".." + std::to_string(most) +
                ", not " + std::to_string(value));
}

const MotionEstimatorOptions& checked(const MotionEstimatorOptions& options) {
  for (const int side : {options.width, options.height}) {
    require_between(kBlockSize, side, kMaxSide + 1, "sides");
    if (side % kBlockSize != 0) refuse_planes("sides must be multiples of 8, not " + std::to_string(side));
  }
  require_between(1, options.range, 127, "range");
  require_between(0, options.zero_bias, 16320, "zero bias");
  require_between(1, options.second_distance, 127, "second distance");
  static_cast<void>(require_device(options.device));
  return options;
}

}  // namespace

struct MotionEstimator::State {
  explicit State(const MotionEstimatorOptions& wanted)
      : options(checked(wanted)), pitch((options.width + kRowAlignment - 1) / kRowAlignment * kRowAlignment) {
    const DeviceGuard guard(options.device);
    search = make_motion_search(options.kernel, "C63-MOTION-PLANE");
  }

  [[nodiscard]] std::size_t blocks() const {
    return static_cast<std::size_t>(options.width / kBlockSize) * static_cast<std::size_t>(options.height / kBlockSize);
  }

  void require_plane(const ConstPlaneView& view) const {
    if (view.data == nullptr || view.width != options.width || view.height != options.height || view.pitch < view.width) {
      refuse_planes("planes must be " + std::to_string(options.width) + "x" + std::to_string(options.height) +
             " with a pitch of at least the width");
    }
  }

  void enqueue(std::span<const MotionPair> pairs, const MotionResults& results, const MotionVector* around, cudaStream_t on) {
    if (results.vectors == nullptr && !pairs.empty()) refuse_planes("there must be room for vectors");
    std::vector<MotionJob> jobs;
    std::vector<RefineJob> refined;
    for (const MotionPair& pair : pairs) {
      require_plane(pair.current);
      require_plane(pair.reference);
      const std::size_t at = jobs.size() * blocks();
      jobs.push_back({pair.current.data, pair.reference.data, pair.current.pitch, pair.reference.pitch, options.width,
                      options.height, options.range, results.vectors + at,
                      results.sads != nullptr ? results.sads + at : nullptr});
      refined.push_back({jobs.back(), around != nullptr ? around + at : nullptr,
                         results.seconds != nullptr ? results.seconds + at : nullptr,
                         results.quarters != nullptr ? results.quarters + 4 * at : nullptr});
    }
    if (around == nullptr && !jobs.empty()) search->enqueue(jobs, on);
    if (around == nullptr && options.zero_bias == 0 && results.seconds == nullptr && results.quarters == nullptr) return;
    refine_motion(refined, {options.zero_bias, options.second_distance}, on);
  }

  void estimate_on_host(std::span<const MotionPair> pairs, const MotionResults& results, const MotionVector* around,
                        cudaStream_t on) {
    if (results.vectors == nullptr && !pairs.empty()) refuse_planes("there must be room for vectors");
    for (const MotionPair& pair : pairs) {
      require_plane(pair.current);
      require_plane(pair.reference);
    }
    const std::size_t all = pairs.size() * blocks();
    const std::vector<MotionPair> moved = upload_pairs(pairs, pitch, batch_planes, on);
    MotionResults found{make_room(batch_vectors, all)};
    if (results.sads != nullptr) found.sads = make_room(batch_sads, all);
    if (results.seconds != nullptr) found.seconds = make_room(batch_seconds, all);
    if (results.quarters != nullptr) found.quarters = make_room(batch_quarters, 4 * all);
    if (around != nullptr) copy_async(make_room(batch_around, all), around, all, on);
    enqueue(moved, found, around != nullptr ? batch_around.data() : nullptr, on);
    copy_async(results.vectors, found.vectors, all, on);
    if (results.sads != nullptr) copy_async(results.sads, found.sads, all, on);
    if (results.seconds != nullptr) copy_async(results.seconds, found.seconds, all, on);
    if (results.quarters != nullptr) copy_async(results.quarters, found.quarters, 4 * all, on);
  }

  MotionEstimatorOptions options;
  int pitch;
  std::unique_ptr<MotionSearch> search;
  // Device buffers for calls with pairs in host memory. They grow to the largest call.
  DeviceBuffer<std::uint8_t> batch_planes;
  DeviceBuffer<MotionVector> batch_vectors;
  DeviceBuffer<MotionVector> batch_around;
  DeviceBuffer<std::uint16_t> batch_sads;
  DeviceBuffer<std::uint16_t> batch_seconds;
  DeviceBuffer<std::uint16_t> batch_quarters;
  std::optional<Stream> own_stream;
};

MotionEstimator::MotionEstimator(const MotionEstimatorOptions& options) : state_(std::make_unique<State>(options)) {}
MotionEstimator::MotionEstimator(MotionEstimator&&) noexcept = default;
MotionEstimator& MotionEstimator::operator=(MotionEstimator&&) noexcept = default;
MotionEstimator::~MotionEstimator() = default;

int MotionEstimator::columns() const { return state_->options.width / kBlockSize; }
int MotionEstimator::rows() const { return state_->options.height / kBlockSize; }

void MotionEstimator::estimate_async(std::span<const MotionPair> pairs, const MotionResults& results,
                                     const MotionVector* around, CUstream_st* stream) {
  const DeviceGuard guard(state_->options.device);
  state_->enqueue(pairs, results, around, stream);
}

void MotionEstimator::estimate(std::span<const MotionPair> pairs, const MotionResults& results, const MotionVector* around) {
  const DeviceGuard guard(state_->options.device);
  if (!state_->own_stream) state_->own_stream.emplace();
  state_->estimate_on_host(pairs, results, around, *state_->own_stream);
  state_->own_stream->synchronize();
}

MotionField MotionEstimator::estimate(const MotionPair& pair) {
  MotionField field{columns(), rows(), std::vector<MotionVector>(state_->blocks()),
                    std::vector<std::uint16_t>(state_->blocks())};
  estimate({&pair, 1}, {.vectors = field.vectors.data(), .sads = field.sads.data()});
  return field;
}

PairSearch open_pair_search(int device, const MotionSettings& settings) {
  static_cast<void>(require_device(device));
  // The size of the planes is not known before the first call.
  if (settings.fine) {
    return [=, estimator = std::make_shared<FineEstimator>(*settings.fine, device)](std::span<const MotionPair> pairs, const MotionResults& results) {
      estimator->estimate(pairs, results);
    };
  }
  return [=, estimator = std::shared_ptr<MotionEstimator>()](std::span<const MotionPair> pairs, const MotionResults& results) mutable {
    if (!estimator && !pairs.empty()) {
      estimator = std::make_shared<MotionEstimator>(MotionEstimatorOptions{
          .width = pairs[0].current.width, .height = pairs[0].current.height, .range = settings.range, .device = device,
          .zero_bias = settings.zero_bias, .second_distance = settings.second_distance});
    }
    if (estimator) estimator->estimate(pairs, results);
  };
}

std::vector<std::string> MotionEstimator::kernel_names() { return motion_kernel_names(); }

}  // namespace c63::cuda
