#include "decode/joining_frame_pipeline.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "c63/picture.h"
#include "decode/cpu_frame_pipeline.h"
#include "decode/device_frame_pipeline.h"

namespace c63 {

JoiningFramePipeline::JoiningFramePipeline(const DecoderSettings& settings, std::optional<std::uint64_t> stream_bytes)
    : settings_(settings),
      stream_bytes_(stream_bytes),
      cpu_(std::make_unique<CpuFramePipeline>(settings_, arena_of(settings_))) {}

void JoiningFramePipeline::open(const Geometry& geometry) {
  // CPU and device work at the same time for a while, each with half of the memory limit. If 128 pictures do not fit in
  // half of the limit, the CPU gets all of it, and the device does not join.
  constexpr std::uint64_t kFewestPictures = 128;
  std::uint64_t& max_memory = settings_.execution.limits.max_memory;
  if (kFewestPictures * frame_bytes(geometry.width(), geometry.height()) > max_memory / 2) {
    settings_.joining = nullptr;
  } else {
    max_memory /= 2;
    cpu_ = std::make_unique<CpuFramePipeline>(settings_, arena_of(settings_));
  }
  cpu_->open(geometry);
  geometry_ = geometry;
  begin_if_worth();
}

void JoiningFramePipeline::submit(StreamFrame&& coded, std::int64_t count, bool wanted) {
  if (!device_ && coded.parsed.key) join_if_ready();
  last().submit(std::move(coded), count, wanted);
}

std::vector<std::uint8_t> JoiningFramePipeline::pop() {
  FramePipeline& from = first();
  const std::int64_t count = from.front().count;
  done_frames_ += count;
  done_bytes_ += static_cast<std::uint64_t>(count) * from.front().view.coded_bytes;
  if (&from == device_.get()) joined_frames_ += count;
  std::vector<std::uint8_t> bytes = from.pop();
  begin_if_worth();
  return bytes;
}

void JoiningFramePipeline::clear() noexcept {
  cpu_->clear();
  if (device_) device_->clear();
}

void JoiningFramePipeline::begin_if_worth() {
  if (has_begun_ || !settings_.joining || time_left() < settings_.joining->worth().starting_ms) return;
  has_begun_ = true;
  try {
    settings_.joining->begin();
  } catch (const std::exception&) {
    settings_.joining = nullptr;  // no thread could be started: the CPU decodes everything
  }
}

void JoiningFramePipeline::join_if_ready() {
  if (!settings_.joining) return;
  try {
    const auto opened = settings_.joining->ready();
    if (!opened || time_left() < settings_.joining->worth().opening_ms) return;
    DecoderSettings settings = settings_;
    settings.device = *opened;
    auto device = std::make_unique<DeviceFramePipeline>(settings, arena_of(settings));
    device->open(*geometry_);
    device_ = std::move(device);
  } catch (const std::exception&) {
    settings_.joining = nullptr;  // the device cannot be opened: the CPU decodes everything
  }
}

double JoiningFramePipeline::time_left() const {
  const double elapsed = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - started_).count();
  // No time is estimated before this many frames are decoded, because the time until then includes the start of
  // threads.
  constexpr std::int64_t kFirstFrames = 8;
  double left = elapsed;
  if (stream_bytes_) {
    if (done_frames_ < kFirstFrames) return 0;
    left = elapsed * static_cast<double>(*stream_bytes_ - std::min(*stream_bytes_, done_bytes_)) / static_cast<double>(done_bytes_);
  }
  if (settings_.max_frames < 0 || done_frames_ == 0) return left;
  const std::int64_t end = settings_.first_frame + std::min(settings_.max_frames, INT64_MAX - settings_.first_frame);
  return std::min(left, elapsed * static_cast<double>(std::max<std::int64_t>(0, end - done_frames_)) / static_cast<double>(done_frames_));
}

}  // namespace c63
