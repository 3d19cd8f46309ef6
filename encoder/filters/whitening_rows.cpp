// Computes the correlations of frames, and the difference between a frame and a weighted sum of its history. Both
// functions process a short piece of a row in all frames before they go on to the next piece. So every sample is loaded
// from memory only once.
#include <algorithm>

#include "c63/filter_checks.h"
#include "c63/filters.h"
#include "c63/thread_pool.h"
#include "filters/clones.h"

namespace c63 {
namespace {

constexpr std::size_t kPiece = 1024;  // 21 pieces of 16-bit samples fit in the first-level cache

// Converts samples to the type that the dot products need.
C63_CLONES void widen(const std::uint8_t* in, std::int16_t* __restrict out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = in[i];
}
void widen(const float* in, float* out, std::size_t count) { std::copy_n(in, count, out); }

/// Adds to `sums` the dot products of `a` with four pieces of `b`, which begin kPiece samples apart.
C63_CLONES void dot_products(const std::int16_t* a, const std::int16_t* b, std::size_t count, double* sums) {
  std::int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  for (std::size_t i = 0; i < count; ++i) {
    s0 += a[i] * b[i];
    s1 += a[i] * b[kPiece + i];
    s2 += a[i] * b[2 * kPiece + i];
    s3 += a[i] * b[3 * kPiece + i];
  }
  sums[0] += s0;
  sums[1] += s1;
  sums[2] += s2;
  sums[3] += s3;
}

C63_CLONES void dot_products(const float* a, const float* b, std::size_t count, double* sums) {
  Vector<float> s0{}, s1{}, s2{}, s3{};
  for (std::size_t i = 0; i < count; i += kLanesOf<float>) {  // pieces are padded with zeros to whole vectors
    Vector<float> x, b0, b1, b2, b3;
    std::memcpy(&x, a + i, sizeof x);
    std::memcpy(&b0, b + i, sizeof b0);
    std::memcpy(&b1, b + kPiece + i, sizeof b1);
    std::memcpy(&b2, b + 2 * kPiece + i, sizeof b2);
    std::memcpy(&b3, b + 3 * kPiece + i, sizeof b3);
    s0 += x * b0;
    s1 += x * b1;
    s2 += x * b2;
    s3 += x * b3;
  }
  for (std::size_t lane = 0; lane < kLanesOf<float>; ++lane) {
    sums[0] += s0[lane];
    sums[1] += s1[lane];
    sums[2] += s2[lane];
    sums[3] += s3[lane];
  }
}

template <typename Sample>
void correlate_serial(BasicPlaneView<const Sample> frame, std::span<const BasicPlaneView<const Sample>> history,
                      std::span<double> r, std::span<double> b) {
  const auto dot = [&](BasicPlaneView<const Sample> x, BasicPlaneView<const Sample> y) {
    double total = 0;
    for (int row = 0; row < x.height; ++row) {
      for (int i = 0; i < x.width; ++i) total += static_cast<double>(x.at(i, row)) * y.at(i, row);
    }
    return total;
  };
  const std::size_t n = history.size();
  for (std::size_t k = 0; k < n; ++k) {
    b[k] = dot(frame, history[k]);
    for (std::size_t l = 0; l < n; ++l) r[k * n + l] = dot(history[k], history[l]);
  }
}

template <typename Sample>
void correlate_fast(BasicPlaneView<const Sample> frame, std::span<const BasicPlaneView<const Sample>> history,
                    std::span<double> r, std::span<double> b) {
  using Wide = std::conditional_t<std::is_same_v<Sample, float>, float, std::int16_t>;
  const std::size_t n = history.size();
  const std::size_t stride = n + 4;  // four products are written at a time, possibly past the end
  const auto width = static_cast<std::size_t>(frame.width);
  const auto height = static_cast<std::size_t>(frame.height);
  // Rows are divided into bands. The height of a band and the order in which their sums are added are fixed. So the
  // result does not depend on the number of threads.
  const std::size_t band_rows = 1 + 32768 / (width + 1);
  const std::size_t bands = (height + band_rows - 1) / band_rows;
  std::vector<double> sums(bands * (n + 1) * stride);
  parallel_ranges(bands, 1, [&](std::size_t begin, std::size_t end) {
    std::vector<Wide> pieces((n + 4) * kPiece);
    std::vector<Wide> current(kPiece);
    for (std::size_t band = begin; band < end; ++band) {
      double* mine = &sums[band * (n + 1) * stride];
      for (std::size_t y = band * band_rows; y < std::min(height, (band + 1) * band_rows); ++y) {
        const int row = static_cast<int>(y);
        for (std::size_t x = 0; x < width; x += kPiece) {
          const std::size_t count = std::min(kPiece, width - x);
          const std::size_t filled = std::min(kPiece, (count + 15) / 16 * 16);
          const auto load = [&](const Sample* from, Wide* to) {
            widen(from + x, to, count);
            std::fill(to + count, to + filled, Wide{0});
          };
          load(frame.row(row), current.data());
          for (std::size_t k = 0; k < n; ++k) load(history[k].row(row), &pieces[k * kPiece]);
          for (std::size_t l = 0; l < n; l += 4) {
            dot_products(current.data(), &pieces[l * kPiece], filled, mine + n * stride + l);
          }
          for (std::size_t k = 0; k < n; ++k) {
            for (std::size_t l = k; l < n; l += 4) {
              dot_products(&pieces[k * kPiece], &pieces[l * kPiece], filled, mine + k * stride + l);
            }
          }
        }
      }
    }
  });
  std::ranges::fill(r, 0.0);
  std::ranges::fill(b, 0.0);
  for (std::size_t band = 0; band < bands; ++band) {
    const double* mine = &sums[band * (n + 1) * stride];
    for (std::size_t k = 0; k < n; ++k) {
      b[k] += mine[n * stride + k];
      for (std::size_t l = k; l < n; ++l) r[k * n + l] += mine[k * stride + l];
    }
  }
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t l = 0; l < k; ++l) r[k * n + l] = r[l * n + k];
  }
}

