#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "c63/joining_device.h"
#include "decode/frame_pipeline.h"

namespace c63 {

/// Decodes on the CPU at first. At a key frame, the device of DecoderSettings::joining takes over all further frames, if
/// it is ready and enough of the stream is left.
class JoiningFramePipeline final : public FramePipeline {
 public:
  /// `stream_bytes` is the size of the whole stream, if it is known.
  JoiningFramePipeline(const DecoderSettings& settings, std::optional<std::uint64_t> stream_bytes);

  void open(const Geometry& geometry) override;
  [[nodiscard]] bool is_open() const override { return cpu_->is_open(); }
  [[nodiscard]] bool has_room() const override { return last().has_room(); }
  void submit(StreamFrame&& coded, std::int64_t count, bool wanted) override;
  [[nodiscard]] bool empty() const override { return cpu_->empty() && (!device_ || device_->empty()); }
  [[nodiscard]] bool is_ready() override { return first().is_ready(); }
  [[nodiscard]] const Output& front() override { return first().front(); }
  std::vector<std::uint8_t> pop() override;
  void clear() noexcept override;

  /// Returns the number of frames that the device has decoded.
  [[nodiscard]] std::int64_t joined_frames() const { return joined_frames_; }

 private:
  /// first() is the pipeline that returns the next frame; last() is the one that takes the next submitted frame.
  [[nodiscard]] FramePipeline& first() const { return cpu_->empty() && device_ ? *device_ : *cpu_; }
  [[nodiscard]] FramePipeline& last() const { return device_ ? *device_ : *cpu_; }
  /// Starts the device if enough of the stream is left.
  void begin_if_worth();
  /// Lets the device take all further frames, if it is ready and enough of the stream is left.
  void join_if_ready();
  /// Estimates how long the CPU would need for the rest of the stream, in ms. If the size of the stream is unknown,
  /// assumes that the rest takes as long as the part before it took.
  [[nodiscard]] double time_left() const;

  DecoderSettings settings_;
  std::optional<std::uint64_t> stream_bytes_;
  std::unique_ptr<FramePipeline> cpu_;
  std::unique_ptr<FramePipeline> device_;  ///< null until it joins
  std::optional<Geometry> geometry_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  std::uint64_t done_bytes_ = 0;
  std::int64_t done_frames_ = 0;
  std::int64_t joined_frames_ = 0;
  bool has_begun_ = false;
};

}  // namespace c63
