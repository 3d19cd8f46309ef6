#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "c63/encoder.h"
#include "c63/filters.h"

namespace c63 {

/// What is done to frames before they are encoded.
struct Prefilter {
  enum class Kind { mean, gauss, temporal };
  Kind kind = Kind::mean;
  int size = 3;       ///< mean: a side of the kernel; temporal: how many frames are averaged, 2..64
  double sigma = 1;   ///< gauss: standard deviation, above 0, up to 5
};

/// "mean:3", "gauss:1.2" or "temporal:4". Throws Error (usage, C63-PREFILTER) for what is none, and as mean_kernel() and
/// gauss_kernel() do.
[[nodiscard]] Prefilter prefilter_from(const std::string& text);
[[nodiscard]] std::string name(const Prefilter& prefilter);

/// Smooths a picture, its border samples continued outwards, so that borders do not darken.
void smooth(ConstPlaneView in, const ByteKernel& kernel, PlaneView out);

/// The frames of another source, prefiltered: each plane smoothed in space, or the rounded mean of a frame and those
/// before it (fewer at the start). Chroma of sizes with an odd side has no rows and is not smoothed in space. Any number of
/// threads may read at once where the other source and the memory allow it.
class PrefilterSource final : public FrameSource {
 public:
  /// Throws Error (limit, C63-MAX-MEMORY) where smoothing takes more than `max_memory` bytes.
  PrefilterSource(std::unique_ptr<FrameSource> inner, const Prefilter& prefilter, std::uint64_t max_memory);

  /// Bytes that it takes at most; what is left of a limit is for others.
  [[nodiscard]] std::uint64_t memory() const { return most_frames_ * frame_bytes_; }

  [[nodiscard]] VideoFormat format() const override { return inner_->format(); }
  [[nodiscard]] std::optional<std::int64_t> frame_count() const override { return inner_->frame_count(); }
  [[nodiscard]] bool seekable() const override { return inner_->seekable(); }
  [[nodiscard]] bool live() const override { return inner_->live(); }
  [[nodiscard]] bool concurrent() const override { return concurrent_ && inner_->concurrent(); }
  [[nodiscard]] std::int64_t skip_towards(std::int64_t next, std::int64_t index) override;
  void stop_waiting() override { inner_->stop_waiting(); }
  [[nodiscard]] bool read(std::int64_t index, std::span<std::uint8_t> frame) override;

 private:
  struct Kept {
    std::vector<std::uint8_t> bytes;
    std::uint64_t used = 0;  ///< when, on a clock of reads
  };
  /// The frame as the inner source has it, kept for its successors; null past the end. The mutex is held.
  [[nodiscard]] const std::vector<std::uint8_t>* original(std::int64_t index, std::size_t bytes);

  std::unique_ptr<FrameSource> inner_;
  Prefilter prefilter_;
  std::optional<ByteKernel> kernel_;
  std::uint64_t frame_bytes_;
  std::uint64_t most_frames_ = 0;  ///< that it has in memory at a time
  std::size_t most_kept_ = 0;      ///< of them: originals
  bool concurrent_ = true;
  std::mutex mutex_;  ///< of what is kept
  std::map<std::int64_t, Kept> kept_;
  std::uint64_t clock_ = 0;
};

}  // namespace c63
