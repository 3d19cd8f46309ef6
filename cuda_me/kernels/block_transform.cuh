#pragma once

// Turns the samples and the vector of a block into levels and reconstructed samples, for the kernels that code frames.
// Eight threads work on a block; each has a row or a column. The format fixes the order of additions (codec/dct.h).

#include <cuda_runtime.h>

#include <type_traits>
#include <utility>

#include "codec/dct.h"
#include "codec/quantization.h"
#include "cuda_me/kernels/frame_batch.cuh"

namespace c63::cuda {

template <typename Body, int... I>
__device__ __forceinline__ void unroll(Body&& body, std::integer_sequence<int, I...>) {
  (body(std::integral_constant<int, I>{}), ...);
}
/// Calls body(0) … body(7), with indices that are known at compile time.
template <typename Body>
__device__ __forceinline__ void for_8(Body&& body) {
  unroll(std::forward<Body>(body), std::make_integer_sequence<int, 8>{});
}

/// Computes out[i] = Σ in[j]·c[j][i], where c is kDctCosines. Adds the products in the order of j.
__device__ __forceinline__ void forward_line(const float (&in)[8], float (&out)[8]) {
  for_8([&](auto j) {
    for_8([&](auto i) {
      constexpr float c = kDctCosines[j][i];
      const float product = in[j] * c;
      out[i] = j == 0 ? product : out[i] + product;
    });
  });
}

/// Returns the first row of kDctCosines that has the same magnitude in column j as row i.
constexpr int first_of_same_magnitude(int i, int j) {
  for (int k = 0; k < i; ++k) {
    if (kDctCosines[k][j] == kDctCosines[i][j] || kDctCosines[k][j] == -kDctCosines[i][j]) return k;
  }
  return i;
}

/// Computes out[i] = Σ in[j]·c[i][j], where c is kDctCosines. Adds the products in the order of j. A column of the
/// table has at most four different magnitudes, so several outputs share a product. A product with -c is exactly the
/// negated product with c.
__device__ __forceinline__ void inverse_line(const float (&in)[8], float (&out)[8]) {
  for_8([&](auto j) {
    float products[8];
    for_8([&](auto i) {
      constexpr int first = first_of_same_magnitude(i, j);
      constexpr float c = kDctCosines[i][j];
      if constexpr (first == i) products[i] = in[j] * c;
      constexpr bool negated = (c < 0) != (kDctCosines[first][j] < 0);
      const float product = negated ? -products[first] : products[first];
      out[i] = j == 0 ? product : out[i] + product;
    });
  });
}

/// Distances in shared memory, in words: from one row of a block to the next, and from one block to the next. With
/// these distances, neither rows nor columns of a warp's four blocks conflict in a bank.
inline constexpr int kRowWords = 9;
inline constexpr int kBlockWords = 72;

__device__ constexpr std::array<std::uint8_t, 64> make_order_by_column() {
  std::array<std::uint8_t, 64> order{};
  for (int k = 0; k < 64; ++k) order[(kZigZag[k] % 8) * 8 + kZigZag[k] / 8] = static_cast<std::uint8_t>(k);
  return order;
}
/// Entry u·8 + v is the zig-zag index of the coefficient in column u and row v.
alignas(8) __device__ constexpr std::array<std::uint8_t, 64> kOrderByColumn = make_order_by_column();

/// The place of a block in the picture.
struct BlockPlace {
  int plane = 0;
  int index = 0;  ///< index of the block in the plane
  int column = 0;
  std::size_t start = 0;  ///< offset of the block's first sample in its plane
};

__device__ __forceinline__ BlockPlace place_of(const FrameLayout& layout, int mcu, int sub) {
  const int mcu_row = mcu / layout.mcu_columns;
  const int mcu_column = mcu - mcu_row * layout.mcu_columns;
  const bool luma = sub < 4;
  BlockPlace place;
  place.plane = luma ? 0 : sub - 3;
  const int row = luma ? mcu_row * 2 + (sub >> 1) : mcu_row;
  place.column = luma ? mcu_column * 2 + (sub & 1) : mcu_column;
  const int columns = luma ? layout.mcu_columns * 2 : layout.mcu_columns;
  place.index = row * columns + place.column;
  place.start = static_cast<std::size_t>(row) * 8 * (columns * 8) + static_cast<std::size_t>(place.column) * 8;
  return place;
}

/// Loads eight samples from an address of any alignment, by aligned words.
__device__ __forceinline__ uint2 load_row_anywhere(const std::uint8_t* samples) {
  const auto address = reinterpret_cast<std::uintptr_t>(samples);
  const auto* words = reinterpret_cast<const std::uint32_t*>(address & ~std::uintptr_t{3});
  const unsigned shift = static_cast<unsigned>(address & 3) * 8;
  const std::uint32_t a = __ldg(words);
  const std::uint32_t b = __ldg(words + 1);
  const std::uint32_t c = __ldg(words + 2);
  return {__funnelshift_r(a, b, shift), __funnelshift_r(b, c, shift)};
}

struct BlockRows {
  uint2 current;
  uint2 prediction;
};

/// Loads row `t` of a block and of its prediction. If `predicted` is false, the prediction is zero.
__device__ __forceinline__ BlockRows load_rows(const FrameLayout& layout, const CodingJob& job, const BlockPlace& place,
                                               bool predicted, MotionVector vector, int t) {
  const int width = layout.width[place.plane];
  const std::size_t at = layout.offset[place.plane] + place.start + static_cast<std::size_t>(t) * width;
  BlockRows rows{__ldg(reinterpret_cast<const uint2*>(job.current + at)), {0, 0}};
  if (predicted) {
    rows.prediction = load_row_anywhere(job.reference + at + static_cast<std::ptrdiff_t>(vector.y) * width + vector.x);
  }
  return rows;
}

/// A block's index in per-block arrays.
__device__ __forceinline__ int index_of(const FrameLayout& layout, const BlockPlace& place) {
  return layout.first_block[place.plane] + place.index;
}

__device__ __forceinline__ int sum_of_bytes(uint2 row) {
  return static_cast<int>(__vsadu4(row.x, 0) + __vsadu4(row.y, 0));
}

/// Returns byte `i` of a row as a float, plus 2^23. From 2^23 to 2^24, the last bit of a float is worth one. So the
/// byte only needs to be put into the last bits of 2^23, and no conversion is needed.
__device__ __forceinline__ float raised_byte(uint2 row, int i) {
  const std::uint32_t word = i < 4 ? row.x : row.y;
  return __uint_as_float(__byte_perm(word, 0x4B000000U, 0x7540U + static_cast<unsigned>(i % 4)));
}

/// Returns the magnitude of the level to which a coefficient is quantized.
__device__ __forceinline__ float level_magnitude(float coefficient, const StepQuantizer& quantizer, bool is_dc, int plane) {
  const auto limit = static_cast<float>(is_dc ? kMaxDcMagnitude : max_ac_magnitude(plane));
  return fminf(quantizer.magnitude(fabsf(coefficient)), limit);
}

/// Clamps four numbers to 0..255 and packs them, the first one in the lowest byte.
__device__ __forceinline__ std::uint32_t pack_saturated(int a, int b, int c, int d) {
  std::uint32_t high;
  std::uint32_t all;
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, 0;" : "=r"(high) : "r"(d), "r"(c));
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(all) : "r"(b), "r"(a), "r"(high));
  return all;
}

