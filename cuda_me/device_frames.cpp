#include "c63/cuda/device_frames.h"

#include <mutex>
#include <optional>
#include <string>

#include "c63/error.h"
#include "cuda_me/runtime/check.h"
#include "cuda_me/runtime/memory.h"
#include "cuda_me/runtime/stream.h"

namespace c63::cuda {

int device_of(const void* memory) {
  if (const std::optional<int> device = device_with(memory)) return *device;
  throw Error(ErrorKind::usage, "C63-DEVICE-MEMORY", "this must be GPU memory");
}

struct DeviceFrames::State {
  /// When this is called, the frames' device must be the current one.
  explicit State(int number) : device(number) {}

  int device;
  DeviceBuffer<std::uint8_t> packed;
  Event ready;
  std::once_flag waited;
  std::mutex copying;  ///< guards `stream`
  Stream stream;
};

DeviceFrames::DeviceFrames(std::span<const std::uint8_t> frames, VideoFormat format, CUstream_st* stream)
    : format_(format), frames_(frames) {
  const std::size_t bytes = frame_bytes(format.width, format.height);
  if (bytes == 0 ? !frames.empty() : frames.size() % bytes != 0) {
    throw Error(ErrorKind::input, "C63-PARTIAL-FRAME",
                std::to_string(frames.size()) + " bytes are not a whole number of frames of " + std::to_string(bytes) +
                    " bytes");
  }
  const int device = frames.empty() ? 0 : device_of(frames.data());
  const DeviceGuard guard(device);
  count_ = bytes == 0 ? 0 : static_cast<std::int64_t>(frames.size() / bytes);
  state_ = std::make_unique<State>(device);
  state_->ready.record(stream);
}

DeviceFrames::DeviceFrames(const std::array<DevicePlane, 3>& planes, std::int64_t count, VideoFormat format,
                           CUstream_st* stream)
    : format_(format), count_(count) {
  const auto require = [](bool holds, const std::string& why) {
    if (!holds) throw Error(ErrorKind::usage, "C63-DEVICE-FRAMES", why);
  };
  require(
      format.width % 2 == 0 && format.height % 2 == 0,
      "planes of " + std::to_string(format.width) + "x" + std::to_string(format.height) + ": both sides must be even");
  require(count >= 0, "the number of frames is negative: " + std::to_string(count));
  for (std::size_t p = 0; p < planes.size(); ++p) {
    const int width = p == 0 ? format.width : format.width / 2;
    require(planes[p].pitch >= width,
            "rows of " + std::to_string(width) + " samples do not fit a pitch of " + std::to_string(planes[p].pitch));
  }
  const int device = count > 0 ? device_of(planes[0].data) : 0;
  for (const DevicePlane& plane : planes) {
    require(count == 0 || device_of(plane.data) == device, "the planes are in the memory of different GPUs");
  }
  const DeviceGuard guard(device);
  state_ = std::make_unique<State>(device);
  const std::size_t bytes = frame_bytes(format.width, format.height);
  state_->packed = DeviceBuffer<std::uint8_t>(static_cast<std::size_t>(count) * bytes);
  frames_ = {state_->packed.data(), state_->packed.size()};
  std::uint8_t* to = state_->packed.data();
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::size_t p = 0; p < planes.size(); ++p) {
      const auto width = static_cast<std::size_t>(p == 0 ? format.width : format.width / 2);
      const auto height = static_cast<std::size_t>(p == 0 ? format.height : format.height / 2);
      pack_rows_async(to, planes[p].data + i * planes[p].frame_pitch, static_cast<std::size_t>(planes[p].pitch), width, height,
                      stream);
      to += width * height;
    }
  }
  state_->ready.record(stream);
}

DeviceFrames::~DeviceFrames() {
  if (state_ == nullptr || state_->packed.size() == 0) return;
  // If no encode began, nothing has waited for the copies yet. They must end before the memory is freed.
  drop_error(cudaEventSynchronize(state_->ready.get()));
}

int DeviceFrames::device() const { return state_->device; }

std::span<const std::uint8_t> DeviceFrames::frame(std::int64_t index) const {
  if (index < 0 || index >= count_) return {};
  const std::size_t bytes = frame_bytes(format_.width, format_.height);
  return frames_.subspan(static_cast<std::size_t>(index) * bytes, bytes);
}

std::span<const std::uint8_t> DeviceFrames::in_place(std::int64_t index) {
  std::call_once(state_->waited, [this] { state_->ready.synchronize(); });
  return frame(index);
}

bool DeviceFrames::read(std::int64_t index, std::span<std::uint8_t> out) {
  const std::span<const std::uint8_t> samples = in_place(index);
  if (samples.empty()) return false;
  const DeviceGuard guard(state_->device);
  const std::lock_guard lock(state_->copying);
  copy_async(out.data(), samples.data(), samples.size(), state_->stream);
  state_->stream.synchronize();
  return true;
}

}  // namespace c63::cuda
