#pragma once

#include <cstdint>
#include <deque>
#include <memory>

#include "backend/decode_backend.h"
#include "c63/decoder.h"
#include "c63/thread_arena.h"
#include "decode/frame_pipeline.h"

namespace c63 {

/// Decodes frames on a device. The device only reports that a frame is damaged. The CPU's decoder then decodes that
/// frame to find the error and its place, so errors are the same on every device.
class DeviceFramePipeline final : public FramePipeline {
 public:
  /// `settings.device` must be set. Throws Error (device) if the settings ask to keep predictions or vectors, which
  /// only the CPU can keep.
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
  std::uint64_t coded_bytes_ = 0;  ///< coded bytes of frames_
  bool open_ = false;
};

}  // namespace c63
