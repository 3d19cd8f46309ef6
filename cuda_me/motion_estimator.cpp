#include "c63/cuda/motion_estimator.h"

#include <optional>
#include <utility>

#include "c63/cuda/devices.h"
#include "c63/error.h"
#include "codec/geometry.h"
#include "cuda_me/kernels/motion.h"
#include "cuda_me/runtime/device_guard.h"
#include "cuda_me/runtime/memory.h"
#include "cuda_me/runtime/stream.h"

namespace c63::cuda {
namespace {

/// Rows of our own copies start where wide loads are allowed.
constexpr int kRowAlignment = 16;

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorKind::usage, "C63-MOTION-PLANE", why); }

const MotionEstimatorOptions& checked(const MotionEstimatorOptions& options) {
  if (options.width <= 0 || options.height <= 0 || options.width % kBlockSize != 0 || options.height % kBlockSize != 0 ||
      options.width > kMaxSide + 1 || options.height > kMaxSide + 1) {
    refuse("sides must be multiples of 8 from 8 to 65536, not " + std::to_string(options.width) + "x" +
           std::to_string(options.height));
  }
  if (options.range < 1 || options.range > 127) {
    refuse("the range must be 1..127, not " + std::to_string(options.range));
  }
  static_cast<void>(require_device(options.device));
  return options;
}

MotionKernel kernel_of(const std::string& wanted) {
  const std::optional<MotionKernel> kernel = motion_kernel_from(wanted);
  if (kernel) return *kernel;
  std::string known;
  for (const std::string& one : MotionEstimator::kernel_names()) known += " " + one;
  refuse("no motion kernel is called '" + wanted + "'; there are:" + known);
}

}  // namespace

struct MotionEstimator::State {
  explicit State(const MotionEstimatorOptions& wanted)
      : options(checked(wanted)),
        guard(std::in_place, options.device),
        pitch((options.width + kRowAlignment - 1) / kRowAlignment * kRowAlignment),
        search(make_motion_search(kernel_of(options.kernel))) {
    guard.reset();
  }

  [[nodiscard]] std::size_t blocks() const {
    return static_cast<std::size_t>(options.width / kBlockSize) * static_cast<std::size_t>(options.height / kBlockSize);
  }

  /// The plane on the device: itself, or a copy of it.
  std::pair<const std::uint8_t*, std::ptrdiff_t> on_device(const MotionPlane& plane, DeviceBuffer<std::uint8_t>& copy,
                                                           cudaStream_t stream) const {
    const ConstPlaneView& view = plane.view;
    if (view.data == nullptr || view.width != options.width || view.height != options.height || view.pitch < view.width) {
      refuse("planes must be " + std::to_string(options.width) + "x" + std::to_string(options.height) +
             " with a pitch of at least the width");
    }
    if (plane.memory == Memory::device) return {view.data, view.pitch};
    if (copy.size() == 0) copy = DeviceBuffer<std::uint8_t>(static_cast<std::size_t>(pitch) * options.height);
    check(cudaMemcpy2DAsync(copy.data(), static_cast<std::size_t>(pitch), view.data,
                            static_cast<std::size_t>(view.pitch), static_cast<std::size_t>(view.width),
                            static_cast<std::size_t>(view.height), cudaMemcpyHostToDevice, stream),
          "cudaMemcpy2DAsync");
    return {copy.data(), pitch};
  }

  void enqueue(const MotionPlane& current_plane, const MotionPlane& reference_plane, const MotionOutput& output,
               cudaStream_t on) {
    if (output.vectors == nullptr) refuse("there must be room for vectors");
    const bool host = output.memory == Memory::host;
    if (host && vectors.size() == 0) {
      vectors = DeviceBuffer<MotionVector>(blocks());
      sads = DeviceBuffer<std::uint16_t>(blocks());
    }
    const auto [current_data, current_pitch] = on_device(current_plane, current, on);
    const auto [reference_data, reference_pitch] = on_device(reference_plane, reference, on);
    const MotionJob job{current_data,   reference_data, current_pitch,
                        reference_pitch, options.width,  options.height,
                        options.range,  host ? vectors.data() : output.vectors,
                        host ? (output.sads != nullptr ? sads.data() : nullptr) : output.sads};
    search->enqueue({&job, 1}, on);
    if (!host) return;
    copy_async(output.vectors, vectors.data(), blocks(), on);
    if (output.sads != nullptr) copy_async(output.sads, sads.data(), blocks(), on);
  }

  MotionEstimatorOptions options;
  std::optional<DeviceGuard> guard;  ///< while being made
  int pitch;
  std::unique_ptr<MotionSearch> search;
  DeviceBuffer<std::uint8_t> current;
  DeviceBuffer<std::uint8_t> reference;
  DeviceBuffer<MotionVector> vectors;
  DeviceBuffer<std::uint16_t> sads;
  std::optional<Stream> own_stream;
};

MotionEstimator::MotionEstimator(const MotionEstimatorOptions& options) : state_(std::make_unique<State>(options)) {}
MotionEstimator::MotionEstimator(MotionEstimator&&) noexcept = default;
MotionEstimator& MotionEstimator::operator=(MotionEstimator&&) noexcept = default;
MotionEstimator::~MotionEstimator() = default;

int MotionEstimator::columns() const { return state_->options.width / kBlockSize; }
int MotionEstimator::rows() const { return state_->options.height / kBlockSize; }

void MotionEstimator::estimate_async(const MotionPlane& current, const MotionPlane& reference,
                                     const MotionOutput& output, CUstream_st* stream) {
  const DeviceGuard guard(state_->options.device);
  state_->enqueue(current, reference, output, stream);
}

MotionField MotionEstimator::estimate(const MotionPlane& current, const MotionPlane& reference) {
  const DeviceGuard guard(state_->options.device);
  if (!state_->own_stream) state_->own_stream.emplace();
  MotionField field{columns(), rows(), std::vector<MotionVector>(state_->blocks()),
                    std::vector<std::uint16_t>(state_->blocks())};
  state_->enqueue(current, reference, {field.vectors.data(), field.sads.data(), Memory::host}, *state_->own_stream);
  state_->own_stream->synchronize();
  return field;
}

std::vector<std::string> MotionEstimator::kernel_names() {
  std::vector<std::string> names;
  for (const MotionKernelInfo& info : motion_kernels()) names.emplace_back(info.name);
  return names;
}

}  // namespace c63::cuda