/// Adds residuals to predictions and clamps the sums to samples. The format lets a sum wrap in 16 bits before it is
/// clamped (reconstruct_sample()). With an encoder's own levels no sum does: its residual is at most 255, and
/// quantization changes it by less than 3000. So `wraps` is needed only for levels from a stream.
template <bool wraps>
__device__ __forceinline__ std::uint32_t reconstruct_four(const int* residuals, std::uint32_t prediction) {
  const auto sample = [&](int i) {
    const int sum = residuals[i] + static_cast<int>(__byte_perm(prediction, 0, 0x4440U + static_cast<unsigned>(i)));
    return wraps ? static_cast<int>(static_cast<std::int16_t>(sum)) : sum;
  };
  return pack_saturated(sample(0), sample(1), sample(2), sample(3));
}

/// Returns the DC level of a block. The DC coefficient depends only on the sum of the block's residuals. This sum is
/// exact, because residuals are integers.
__device__ __forceinline__ int dc_level(int residual_sum, const StepQuantizer& quantizer) {
  const float coefficient = scale_coefficient(static_cast<float>(residual_sum), 0, 0);
  return static_cast<int>(copysignf(level_magnitude(coefficient, quantizer, true, 0), coefficient));
}

/// Loads a quantizer of a QuantizerTable in device memory, through the read-only cache. So the table must not change
/// while a kernel runs.
__device__ __forceinline__ StepQuantizer load_quantizer(const StepQuantizer* quantizer) {
  const float2 fields = __ldg(reinterpret_cast<const float2*>(quantizer));
  StepQuantizer loaded;
  loaded.step4 = fields.x;
  loaded.reciprocal = fields.y;
  return loaded;
}

