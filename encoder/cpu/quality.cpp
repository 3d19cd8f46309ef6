#include "c63/quality.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "c63/encoder.h"
#include "c63/filters.h"
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

std::array<double, 3> ssim_of_frames(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b,
                                     const VideoFormat& format) {
  const auto planes_a = split_planes(a, format.width, format.height);
  const auto planes_b = split_planes(b, format.width, format.height);
  std::array<double, 3> result{};
  for (int plane = 0; plane < 3; ++plane) {
    const bool rectangular = plane == 0 || (format.width % 2 == 0 && format.height % 2 == 0);
    const int pitch = plane == 0 ? format.width : format.width / 2;
    const int w = plane == 0 ? format.width - format.repeated_columns : pitch;
    const int h = plane == 0 ? format.height - format.repeated_rows : format.height / 2;
    result[plane] = rectangular ? ssim({planes_a[plane].data(), w, h, pitch}, {planes_b[plane].data(), w, h, pitch})
                                : std::numeric_limits<double>::quiet_NaN();
  }
  return result;
}

std::array<std::uint64_t, 3> sse_of_frames(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b,
                                           const VideoFormat& format) {
  const auto planes_a = split_planes(a, format.width, format.height);
  const auto planes_b = split_planes(b, format.width, format.height);
  const auto width = static_cast<std::size_t>(format.width);
  const auto shown = width - static_cast<std::size_t>(format.repeated_columns);
  const auto rows = static_cast<std::size_t>(format.height - format.repeated_rows);
  std::array<std::uint64_t, 3> sse{};
  for (int plane = 0; plane < 3; ++plane) {
    if (plane > 0 || shown == width) {
      const std::size_t samples = plane > 0 ? planes_a[plane].size() : rows * width;
      sse[plane] = sum_of_squared_errors(planes_a[plane].first(samples), planes_b[plane].first(samples));
      continue;
    }
    for (std::size_t y = 0; y < rows; ++y) {
      sse[plane] += sum_of_squared_errors(planes_a[plane].subspan(y * width, shown), planes_b[plane].subspan(y * width, shown));
    }
  }
  return sse;
}

VideoFormat compared_format(const VideoFormat& a, const VideoFormat& b) {
  VideoFormat compared = a;
  compared.repeated_columns = std::max(a.repeated_columns, b.repeated_columns);
  compared.repeated_rows = std::max(a.repeated_rows, b.repeated_rows);
  return compared;
}

std::array<std::uint64_t, 3> measured_samples(const VideoFormat& format) {
  const std::uint64_t chroma = plane_bytes(format.width, format.height, 1);
  return {plane_bytes(format.width - format.repeated_columns, format.height - format.repeated_rows, 0), chroma, chroma};
}

VideoFormat measured_format(const EncoderSettings& settings) {
  return {settings.coding.width, settings.coding.height, {}, settings.measurement.repeated_columns,
          settings.measurement.repeated_rows};
}

void compare_pictures(std::span<const std::uint8_t> original, std::span<const std::uint8_t> reconstruction,
                      const EncoderSettings& settings, FrameStatistics& statistics) {
  const VideoFormat format = measured_format(settings);
  if (settings.measurement.psnr) statistics.sse = sse_of_frames(original, reconstruction, format);
  if (settings.measurement.ssim) statistics.ssim = ssim_of_frames(original, reconstruction, format);
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
