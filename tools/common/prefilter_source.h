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

/// A filter that is applied to frames before they are encoded.
struct Prefilter {
  enum class Kind { mean, gauss, temporal };
  Kind kind = Kind::mean;
  int size = 3;       ///< mean: side of the kernel, in samples; temporal: frames that are averaged, 2..64
  double sigma = 1;   ///< gauss: standard deviation, above 0, up to 5
};

/// Parses a text like "mean:3", "gauss:1.2" or "temporal:4". Throws Error (usage, C63-PREFILTER) for other text, and
/// what mean_kernel() and gauss_kernel() throw.
[[nodiscard]] Prefilter prefilter_from(const std::string& text);
[[nodiscard]] std::string name(const Prefilter& prefilter);

/// Smooths a plane. Samples outside it are taken from the nearest border sample, so borders do not darken.
void smooth(ConstPlaneView in, const ByteKernel& kernel, PlaneView out);

/// The filtered frames of another source. A spatial filter smooths each plane. The temporal filter replaces each frame
/// by the rounded mean of the frame and the frames before it; the first frames have fewer before them. If a side of the
/// picture is odd, its chroma samples do not form a rectangle, so a spatial filter leaves them as they are. Several
/// threads may read at once if the other source allows it and the memory limit is high enough.
class PrefilterSource final : public FrameSource {
 public:
  /// Throws Error (limit, C63-MAX-MEMORY) if smoothing takes more than `max_memory` bytes.
  PrefilterSource(std::unique_ptr<FrameSource> inner, const Prefilter& prefilter, std::uint64_t max_memory);

  /// Returns the most memory that the source takes, in bytes.
  [[nodiscard]] std::uint64_t memory() const { return most_frames_ * frame_bytes_; }

  [[nodiscard]] VideoFormat format() const override { return inner_->format(); }
  [[nodiscard]] std::optional<std::int64_t> frame_count() const override { return inner_->frame_count(); }
  [[nodiscard]] std::optional<std::int64_t> expected_frame_count() const override { return inner_->expected_frame_count(); }
  [[nodiscard]] bool seekable() const override { return inner_->seekable(); }
  [[nodiscard]] bool live() const override { return inner_->live(); }
  [[nodiscard]] bool concurrent() const override { return concurrent_ && inner_->concurrent(); }
  [[nodiscard]] std::int64_t skip_towards(std::int64_t next, std::int64_t index) override;
  void stop_waiting() override { inner_->stop_waiting(); }
  [[nodiscard]] bool read(std::int64_t index, std::span<std::uint8_t> frame) override;

 private:
  struct Kept {
    std::vector<std::uint8_t> bytes;
    std::uint64_t used = 0;  ///< the read (counted by clock_) that used it last
  };
  /// Returns a frame of the inner source, and keeps it for later calls; null past the end. The caller holds the mutex.
  [[nodiscard]] const std::vector<std::uint8_t>* original(std::int64_t index, std::size_t bytes);

  std::unique_ptr<FrameSource> inner_;
  Prefilter prefilter_;
  std::optional<ByteKernel> kernel_;
  std::uint64_t frame_bytes_;
  std::uint64_t most_frames_ = 0;  ///< the most frames in memory at a time
  std::size_t most_kept_ = 0;      ///< how many of those may be unfiltered frames
  bool concurrent_ = true;
  std::mutex mutex_;  ///< guards the kept frames
  std::map<std::int64_t, Kept> kept_;
  std::uint64_t clock_ = 0;
};

}  // namespace c63