/// The quantizers of one column of a block, for rows 0 to 7. They are loaded two at a time, so at() must be called for
/// the rows in this order.
class ColumnQuantizers {
 public:
  __device__ __forceinline__ explicit ColumnQuantizers(const StepQuantizer* column) : from_(reinterpret_cast<const float4*>(column)) {}
  template <int kIndex>
  [[nodiscard]] __device__ __forceinline__ StepQuantizer at() {
    if constexpr (kIndex % 2 == 0) two_ = __ldg(from_ + kIndex / 2);
    StepQuantizer quantizer;
    quantizer.step4 = kIndex % 2 == 0 ? two_.x : two_.z;
    quantizer.reciprocal = kIndex % 2 == 0 ? two_.y : two_.w;
    return quantizer;
  }

 private:
  const float4* from_;
  float4 two_{};
};

/// Computes the inverse transform of a block. The calling thread gives column `t` of the scaled coefficients, and gets
/// row `t` of the residual. The whole warp takes part.
__device__ __forceinline__ void inverse_block(float (&in)[8], int t, float* numbers, int (&residuals)[8]) {
  float out[8];
  for_8([&](auto v) { numbers[v * kRowWords + t] = in[v]; });
  __syncwarp();
  for_8([&](auto j) { in[j] = numbers[t * kRowWords + j]; });
  inverse_line(in, out);
  for_8([&](auto i) { numbers[t * kRowWords + i] = out[i]; });
  __syncwarp();
  for_8([&](auto j) { in[j] = numbers[j * kRowWords + t]; });
  inverse_line(in, out);
  for_8([&](auto i) { numbers[i * kRowWords + t] = __int_as_float(static_cast<int>(out[i])); });
  __syncwarp();
  for_8([&](auto i) { residuals[i] = __float_as_int(numbers[t * kRowWords + i]); });
}

