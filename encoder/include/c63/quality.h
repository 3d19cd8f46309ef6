#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "c63/picture.h"

namespace c63 {

struct EncoderSettings;
struct FrameStatistics;

/// Returns the peak signal-to-noise ratio in dB of `samples` 8-bit samples with the squared error `sse`; infinity for
/// sse = 0. sum_of_squared_errors() (c63/filters.h) gives `sse`.
[[nodiscard]] double psnr(std::uint64_t sse, std::uint64_t samples);

/// Returns the mean structural similarity, computed as FFmpeg and x264 do: 8x8 windows in steps of 4, equal weights.
/// NaN for planes smaller than 8x8, which have no window.
[[nodiscard]] double ssim(ConstPlaneView a, ConstPlaneView b);

/// Returns the SSIM of each plane of two frames, whose planes Y, U, V follow each other without gaps. NaN for a plane
/// smaller than 8x8. NaN for chroma if `width` or `height` is odd: a chroma plane then has ⌊width · height / 4⌋
/// samples, which do not form a rectangle of half the picture's width. Luma that only repeats other luma does not count.
[[nodiscard]] std::array<double, 3> ssim_of_frames(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b,
                                                   const VideoFormat& format);
/// Returns the squared errors of the planes of two such frames, of the samples that count.
[[nodiscard]] std::array<std::uint64_t, 3> sse_of_frames(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b,
                                                         const VideoFormat& format);
/// Returns what counts in both of two videos of one size. If a video's own sides are odd, luma that only repeats other luma does
/// not. Chroma of such a video has the same samples as that of the next even size.
[[nodiscard]] VideoFormat compared_format(const VideoFormat& a, const VideoFormat& b);
/// Returns how many samples of each plane count.
[[nodiscard]] std::array<std::uint64_t, 3> measured_samples(const VideoFormat& format);
/// Returns the size of the pictures that an encode measures, without a rate.
[[nodiscard]] VideoFormat measured_format(const EncoderSettings& settings);
/// Fills what needs whole pictures, see compares_pictures().
void compare_pictures(std::span<const std::uint8_t> original, std::span<const std::uint8_t> reconstruction,
                      const EncoderSettings& settings, FrameStatistics& statistics);

/// The quality of each plane over several frames. PSNR comes from the summed squared error, as FFmpeg's "average" does.
class QualityTotals {
 public:
  void add(const std::array<std::uint64_t, 3>& sse, const std::array<std::uint64_t, 3>& samples);
  void add_ssim(const std::array<double, 3>& ssim);

  [[nodiscard]] std::int64_t frames() const { return frames_; }
  [[nodiscard]] double psnr_of_plane(int plane) const;
  [[nodiscard]] double psnr_of_all() const;
  /// Returns the mean SSIM of a plane over the frames that add_ssim() has added; NaN if there are none.
  [[nodiscard]] double mean_ssim(int plane) const;

 private:
  std::int64_t frames_ = 0;
  std::array<std::uint64_t, 3> sse_{};
  std::array<std::uint64_t, 3> samples_{};
  std::int64_t ssim_frames_ = 0;
  std::array<double, 3> ssim_{};
};

}  // namespace c63
