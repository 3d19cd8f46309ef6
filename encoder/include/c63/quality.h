#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "c63/picture.h"

namespace c63 {

/// Peak signal-to-noise ratio in dB for 8-bit samples, from sum_of_squared_errors() (c63/filters.h); infinity for
/// sse = 0.
[[nodiscard]] double psnr(std::uint64_t sse, std::uint64_t samples);

/// Mean structural similarity as FFmpeg's and x264's: 8x8 windows in steps of 4, equal weights.
/// NaN for planes smaller than 8x8, which have no window.
[[nodiscard]] double ssim(ConstPlaneView a, ConstPlaneView b);

/// SSIM of each plane of two frames in linear layout. NaN for a plane without an 8x8 window, and for the chroma of sizes
/// whose chroma plane is no rectangle (an odd side).
[[nodiscard]] std::array<double, 3> ssim_of_frames(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b,
                                                   int width, int height);

/// Per-plane means over frames. PSNR is taken of the summed squared error, as FFmpeg's "average" is.
class QualityTotals {
 public:
  void add(const std::array<std::uint64_t, 3>& sse, const std::array<std::uint64_t, 3>& samples);
  void add_ssim(const std::array<double, 3>& ssim);

  [[nodiscard]] std::int64_t frames() const { return frames_; }
  [[nodiscard]] double psnr_of_plane(int plane) const;
  [[nodiscard]] double psnr_of_all() const;
  /// Mean over the frames added by add_ssim; NaN where there were none.
  [[nodiscard]] double mean_ssim(int plane) const;

 private:
  std::int64_t frames_ = 0;
  std::array<std::uint64_t, 3> sse_{};
  std::array<std::uint64_t, 3> samples_{};
  std::int64_t ssim_frames_ = 0;
  std::array<double, 3> ssim_{};
};

}  // namespace c63
