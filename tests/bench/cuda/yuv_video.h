#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "c63/encoder.h"

namespace c63::bench {

/// Frames of raw 4:2:0 in memory, handed out as long as they are asked for: forth and back again, so that every frame
/// is a neighbour of the one before.
class MemoryVideo final : public FrameSource {
 public:
  /// `length` frames are there to be read, made from the ones that are in memory.
  MemoryVideo(int width, int height, std::vector<std::uint8_t> frames, std::int64_t length);

  [[nodiscard]] VideoFormat format() const override { return {width_, height_, {}}; }
  [[nodiscard]] std::optional<std::int64_t> frame_count() const override { return length_; }
  [[nodiscard]] bool seekable() const override { return true; }
  [[nodiscard]] bool concurrent() const override { return true; }
  [[nodiscard]] bool read(std::int64_t index, std::span<std::uint8_t> frame) override;

  void set_length(std::int64_t length) { length_ = length; }
  /// The frame that read() gives for an index.
  [[nodiscard]] std::span<const std::uint8_t> frame(std::int64_t index) const;

 private:
  int width_;
  int height_;
  std::size_t frame_bytes_;
  std::vector<std::uint8_t> frames_;
  std::int64_t length_;
};

/// Made frames that look like video (natural_video()), in linear layout.
[[nodiscard]] std::vector<std::uint8_t> natural_frames(int width, int height, int count);

/// The first frames of a raw file. Throws Error (input).
[[nodiscard]] std::vector<std::uint8_t> read_frames(const std::string& file, int width, int height, int count);

}  // namespace c63::bench
