#include "c63/quality.h"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "cpu/kernels.h"

namespace c63 {
namespace {

using cpu::SsimSums;

/// Returns the SSIM of an 8x8 window, from the sums over its four 4x4 blocks. As in FFmpeg and x264, variances and
/// covariance are unbiased and multiplied by 64·63, and so is kC2. kC1 is multiplied by 64 only.
double ssim_of_window(const SsimSums& s) {
  constexpr int kC1 = static_cast<int>(.01 * .01 * 255 * 255 * 64 + .5);
  constexpr int kC2 = static_cast<int>(.03 * .03 * 255 * 255 * 64 * 63 + .5);
  const int variances = s.squares * 64 - s.a * s.a - s.b * s.b;
  const int covariance = s.products * 64 - s.a * s.b;
  return static_cast<float>(2 * s.a * s.b + kC1) * static_cast<float>(2 * covariance + kC2) /
         (static_cast<float>(s.a * s.a + s.b * s.b + kC1) * static_cast<float>(variances + kC2));
}

}  // namespace

double psnr(std::uint64_t sse, std::uint64_t samples) {
  if (sse == 0) return std::numeric_limits<double>::infinity();
  return 10.0 * std::log10(255.0 * 255.0 * static_cast<double>(samples) / static_cast<double>(sse));
}

double ssim(ConstPlaneView a, ConstPlaneView b) {
  const int columns = a.width / 4;
  const int rows = a.height / 4;
  if (columns < 2 || rows < 2) return std::numeric_limits<double>::quiet_NaN();
  const cpu::Kernels& kernels = cpu::kernels();
  std::vector<SsimSums> above(columns);
  std::vector<SsimSums> current(columns);
  double total = 0;
  for (int y = 0; y < rows; ++y) {
    kernels.ssim_sums(a.row(4 * y), a.pitch, b.row(4 * y), b.pitch, columns, current.data());
    if (y > 0) {
      for (int x = 0; x + 1 < columns; ++x) {
        SsimSums window;
        for (const SsimSums& s : {above[x], above[x + 1], current[x], current[x + 1]}) {
          window.a += s.a;
          window.b += s.b;
          window.squares += s.squares;
          window.products += s.products;
        }
        total += ssim_of_window(window);
      }
    }
    std::swap(above, current);
  }
  return total / (static_cast<double>(columns - 1) * (rows - 1));
}

std::array<double, 3> ssim_of_frames(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b, int width,
                                     int height) {
  const auto planes_a = split_planes(a, width, height);
  const auto planes_b = split_planes(b, width, height);
  std::array<double, 3> result{};
  for (int plane = 0; plane < 3; ++plane) {
    const bool rectangular = plane == 0 || (width % 2 == 0 && height % 2 == 0);
    const int w = plane == 0 ? width : width / 2;
    const int h = plane == 0 ? height : height / 2;
    result[plane] = rectangular ? ssim({planes_a[plane].data(), w, h, w}, {planes_b[plane].data(), w, h, w})
                                : std::numeric_limits<double>::quiet_NaN();
  }
  return result;
}

void QualityTotals::add(const std::array<std::uint64_t, 3>& sse, const std::array<std::uint64_t, 3>& samples) {
  ++frames_;
  for (int plane = 0; plane < 3; ++plane) {
    sse_[plane] += sse[plane];
    samples_[plane] += samples[plane];
  }
}

void QualityTotals::add_ssim(const std::array<double, 3>& ssim) {
  ++ssim_frames_;
  for (int plane = 0; plane < 3; ++plane) ssim_[plane] += ssim[plane];
}

double QualityTotals::psnr_of_plane(int plane) const { return psnr(sse_[plane], samples_[plane]); }

double QualityTotals::psnr_of_all() const {
  return psnr(sse_[0] + sse_[1] + sse_[2], samples_[0] + samples_[1] + samples_[2]);
}

double QualityTotals::mean_ssim(int plane) const {
  return ssim_frames_ == 0 ? std::numeric_limits<double>::quiet_NaN() : ssim_[plane] / static_cast<double>(ssim_frames_);
}

}  // namespace c63