C63_CLONES void add_weighted(float* __restrict total, const std::uint8_t* in, float weight, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) total[i] += weight * static_cast<float>(in[i]);
}
C63_CLONES void add_weighted(float* __restrict total, const float* in, float weight, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) total[i] += weight * in[i];
}
C63_CLONES void subtract_from(const std::uint8_t* in, const float* total, float* __restrict out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<float>(in[i]) - total[i];
}
C63_CLONES void subtract_from(const float* in, const float* total, float* __restrict out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = in[i] - total[i];
}

}  // namespace

template <typename Sample>
void correlate(BasicPlaneView<const Sample> frame, std::span<const BasicPlaneView<const Sample>> history,
               std::span<double> r, std::span<double> b, FilterForm form) {
  check_history(frame, history);
  check_same_length(history.size() * history.size(), "the history's matrix", r.size(), "R");
  check_same_length(history.size(), "the history", b.size(), "b");
  form == FilterForm::serial ? correlate_serial(frame, history, r, b) : correlate_fast(frame, history, r, b);
}

template <typename Sample>
void subtract_weighted(BasicPlaneView<const Sample> frame, std::span<const BasicPlaneView<const Sample>> history,
                       std::span<const double> weights, BasicPlaneView<float> out, FilterForm form) {
  check_history(frame, history);
  check_same_length(history.size(), "the history", weights.size(), "the weights");
  check_same_shape(frame, "the frame", out, "the output");
  check_apart(frame, out);
  for (const auto& past : history) check_apart(past, out);
  const std::vector<float> scales(weights.begin(), weights.end());
  const auto width = static_cast<std::size_t>(frame.width);
  const auto body = [&](std::size_t begin, std::size_t end) {
    std::vector<float> total(kPiece);
    for (std::size_t y = begin; y < end; ++y) {
      const int row = static_cast<int>(y);
      for (std::size_t x = 0; x < width; x += kPiece) {
        const std::size_t count = std::min(kPiece, width - x);
        std::fill_n(total.begin(), count, 0.0F);
        for (std::size_t k = 0; k < history.size(); ++k) {
          add_weighted(total.data(), history[k].row(row) + x, scales[k], count);
        }
        subtract_from(frame.row(row) + x, total.data(), out.row(row) + x, count);
      }
    }
  };
  if (form == FilterForm::fast) {
    parallel_ranges(static_cast<std::size_t>(frame.height), 1 + 16384 / (width + 1), body);
    return;
  }
  for (int y = 0; y < frame.height; ++y) {
    for (int x = 0; x < frame.width; ++x) {
      float total = 0;
      for (std::size_t k = 0; k < history.size(); ++k) total += scales[k] * static_cast<float>(history[k].at(x, y));
      out.at(x, y) = static_cast<float>(frame.at(x, y)) - total;
    }
  }
}

#define C63_INSTANTIATE(Sample)                                                                                        \
  template void correlate<Sample>(BasicPlaneView<const Sample>, std::span<const BasicPlaneView<const Sample>>,         \
                                  std::span<double>, std::span<double>, FilterForm);                                   \
  template void subtract_weighted<Sample>(BasicPlaneView<const Sample>, std::span<const BasicPlaneView<const Sample>>, \
                                          std::span<const double>, BasicPlaneView<float>, FilterForm);
C63_INSTANTIATE(std::uint8_t)
C63_INSTANTIATE(float)
#undef C63_INSTANTIATE

}  // namespace c63
