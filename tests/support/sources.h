#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "c63/decoder.h"
#include "c63/encoder.h"
#include "c63/error.h"
#include "support/generators.h"

namespace c63::test {

/// A source of frames in memory. It behaves like a file (frames in any order, read by any number of threads) or like a
/// pipe (frames in order, unknown number). A test can make a read fail.
class VideoSource : public FrameSource {
 public:
  enum class Kind { file, pipe };
  /// A function that returns the samples of a frame in place, or an empty span if the frame must be read. The samples
  /// must be valid as long as the source exists.
  using Place = std::function<std::span<const std::uint8_t>(std::int64_t index)>;

  VideoSource(Bytes frames, int width, int height, Kind kind = Kind::file)
      : frames_(std::move(frames)),
        width_(width),
        height_(height),
        length_(static_cast<std::int64_t>(frames_.size() / frame_bytes(width, height))),
        kind_(kind) {}

  /// Makes reads of frame `index` fail. In a file, every such read fails. In a pipe, the next read gives the next
  /// frame.
  void break_at(std::int64_t index) { broken_ = index; }
  /// Makes the video `length` frames long, by repeating the frames in memory.
  void loop(std::int64_t length) { length_ = length; }
  /// Lets a file say that it has this many frames.
  void promise(std::int64_t frames) { promised_ = frames; }
  /// Lets the source also offer frames in place, with this function. If `in_host_memory` is false, the CPU must not
  /// read them.
  void offer(Place place, bool in_host_memory = true) {
    place_ = std::move(place);
    in_host_memory_ = in_host_memory;
  }

  [[nodiscard]] VideoFormat format() const override { return {width_, height_, {}}; }
  [[nodiscard]] std::int64_t frames() const { return length_; }
  [[nodiscard]] std::optional<std::int64_t> frame_count() const override {
    if (kind_ == Kind::pipe) return std::nullopt;
    return promised_.value_or(length_);
  }
  [[nodiscard]] bool seekable() const override { return kind_ == Kind::file; }
  [[nodiscard]] bool concurrent() const override { return kind_ == Kind::file; }

  [[nodiscard]] bool read(std::int64_t index, std::span<std::uint8_t> frame) override {
    if (kind_ == Kind::pipe && index != next_++) {
      throw Error(ErrorKind::internal, "TEST-ORDER",
                  "a pipe was asked for frame " + std::to_string(index) + " instead of " + std::to_string(next_ - 1));
    }
    if (broken_ == index) throw Error(ErrorKind::input, "TEST-BROKEN", "the source broke", {.frame = index});
    if (index >= length_) return false;
    ++reads_;
    std::ranges::copy(this->frame(index), frame.begin());
    return true;
  }
  [[nodiscard]] std::span<const std::uint8_t> in_place(std::int64_t index) override {
    return place_ && index < length_ ? place_(index) : std::span<const std::uint8_t>{};
  }

  [[nodiscard]] bool in_host_memory() const override { return in_host_memory_; }

  /// Returns the samples that read() gives for frame `index`.
  [[nodiscard]] std::span<const std::uint8_t> frame(std::int64_t index) const {
    const std::size_t size = frame_bytes(width_, height_);
    return std::span(frames_).subspan(static_cast<std::size_t>(index) % (frames_.size() / size) * size, size);
  }
  /// The number of reads that gave a frame.
  [[nodiscard]] std::int64_t reads() const { return reads_; }

 private:
  Bytes frames_;
  int width_;
  int height_;
  std::int64_t length_;
  Kind kind_;
  std::optional<std::int64_t> broken_;
  std::optional<std::int64_t> promised_;
  Place place_;
  bool in_host_memory_ = true;
  std::int64_t next_ = 0;  ///< next frame of a pipe
  std::atomic<std::int64_t> reads_ = 0;
};

/// A coded stream in memory. A read gives at most `piece` bytes. taken() is the number of bytes that were read.
class StreamSource final : public ByteSource {
 public:
  explicit StreamSource(std::span<const std::uint8_t> bytes, std::size_t piece = SIZE_MAX)
      : bytes_(bytes), piece_(piece) {}

  [[nodiscard]] std::size_t read(std::span<std::uint8_t> bytes) override {
    const std::size_t count = std::min({bytes.size(), bytes_.size() - taken_, piece_});
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(taken_), count, bytes.begin());
    taken_ += count;
    return count;
  }

  [[nodiscard]] std::size_t taken() const { return taken_; }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t piece_;
  std::size_t taken_ = 0;
};

/// A stream, followed by some bytes again and again, without end.
class EndlessSource final : public ByteSource {
 public:
  EndlessSource(Bytes start, Bytes again) : start_(std::move(start)), again_(std::move(again)) {}
  [[nodiscard]] std::size_t read(std::span<std::uint8_t> bytes) override {
    if (taken_ < start_.size()) {
      const std::size_t count = std::min(bytes.size(), start_.size() - taken_);
      std::copy_n(start_.begin() + static_cast<std::ptrdiff_t>(taken_), count, bytes.begin());
      taken_ += count;
      return count;
    }
    const std::size_t count = std::min<std::size_t>(bytes.size(), 4093);  // so that pieces also end inside frames
    for (std::size_t i = 0; i < count; ++i) bytes[i] = again_[(taken_ - start_.size() + i) % again_.size()];
    taken_ += count;
    return count;
  }
  [[nodiscard]] std::size_t taken() const { return taken_; }

 private:
  Bytes start_;
  Bytes again_;
  std::size_t taken_ = 0;
};

}  // namespace c63::test
