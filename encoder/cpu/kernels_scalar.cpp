// The scalar kernels, which define the correct results. All other forms are compared with them.

#include <cstdlib>

#include "codec/dct.h"
#include "cpu/best_keys.h"
#include "cpu/each_block.h"
#include "cpu/kernels.h"
#include "decide/fine_motion.h"

namespace c63::cpu {
namespace {

/// Returns the sum of absolute differences of two blocks.
std::uint32_t sad_8x8(const std::uint8_t* a, std::ptrdiff_t a_pitch, const std::uint8_t* b, std::ptrdiff_t b_pitch) {
  std::uint32_t sum = 0;
  for (int y = 0; y < kBlockSize; ++y) {
    for (int x = 0; x < kBlockSize; ++x) {
      sum += static_cast<std::uint32_t>(std::abs(a[y * a_pitch + x] - b[y * b_pitch + x]));
    }
  }
  return sum;
}

void search(std::span<const BlockSearch> blocks, const QuarterSumsView&, const SearchCosts* costs, std::size_t count) {
  for (const BlockSearch& block : blocks) {
    BestKeys best({block.keys, count});
    const SearchWindow& window = block.window;
    for (int y = window.top; y < window.bottom; ++y) {
      for (int x = window.left; x < window.right; ++x) {
        const std::uint32_t sad = sad_8x8(block.current, block.current_pitch, &block.reference.at(x, y), block.reference.pitch);
        const std::uint32_t cost = costs != nullptr ? costs->of(x - block.own.x, y - block.own.y) : 0;
        best.add(candidate_key(sad + cost, block.index_of(x, y)));
      }
    }
  }
}

void quarter_sums(const std::uint8_t* samples, std::ptrdiff_t pitch, int count, int rows, std::uint8_t* sums,
                  std::ptrdiff_t sums_pitch) {
  for (int y = 0; y < rows; ++y) {
    for (int x = 0; x < count; ++x) {
      int sum = 0;
      for (int j = 0; j < 4; ++j) {
        for (int i = 0; i < 4; ++i) sum += samples[(y + j) * pitch + x + i];
      }
      sums[y * sums_pitch + x] = quarter_sum(sum);
    }
  }
}

void code_block(const std::uint8_t* current, std::ptrdiff_t current_pitch, const BlockPrediction& prediction,
                const TransformTable& table, std::int16_t levels[64]) {
  std::int16_t residual[64];
  for (int y = 0; y < kBlockSize; ++y) {
    for (int x = 0; x < kBlockSize; ++x) {
      residual[y * kBlockSize + x] =
          static_cast<std::int16_t>(current[y * current_pitch + x] - prediction.samples[y * prediction.pitch + x]);
    }
  }
  float coefficients[64];
  forward_dct(residual, coefficients, kDctCosines);
  for (int k = 0; k < 64; ++k) {
    levels[k] = clamp_coefficient(quantize(coefficients[kZigZag[k]], table.steps[k]), k, table.plane);
  }
}

void restore_block(const std::int16_t levels[64], const TransformTable& table, const BlockPrediction& prediction,
                   std::uint8_t* reconstruction, std::ptrdiff_t reconstruction_pitch) {
  float coefficients[64];
  for (int k = 0; k < 64; ++k) coefficients[kZigZag[k]] = static_cast<float>(dequantize(levels[k], table.steps[k]));
  std::int16_t residual[64];
  inverse_dct(coefficients, residual, kDctCosines);
  for (int y = 0; y < kBlockSize; ++y) {
    for (int x = 0; x < kBlockSize; ++x) {
      reconstruction[y * reconstruction_pitch + x] =
          reconstruct_sample(residual[y * kBlockSize + x], prediction.samples[y * prediction.pitch + x]);
    }
  }
}

void ssim_sums(const std::uint8_t* a, std::ptrdiff_t a_pitch, const std::uint8_t* b, std::ptrdiff_t b_pitch, int count,
               SsimSums* sums) {
  for (int block = 0; block < count; ++block) {
    SsimSums s;
    for (int y = 0; y < 4; ++y) {
      for (int x = 0; x < 4; ++x) {
        const int p = a[y * a_pitch + 4 * block + x];
        const int q = b[y * b_pitch + 4 * block + x];
        s.a += p;
        s.b += q;
        s.squares += p * p + q * q;
        s.products += p * q;
      }
    }
    sums[block] = s;
  }
}

void half_samples(const std::uint8_t* samples, std::ptrdiff_t pitch, int count, std::uint8_t* right, std::uint8_t* below,
                  std::uint8_t* both) {
  const auto filtered = [](const auto& at) { return six_taps(at(-2), at(-1), at(0), at(1), at(2), at(3)); };
  for (int x = 0; x < count; ++x) {
    const auto in_row = [&](int y) { return filtered([&](int i) { return samples[y * pitch + x + i]; }); };
    right[x] = rounded_sample(in_row(0), 5);
    below[x] = rounded_sample(filtered([&](int i) { return samples[i * pitch + x]; }), 5);
    both[x] = rounded_sample(filtered(in_row), 10);
  }
}

void fraction_sads(const std::uint8_t* current, std::ptrdiff_t current_pitch, const std::array<const std::uint8_t*, 4>& planes,
                   std::ptrdiff_t pitch, int step, std::uint32_t* sums) {
  for (int i = 0; i < kFractions; ++i) {
    const int x = i % kFractionSide - kFractionReach;
    const int y = i / kFractionSide - kFractionReach;
    if (x % step != 0 || y % step != 0) continue;
    const HalfPoint a = quarter_point(x, y, false);
    const HalfPoint b = quarter_point(x, y, true);
    for (int row = 0; row < kBlockSize; ++row) {
      for (int column = 0; column < kBlockSize; ++column) {
        const auto sample = [&](const HalfPoint& p) {
          return planes[static_cast<std::size_t>(p.plane)][(row + p.y) * pitch + column + p.x];
        };
        sums[i] += static_cast<std::uint32_t>(std::abs(current[row * current_pitch + column] - mean_sample(sample(a), sample(b))));
      }
    }
  }
}

}  // namespace

const Kernels& scalar_kernels() {
  static constexpr Kernels kScalar{SimdLevel::scalar, sad_8x8, search,
                                   quarter_sums,
                                   transform_quantize_each<code_block>,
                                   dequantize_reconstruct_each<restore_block>,
                                   ssim_sums, half_samples, fraction_sads, scalar_decision_kernels};
  return kScalar;
}

}  // namespace c63::cpu
