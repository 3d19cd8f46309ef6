#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "c63/decoder.h"
#include "c63/encoder.h"
#include "c63/error.h"
#include "support/generators.h"

namespace c63::test {

/// Frames in memory, offered as a file (seekable) or as a pipe, which may break at a frame.
class VideoSource final : public FrameSource {
 public:
  enum class Kind { file, pipe };

  VideoSource(Bytes frames, int width, int height, Kind kind = Kind::file)
      : frames_(std::move(frames)), width_(width), height_(height), kind_(kind) {}

  /// Reading frame `index` fails, once for pipes and each time for files; a pipe goes on with the next frame
  /// afterwards.
  void break_at(std::int64_t index) { broken_ = index; }

  [[nodiscard]] VideoFormat format() const override { return {width_, height_, {}}; }
  [[nodiscard]] std::int64_t frames() const {
    return static_cast<std::int64_t>(frames_.size() / frame_bytes(width_, height_));
  }
  [[nodiscard]] std::optional<std::int64_t> frame_count() const override {
    if (kind_ == Kind::pipe) return std::nullopt;
    return frames();
  }
  [[nodiscard]] bool seekable() const override { return kind_ == Kind::file; }

  [[nodiscard]] bool read(std::int64_t index, std::span<std::uint8_t> frame) override {
    if (kind_ == Kind::pipe && index != next_) {
      throw Error(ErrorKind::internal, "TEST-ORDER",
                  "a pipe was asked for frame " + std::to_string(index) + " instead of " + std::to_string(next_));
    }
    ++next_;
    ++reads_;
    if (broken_ == index) throw Error(ErrorKind::input, "TEST-BROKEN", "the source broke", {.frame = index});
    const std::size_t size = frame_bytes(width_, height_);
    if (index >= frames()) return false;
    std::copy_n(frames_.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(index) * size), size,
                frame.begin());
    return true;
  }

  [[nodiscard]] std::int64_t reads() const { return reads_; }

 private:
  Bytes frames_;
  int width_;
  int height_;
  Kind kind_;
  std::optional<std::int64_t> broken_;
  std::int64_t next_ = 0;
  std::atomic<std::int64_t> reads_ = 0;  ///< asked for by threads that do not read
};

/// A coded stream that comes in pieces of at most `piece` bytes, and counts how much was taken.
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

}  // namespace c63::test
