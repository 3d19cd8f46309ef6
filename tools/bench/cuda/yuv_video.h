#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
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
  /// Frames may be taken from this copy of memory(), on the host or on a GPU; empty: they have to be read.
  void offer(std::span<const std::uint8_t> copy, bool in_host_memory = true) {
    offered_ = copy;
    in_host_memory_ = in_host_memory;
  }
  [[nodiscard]] std::span<const std::uint8_t> in_place(std::int64_t index) override;
  [[nodiscard]] bool in_host_memory() const override { return in_host_memory_; }
  /// All memory that frames are handed out of.
  [[nodiscard]] std::span<const std::uint8_t> memory() const { return frames_; }
  /// The frame that read() gives for an index.
  [[nodiscard]] std::span<const std::uint8_t> frame(std::int64_t index) const;

 private:
  int width_;
  int height_;
  std::size_t frame_bytes_;
  std::vector<std::uint8_t> frames_;
  std::int64_t length_;
  std::span<const std::uint8_t> offered_;
  bool in_host_memory_ = true;
};

/// The frames of a raw file, handed out like those of a MemoryVideo. The file is written for it, and removed with it.
class FileVideo final : public FrameSource {
 public:
  /// Throws Error (output) where the folder for temporary files has no room.
  FileVideo(const MemoryVideo& video, std::int64_t length);
  ~FileVideo() override;

  [[nodiscard]] VideoFormat format() const override { return file_->format(); }
  [[nodiscard]] std::optional<std::int64_t> frame_count() const override { return length_; }
  [[nodiscard]] bool seekable() const override { return true; }
  [[nodiscard]] bool concurrent() const override { return file_->concurrent(); }
  [[nodiscard]] bool read(std::int64_t index, std::span<std::uint8_t> frame) override;

 private:
  std::string path_;
  std::unique_ptr<FrameSource> file_;
  std::int64_t length_;
};

/// Frames one behind the other, forth and back again, until they fill so many bytes of memory: more than a cache holds.
[[nodiscard]] std::vector<std::uint8_t> repeated(std::span<const std::uint8_t> frames, std::size_t frame_bytes,
                                                 std::size_t bytes);

/// Made frames that look like video (natural_video()), in linear layout.
[[nodiscard]] std::vector<std::uint8_t> natural_frames(int width, int height, int count);

/// The first frames of a raw file. Throws Error (input).
[[nodiscard]] std::vector<std::uint8_t> read_frames(const std::string& file, int width, int height, int count);

/// Those of the file, or made ones where none is named.
[[nodiscard]] inline std::vector<std::uint8_t> frames_of(const std::string& file, int width, int height, int count) {
  return file.empty() ? natural_frames(width, height, count) : read_frames(file, width, height, count);
}

}  // namespace c63::bench
