#pragma once

#include <cstdint>
#include <deque>
#include <memory>

#include "backend/decode_backend.h"
#include "c63/decoder.h"
#include "c63/thread_arena.h"
#include "pipeline/frame_pipeline.h"

namespace c63 {

/// Has a device decode the frames. The device only tells that a frame is not fine; what is wrong with it, and where, the CPU's
/// decoder says, so that errors are the same on every device.
class DeviceFramePipeline final : public FramePipeline {
 public:
  /// `settings.device` is set. Throws Error (device) for settings that want what only the CPU keeps.
  DeviceFramePipeline(const DecoderSettings& settings, std::shared_ptr<ThreadArena> arena);
  ~DeviceFramePipeline() override;
  DeviceFramePipeline(const DeviceFramePipeline&) = delete;
  DeviceFramePipeline& operator=(const DeviceFramePipeline&) = delete;

  void open(const Geometry& geometry) override;
  [[nodiscard]] bool is_open() const override { return open_; }
  [[nodiscard]] bool has_room() const override;
  void submit(StreamFrame&& coded, std::int64_t count, bool wanted) override;
  [[nodiscard]] bool empty() const override { return frames_.empty(); }
  [[nodiscard]] bool is_ready() override;
  [[nodiscard]] const Output& front() override;
  std::vector<std::uint8_t> pop() override;
  void clear() noexcept override;

 private:
  struct Frame {
    StreamFrame coded;
    Output output;
  };

  const DecoderSettings settings_;
  std::shared_ptr<ThreadArena> arena_;
  std::shared_ptr<DecodeBackend> device_;
  std::deque<Frame> frames_;
  std::uint64_t coded_bytes_ = 0;  ///< of frames_
  bool open_ = false;
};

}  // namespace c63
