#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "c63/encoder.h"
#include "codec/geometry.h"
#include "files/scratch_folder.h"
#include "generate/sequence_generator.h"

namespace c63::bench {

/// Frames of raw 4:2:0 in memory, played forward and backward, so that each frame resembles the one before.
class MemoryVideo final : public FrameSource {
 public:
  /// Makes a video of `length` frames, which plays `frames` forward and backward.
  MemoryVideo(int width, int height, std::vector<std::uint8_t> frames, std::int64_t length);

  [[nodiscard]] VideoFormat format() const override { return {width_, height_, {}}; }
  [[nodiscard]] std::optional<std::int64_t> frame_count() const override { return length_; }
  [[nodiscard]] bool seekable() const override { return true; }
  [[nodiscard]] bool concurrent() const override { return true; }
  [[nodiscard]] bool read(std::int64_t index, std::span<std::uint8_t> frame) override;

  /// Lets callers read frames in place from `copy`: memory() itself, or a copy of it in host or GPU memory. Before this
  /// call, or after one with an empty `copy`, frames can only be read by read().
  void offer(std::span<const std::uint8_t> copy, bool in_host_memory = true) {
    offered_ = copy;
    in_host_memory_ = in_host_memory;
  }
  [[nodiscard]] std::span<const std::uint8_t> in_place(std::int64_t index) override;
  [[nodiscard]] bool in_host_memory() const override { return in_host_memory_; }
  /// Returns the memory with all frames.
  [[nodiscard]] std::span<const std::uint8_t> memory() const { return frames_; }
  /// Returns the frame that read() would give for an index.
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

/// A temporary raw file with the frames of a MemoryVideo, played in the same order.
class FileVideo final : public FrameSource {
 public:
  /// Throws Error (output) if the file cannot be written, for example if the folder for temporary files is full.
  FileVideo(const MemoryVideo& video, std::int64_t length);

  [[nodiscard]] VideoFormat format() const override { return file_->format(); }
  [[nodiscard]] std::optional<std::int64_t> frame_count() const override { return length_; }
  [[nodiscard]] bool seekable() const override { return true; }
  [[nodiscard]] bool concurrent() const override { return file_->concurrent(); }
  [[nodiscard]] bool read(std::int64_t index, std::span<std::uint8_t> frame) override;

 private:
  ScratchFolder folder_;
  std::unique_ptr<FrameSource> file_;
  std::int64_t length_;
};

/// Returns frames, forward and backward, until they fill at least `bytes` of memory. Benchmarks call it to get more data
/// than the caches can hold.
[[nodiscard]] std::vector<std::uint8_t> repeated(std::span<const std::uint8_t> frames, std::size_t frame_bytes,
                                                 std::size_t bytes);

/// Returns frames that c63gen makes by default with this pattern, with their planes one after another. They are the
/// same on every machine.
[[nodiscard]] std::vector<std::uint8_t> generated_frames(Pattern pattern, int width, int height, int count);

/// Returns `count` frames of a raw file, from frame `first` on, or fewer if it has fewer. Throws Error (input) if it has
/// none.
[[nodiscard]] std::vector<std::uint8_t> read_frames(const std::string& file, int width, int height, int count, int first = 0);

/// Returns frames of the file, or generated ones if `file` is empty.
[[nodiscard]] inline std::vector<std::uint8_t> frames_of(const std::string& file, int width, int height, int count, int first = 0) {
  return file.empty() ? generated_frames(Pattern::natural, width, height, count)
                      : read_frames(file, width, height, count, first);
}

/// The luma planes of frames. Rows have no gaps.
struct LumaVideo {
  /// Takes the luma of `frames`, which have their planes one after another. Its sides are padded to multiples of 16.
  /// Each plane is filled linearly, as in the codec, so rows shift if the width is no multiple of 16. Throws Error
  /// (input) if there are fewer than two frames.
  LumaVideo(std::string name, const Geometry& geometry, std::span<const std::uint8_t> frames);

  std::string name;
  int width = 0;   ///< a multiple of 16
  int height = 0;  ///< a multiple of 16
  std::vector<std::vector<std::uint8_t>> frames;
};

}  // namespace c63::bench