/// Transforms, quantizes and reconstructs one block. Leaves its levels in shared memory. Returns row `t` of the
/// reconstruction. The whole warp takes part.
__device__ __forceinline__ uint2 transform_block(const BlockRows& rows, const StepQuantizer* quantizers, int plane, int t,
                                                 float* numbers, std::int16_t* levels) {
  float in[8];
  float out[8];
  for_8([&](auto i) { in[i] = raised_byte(rows.current, i) - raised_byte(rows.prediction, i); });
  forward_line(in, out);
  for_8([&](auto i) { numbers[t * kRowWords + i] = out[i]; });
  __syncwarp();
  for_8([&](auto j) { in[j] = numbers[j * kRowWords + t]; });
  forward_line(in, out);

  // Thread t now has column t. It computes the column's levels, and the coefficients that a decoder restores from them.
  const auto order = *reinterpret_cast<const uint2*>(kOrderByColumn.data() + t * 8);
  ColumnQuantizers column(quantizers + plane * 64 + t * 8);
  const float column_scale = t == 0 ? kDctScale : 1.0F;  // multiplying by one changes nothing
  std::uint32_t any = 0;
  for_8([&](auto v) {
    const float coefficient = scale_coefficient(out[v] * column_scale, v, 1);
    const StepQuantizer quantizer = column.at<v>();
    const float level = level_magnitude(coefficient, quantizer, v == 0 && t == 0, plane);
    any |= __float_as_uint(level);
    const std::uint32_t k = __byte_perm(v < 4 ? order.x : order.y, 0, 0x4440U + v % 4);
    // After 1.5·2^23 is added, the last bits of the float are the level in two's complement.
    levels[k] = static_cast<std::int16_t>(__float_as_uint(copysignf(level, coefficient) + 12582912.0F));
    in[v] = scale_coefficient(copysignf(quantizer.restored(level), coefficient) * column_scale, v, 1);
  });
  if (!__any_sync(kFullWarp, any != 0)) return rows.prediction;
  int residuals[8];
  inverse_block(in, t, numbers, residuals);
  return {reconstruct_four<false>(residuals, rows.prediction.x),
          reconstruct_four<false>(residuals + 4, rows.prediction.y)};
}

/// Reconstructs a block from its levels, which are in zig-zag order. Returns row `t` of it. The whole warp takes part.
template <bool wraps>
__device__ __forceinline__ uint2 restore_block(uint2 prediction, const std::int16_t* levels, const StepQuantizer* quantizers,
                                               int plane, int t, float* numbers) {
  float in[8];
  const auto order = *reinterpret_cast<const uint2*>(kOrderByColumn.data() + t * 8);
  ColumnQuantizers column(quantizers + plane * 64 + t * 8);
  const float column_scale = t == 0 ? kDctScale : 1.0F;
  bool any_ac = false;
  for_8([&](auto v) {
    const auto level = static_cast<float>(levels[__byte_perm(v < 4 ? order.x : order.y, 0, 0x4440U + v % 4)]);
    any_ac |= level != 0 && (v != 0 || t != 0);
    in[v] = scale_coefficient(copysignf(column.at<v>().restored(fabsf(level)), level) * column_scale, v, 1);
  });
  if (!__any_sync(kFullWarp, any_ac)) {  // only DC: a block has the same residual in every sample
    const auto residual = static_cast<int>(__shfl_sync(kFullWarp, in[0], 0, 8));
    const int residuals[4] = {residual, residual, residual, residual};
    return {reconstruct_four<wraps>(residuals, prediction.x), reconstruct_four<wraps>(residuals, prediction.y)};
  }
  int residuals[8];
  inverse_block(in, t, numbers, residuals);
  return {reconstruct_four<wraps>(residuals, prediction.x), reconstruct_four<wraps>(residuals + 4, prediction.y)};
}

/// The squared error of a row's first `coded` samples.
__device__ __forceinline__ unsigned int squared_error(uint2 a, uint2 b, std::ptrdiff_t coded) {
  if (coded < 8) {
    const auto bits = static_cast<int>(coded > 0 ? coded * 8 : 0);
    const unsigned int x = bits >= 32 ? ~0U : (1U << bits) - 1U;
    const unsigned int y = bits <= 32 ? 0U : (1U << (bits - 32)) - 1U;
    a = {a.x & x, a.y & y};
    b = {b.x & x, b.y & y};
  }
  return add_squared_differences(a.x, b.x, add_squared_differences(a.y, b.y, 0U));
}

}  // namespace c63::cuda
