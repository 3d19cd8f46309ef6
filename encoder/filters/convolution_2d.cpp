// Convolution of pictures. The fast form computes a row of outputs at once. If the kernel is separable (the product of
// a column and a row of taps), it first filters with the column. Then it filters the resulting sums with the row.
#include <algorithm>
#include <vector>

#include "c63/filter_checks.h"
#include "c63/filters.h"
#include "filters/clones.h"
#include "c63/thread_pool.h"

namespace c63 {
namespace {

std::uint8_t finish(std::int32_t total, std::int32_t divisor) {
  const std::int32_t rounded = total + divisor / 2;
  return rounded <= 0 ? std::uint8_t{0} : static_cast<std::uint8_t>(std::min(rounded / divisor, 255));
}
float finish(double total, float divisor) { return static_cast<float>(total / divisor); }

template <typename Sample, typename Tap, typename Sum>
void convolve_serial(BasicPlaneView<const Sample> in, const Kernel2d<Tap>& kernel, BasicPlaneView<Sample> out) {
  const int radius = kernel.size / 2;
  for (int y = 0; y < in.height; ++y) {
    for (int x = 0; x < in.width; ++x) {
      Sum total = 0;
      for (int j = 0; j < kernel.size; ++j) {
        for (int i = 0; i < kernel.size; ++i) {
          const int sy = y + radius - j;
          const int sx = x + radius - i;
          if (sy < 0 || sy >= in.height || sx < 0 || sx >= in.width) continue;
          total += static_cast<Sum>(kernel.taps[static_cast<std::size_t>(j * kernel.size + i)]) *
                   static_cast<Sum>(in.at(sx, sy));
        }
      }
      out.at(x, y) = finish(total, kernel.divisor);
    }
  }
}

// add_scaled() and finish_row() process `count` samples of a row. They have an overload for each type of sample.

C63_CLONES void add_scaled(std::int32_t* __restrict total, const std::uint8_t* in, std::int32_t tap, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) total[i] += tap * in[i];
}
C63_CLONES void add_scaled(std::int32_t* __restrict total, const std::int32_t* in, std::int32_t tap, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) total[i] += tap * in[i];
}
C63_CLONES void add_scaled(float* __restrict total, const float* in, float tap, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) total[i] += tap * in[i];
}
C63_CLONES void finish_row(std::uint8_t* __restrict out, const std::int32_t* totals, std::int32_t divisor,
                           std::size_t count) {
  const double d = divisor;  // for 31-bit integers, truncating the quotient in double gives the exact integer quotient
  const std::int32_t half = divisor / 2;
  for (std::size_t i = 0; i < count; ++i) {
    const double quotient = std::max(totals[i] + half, 0) / d;
    out[i] = static_cast<std::uint8_t>(static_cast<std::int32_t>(std::min(quotient, 255.0)));
  }
}
C63_CLONES void finish_row(float* __restrict out, const float* totals, float divisor, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = totals[i] / divisor;
}

template <typename Sample, typename Tap>
void convolve_fast(BasicPlaneView<const Sample> in, const Kernel2d<Tap>& kernel, BasicPlaneView<Sample> out) {
  const auto width = static_cast<std::size_t>(in.width);
  const auto size = static_cast<std::size_t>(kernel.size);
  const int radius = kernel.size / 2;
  const auto pad = static_cast<std::size_t>(radius);
  parallel_ranges(static_cast<std::size_t>(in.height), 8, [&](std::size_t begin, std::size_t end) {
    std::vector<Tap> totals(width);
    std::vector<Tap> sums(width + 2 * pad);       // results of the column factor
    std::vector<Sample> padded(width + 2 * pad);  // a row of the picture, with zeros on both sides
    for (std::size_t y = begin; y < end; ++y) {
      std::ranges::fill(totals, Tap{0});
      std::fill_n(sums.begin() + radius, width, Tap{0});
      for (std::size_t j = 0; j < size; ++j) {
        const std::ptrdiff_t source = static_cast<std::ptrdiff_t>(y) + radius - static_cast<std::ptrdiff_t>(j);
        if (source < 0 || source >= in.height) continue;
        const Sample* row = in.row(static_cast<int>(source));
        if (kernel.separable()) {
          add_scaled(sums.data() + pad, row, kernel.column[j], width);
          continue;
        }
        std::copy_n(row, width, padded.begin() + radius);
        for (std::size_t i = 0; i < size; ++i) {
          add_scaled(totals.data(), padded.data() + 2 * pad - i, kernel.taps[j * size + i], width);
        }
      }
      if (kernel.separable()) {
        for (std::size_t i = 0; i < size; ++i) {
          add_scaled(totals.data(), sums.data() + 2 * pad - i, kernel.row[i], width);
        }
      }
      finish_row(out.row(static_cast<int>(y)), totals.data(), kernel.divisor, width);
    }
  });
}

/// `Sum` is the type of the serial form's sums.
template <typename Sample, typename Tap, typename Sum>
void convolve_checked(BasicPlaneView<const Sample> in, const Kernel2d<Tap>& kernel, BasicPlaneView<Sample> out, FilterForm form) {
  check_kernel(kernel);
  check_same_shape(in, "the picture", out, "the output");
  check_apart(in, out);
  form == FilterForm::serial ? convolve_serial<Sample, Tap, Sum>(in, kernel, out) : convolve_fast<Sample, Tap>(in, kernel, out);
}

}  // namespace

void convolve(ConstPlaneView in, const ByteKernel& kernel, PlaneView out, FilterForm form) {
  convolve_checked<std::uint8_t, std::int32_t, std::int32_t>(in, kernel, out, form);
}
void convolve(BasicPlaneView<const float> in, const FloatKernel& kernel, BasicPlaneView<float> out, FilterForm form) {
  convolve_checked<float, float, double>(in, kernel, out, form);
}

}  // namespace c63
