// Convolution of signals. The fast form computes many outputs at once. For each output, it adds the products of taps
// and samples in the same order as the serial form. So both forms give the same bits.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "c63/filter_checks.h"
#include "c63/filters.h"
#include "filters/clones.h"
#include "c63/thread_pool.h"

namespace c63 {
namespace {

double output_at(std::span<const double> signal, std::span<const double> taps, std::size_t i) {
  const std::size_t radius = taps.size() / 2;
  double total = 0;
  for (std::size_t k = 0; k < taps.size(); ++k) {
    const std::size_t at = i + radius - k;  // a negative index wraps around to a number that is also too large
    if (at < signal.size()) total += taps[k] * signal[at];
  }
  return total;
}

constexpr std::size_t kTile = 2048;  // outputs that are computed together; they fit in the first-level cache

/// Computes out[i] = Σ_k taps[k] · in[i − k] for i from 0 to count - 1. Also reads the tap_count - 1 values before
/// in[0].
C63_CLONES void convolve_tile(const double* in, const double* taps, std::size_t tap_count, double* __restrict out,
                              std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = 0;
  std::size_t k = 0;
  for (; k + 4 <= tap_count; k += 4) {
    const double t0 = taps[k], t1 = taps[k + 1], t2 = taps[k + 2], t3 = taps[k + 3];
    const double* x = in - k;
    for (std::size_t i = 0; i < count; ++i) {
      const double* at = x + i;
      out[i] = out[i] + t0 * at[0] + t1 * at[-1] + t2 * at[-2] + t3 * at[-3];
    }
  }
  for (; k < tap_count; ++k) {
    const double t = taps[k];
    const double* x = in - k;
    for (std::size_t i = 0; i < count; ++i) out[i] += t * x[i];
  }
}

/// Computes what convolve_tile() computes, but only for five taps, a usual length of moving means. All sums stay in
/// registers, and outputs are written past the caches. The address `out` must be a multiple of 16.
C63_CLONES void stream_five(const double* in, const double* taps, double* out, std::size_t count) {
  constexpr std::size_t kLanes = kLanesOf<double>;
  const double t0 = taps[0], t1 = taps[1], t2 = taps[2], t3 = taps[3], t4 = taps[4];
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    Vector<double> x0, x1, x2, x3, x4;
    std::memcpy(&x0, in + i, sizeof x0);
    std::memcpy(&x1, in + i - 1, sizeof x1);
    std::memcpy(&x2, in + i - 2, sizeof x2);
    std::memcpy(&x3, in + i - 3, sizeof x3);
    std::memcpy(&x4, in + i - 4, sizeof x4);
    const Vector<double> total = 0.0 + x0 * t0 + x1 * t1 + x2 * t2 + x3 * t3 + x4 * t4;
    C63_STREAM_VECTOR(out + i, total);
  }
  for (; i < count; ++i) {
    const double* x = in + i;
    out[i] = 0.0 + t0 * x[0] + t1 * x[-1] + t2 * x[-2] + t3 * x[-3] + t4 * x[-4];
  }
}

void convolve_fast(std::span<const double> signal, std::span<const double> taps, std::span<double> out) {
  const std::size_t radius = taps.size() / 2;
  const std::size_t inner_begin = std::min(radius, signal.size());
  const std::size_t inner_end = signal.size() > 2 * radius ? signal.size() - radius : inner_begin;
  for (std::size_t i = 0; i < inner_begin; ++i) out[i] = output_at(signal, taps, i);
  for (std::size_t i = inner_end; i < signal.size(); ++i) out[i] = output_at(signal, taps, i);

  const bool stream = streams(out.data(), out.size_bytes());
  parallel_ranges(inner_end - inner_begin, 16 * kTile, [&](std::size_t begin, std::size_t end) {
    alignas(64) std::array<double, kTile> tile;
    std::size_t i = inner_begin + begin;
    const std::size_t last = inner_begin + end;
    if (stream && taps.size() == 5) {
      if (reinterpret_cast<std::uintptr_t>(out.data() + i) % 16 != 0) {
        out[i] = output_at(signal, taps, i);
        ++i;
      }
      stream_five(signal.data() + i + radius, taps.data(), out.data() + i, last - i);
      i = last;
    }
    for (; i < last; i += kTile) {
      const std::size_t count = std::min(kTile, last - i);
      double* target = stream ? tile.data() : &out[i];
      convolve_tile(&signal[i] + radius, taps.data(), taps.size(), target, count);
      if (stream) stream_out(&out[i], target, count * sizeof(double));
    }
    if (stream) stream_end();
  });
}

}  // namespace

void check_taps(std::span<const double> taps) {
  require(taps.size() % 2 == 1, "C63-KERNEL-EVEN",
          "a kernel of " + std::to_string(taps.size()) + " taps has no middle: its length must be odd");
  require(taps.size() <= kMaxTaps, "C63-KERNEL-SIZE",
          "a kernel of " + std::to_string(taps.size()) + " taps: at most " + std::to_string(kMaxTaps) + " can be used");
  require(std::ranges::all_of(taps, [](double t) { return std::isfinite(t); }), "C63-KERNEL-VALUE",
          "a tap of the kernel is not finite");
}

void convolve(std::span<const double> signal, std::span<const double> taps, std::span<double> out, FilterForm form) {
  check_taps(taps);
  check_same_length(signal.size(), "the signal", out.size(), "the output");
  check_apart(signal.data(), signal.size_bytes(), out.data(), out.size_bytes());
  if (form == FilterForm::serial) {
    for (std::size_t i = 0; i < signal.size(); ++i) out[i] = output_at(signal, taps, i);
  } else {
    convolve_fast(signal, taps, out);
  }
}

std::vector<double> mean_taps(int width) {
  require(width >= 1 && width % 2 == 1, "C63-KERNEL-EVEN",
          "a mean of " + std::to_string(width) + " samples has no middle: its length must be odd and positive");
  require(static_cast<std::size_t>(width) <= kMaxTaps, "C63-KERNEL-SIZE",
          "a mean of " + std::to_string(width) + " samples: at most " + std::to_string(kMaxTaps) + " can be used");
  return std::vector<double>(static_cast<std::size_t>(width), 1.0 / width);
}

void mean_filter(std::span<const double> signal, int width, std::span<double> out, FilterForm form) {
  convolve(signal, mean_taps(width), out, form);
}

}  // namespace c63
