#include "decide/temporal_filter.h"

#include <algorithm>
#include <cstring>

namespace c63 {
namespace {

/// The variance of the noise that is removed, as a multiple of λ. If λ is 0.2·step², as lambda_of_qp() gives with scale 1,
/// the noise has a standard deviation of 1.2 quantizer steps. Preset best changes λ with the quality: 1.35 steps at qp 5,
/// 0.95 at qp 50.
constexpr float kVarianceOfLambda = 7.0F;

// SIMD vectors of four samples, as types of GCC and Clang. Every machine has registers of this size.
using Samples __attribute__((vector_size(4))) = std::uint8_t;
using Integers __attribute__((vector_size(16))) = std::int32_t;
using Floats __attribute__((vector_size(16))) = float;
constexpr int kLanes = 4;

Floats load(const std::uint8_t* samples) {
  Samples loaded;
  std::memcpy(&loaded, samples, sizeof(loaded));
  return __builtin_convertvector(__builtin_convertvector(loaded, Integers), Floats);
}

}  // namespace

TemporalFilter::TemporalFilter(Cost lambda)
    : falloff_(1 / (4 * std::max(1.0F, kVarianceOfLambda * static_cast<float>(lambda) / (1 << kCostFractionBits)))) {}

int TemporalFilter::difference_sum(const std::uint8_t* samples, std::ptrdiff_t pitch, int size, const FilterTap& tap) {
  int sum = 0;
  for (int y = 0; y < size; ++y) {
    for (int x = 0; x < size; ++x) sum += tap.samples[y * tap.pitch + x] - samples[y * pitch + x];
  }
  return sum;
}

void TemporalFilter::average(const std::uint8_t* samples, std::ptrdiff_t pitch, int size, std::span<const FilterTap> taps,
                             std::uint8_t* averaged, std::ptrdiff_t averaged_pitch) const {
  const Floats zero = {};
  for (int y = 0; y < size; ++y) {
    for (int x = 0; x < size; x += kLanes) {
      const Floats own = load(samples + y * pitch + x);
      Floats weights = zero + 1;
      Floats sums = own;
      for (const FilterTap& tap : taps) {
        const Floats other = load(tap.samples + y * tap.pitch + x);
        const Floats difference = other - own;
        Floats left = 1 - difference * difference * falloff_;
        left = left > zero ? left : zero;
        const Floats share = tap.weight * (left * left);
        weights += share;
        sums += share * other;
      }
      const Integers rounded = __builtin_convertvector(sums / weights + 0.5F, Integers);
      const Samples result = __builtin_convertvector(rounded, Samples);
      std::memcpy(averaged + y * averaged_pitch + x, &result, sizeof(result));
    }
  }
}

}  // namespace c63
