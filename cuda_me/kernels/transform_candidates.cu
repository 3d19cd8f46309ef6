// Computes and summarizes the coefficients of each candidate's residual (defined in decide/forward_transform.h and
// rdoq.h). Eight threads work on a block. Each of them first transforms a row, then a column. They take the
// block's candidates one after another.

#include "cuda_me/kernels/block_transform.cuh"
#include "cuda_me/kernels/rate_common.cuh"
#include "cuda_me/runtime/launch.h"
#include "decide/forward_transform.h"

namespace c63::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocks = kThreads / 8;
/// Words of shared memory per block. 32 words have two coefficients each. Four more keep a warp's blocks in different
/// banks.
constexpr int kCoefficientWords = 36;

/// Returns the weight of input j in output i, from kTransformWeights, at compile time.
constexpr int weight(int j, int i) { return kTransformWeights[static_cast<std::size_t>(j)][static_cast<std::size_t>(i)]; }

/// Transforms a row or column. Adds `rounding` to each output, and leaves the shift to the caller. It uses a symmetry
/// of the weights: weight(7 - j, i) is weight(j, i) if i is even, and -weight(j, i) if i is odd.
__device__ __forceinline__ void transform_line(const int (&in)[8], int rounding, int (&out)[8]) {
  int sums[4];
  int differences[4];
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    sums[j] = in[j] + in[7 - j];
    differences[j] = in[j] - in[7 - j];
  }
  // The even outputs have one more symmetry. Outputs 0 and 4 depend only on sums of two of these sums, outputs 2 and 6
  // only on differences of two of them.
  const int even[2] = {sums[0] + sums[3], sums[1] + sums[2]};
  const int odd[2] = {sums[0] - sums[3], sums[1] - sums[2]};
  out[0] = (even[0] + even[1]) * weight(0, 0) + rounding;
  out[4] = (even[0] - even[1]) * weight(0, 4) + rounding;
  out[2] = odd[1] * weight(1, 2) + (odd[0] * weight(0, 2) + rounding);
  out[6] = odd[1] * weight(1, 6) + (odd[0] * weight(0, 6) + rounding);
  for_8([&](auto i) {
    if constexpr (i % 2 == 1) {
      out[i] = differences[3] * weight(3, i) +
               (differences[2] * weight(2, i) + (differences[1] * weight(1, i) + (differences[0] * weight(0, i) + rounding)));
    }
  });
}

/// Returns true if the weights have the symmetries that transform_line() uses.
constexpr bool weights_are_symmetric() {
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 4; ++j) {
      if (weight(7 - j, i) != (i % 2 == 0 ? weight(j, i) : -weight(j, i))) return false;
    }
  }
  for (const int i : {0, 2, 4, 6}) {
    const int sign = i % 4 == 0 ? 1 : -1;
    if (weight(3, i) != sign * weight(0, i) || weight(2, i) != sign * weight(1, i)) return false;
  }
  return weight(1, 0) == weight(0, 0) && weight(1, 4) == -weight(0, 4);
}
static_assert(weights_are_symmetric());

/// Returns the sum of the weights of output i. It is 0 for all outputs but output 0. If all inputs grow by half a
/// sample, the output grows by half of this sum.
constexpr int sum_of_weights(int i) {
  int sum = 0;
  for (int j = 0; j < 8; ++j) sum += weight(j, i);
  return sum;
}
constexpr bool only_first_weights_have_a_sum() {
  for (int i = 1; i < 8; ++i) {
    if (sum_of_weights(i) != 0) return false;
  }
  return sum_of_weights(0) % 2 == 0;
}
static_assert(only_first_weights_have_a_sum());

struct TransformMemory {
  int numbers[kBlocks * kBlockWords];
  alignas(16) std::uint32_t coefficients[kBlocks * kCoefficientWords];
};

__device__ __forceinline__ int byte_of_row(uint2 row, int i) {
  return static_cast<int>(__byte_perm(i < 4 ? row.x : row.y, 0, 0x4440U + static_cast<unsigned>(i % 4)));
}

__device__ __forceinline__ int products_of_bytes(uint2 a, uint2 b) {
  return static_cast<int>(__dp4a(a.x, b.x, __dp4a(a.y, b.y, 0U)));
}

/// Returns number `i` of a block's coefficients or thresholds from the word that contains it. A word has two.
__device__ __forceinline__ int half_of(std::uint32_t word, int i) {
  return i % 2 == 0 ? static_cast<std::int16_t>(word & 0xFFFFU) : static_cast<std::int16_t>(word >> 16);
}

__global__ void __launch_bounds__(kThreads)
    transform_candidates_kernel(const __grid_constant__ FrameLayout layout, const RateFrame* frames) {
  __shared__ TransformMemory memory;
  const RateFrame& frame = frames[blockIdx.y];
  const RateScratch& scratch = frame.scratch;
  const int own = static_cast<int>(threadIdx.x) / 8;
  const int t = static_cast<int>(threadIdx.x) % 8;
  const int number = static_cast<int>(blockIdx.x) * kBlocks + own;
  const bool active = number < layout.blocks;
  const int block = active ? number : layout.blocks - 1;  // threads past the last block repeat it
  const RateBlock place = rate_block(layout, block);
  const int width = layout.width[place.plane];
  const std::size_t at = first_sample(layout, place) + static_cast<std::size_t>(t) * width;
  const uint2 current = __ldg(reinterpret_cast<const uint2*>(frame.job.current + at));
  const int row_sum = sum_of_bytes(current);
  const int row_squares = products_of_bytes(current, current);
  const uint4 eight = *reinterpret_cast<const uint4*>(frame.quantizers[place.plane].thresholds.data() + t * 8);
  const std::uint32_t thresholds[4] = {eight.x, eight.y, eight.z, eight.w};
  const auto order = *reinterpret_cast<const uint2*>(kOrderByColumn.data() + t * 8);
  const PackedCandidate* const candidates = scratch.candidates + static_cast<std::size_t>(block) * frame.capacity;
  const int count = scratch.counts[block];
  int* const numbers = memory.numbers + own * kBlockWords;
  auto* const places = reinterpret_cast<std::int16_t*>(memory.coefficients + own * kCoefficientWords);
  const auto* const chunks = reinterpret_cast<const uint4*>(memory.coefficients + own * kCoefficientWords);

  for (int slot = 0; __any_sync(kFullWarp, slot < count); ++slot) {
    const VectorNumber vector = vector_of_candidate(candidates[min(slot, count - 1)]);
    const MotionVector source = vector != kNoVector ? vector_of(vector) : inherited_source(frame.job, block);
    const bool predicted = source != no_vector();
    uint2 prediction{};
    if (predicted) {
      prediction = load_row_anywhere(frame.job.reference + at + static_cast<std::ptrdiff_t>(source.y) * width + source.x);
    }
    int in[8];
    int out[8];
    for_8([&](auto i) { in[i] = byte_of_row(current, i) - byte_of_row(prediction, i); });
    int residual_sum = row_sum - sum_of_bytes(prediction);
    int residual_squares = row_squares + products_of_bytes(prediction, prediction) - 2 * products_of_bytes(current, prediction);
    // The inputs are whole samples. half_samples() gives numbers that are twice as large. So the outputs are shifted by
    // one bit less.
    transform_line(in, 1 << (kRowShift - 2), out);
    out[0] += predicted ? 0 : sum_of_weights(0) / 2;
    for_8([&](auto i) { numbers[t * kRowWords + i] = out[i] >> (kRowShift - 1); });
    __syncwarp();
    for_8([&](auto j) { in[j] = numbers[j * kRowWords + t]; });
    transform_line(in, 1 << (kColumnShift - 1), out);
    for_8([&](auto v) {
      const std::uint32_t k = __byte_perm(v < 4 ? order.x : order.y, 0, 0x4440U + v % 4);
      places[k] = static_cast<std::int16_t>(out[v] >> kColumnShift);
    });
    __syncwarp();
    // Thread t now has the coefficients 8t to 8t + 7 in zig-zag order.
    const uint4 chunk = chunks[t];
    const std::uint32_t words[4] = {chunk.x, chunk.y, chunk.z, chunk.w};
    unsigned kept = 0;
    Cost energy = 0;
    for_8([&](auto i) {
      if (i == 0 && t == 0) return;
      const int magnitude = abs(half_of(words[i / 2], i));
      energy += magnitude * magnitude;
      if (magnitude > half_of(thresholds[i / 2], i)) kept |= 1U << i;
    });
    std::uint32_t low = t < 4 ? kept << (8 * t) : 0;
    std::uint32_t high = t < 4 ? 0 : kept << (8 * (t - 4));
#pragma unroll
    for (int by = 4; by > 0; by /= 2) {
      low |= __shfl_xor_sync(kFullWarp, low, by);
      high |= __shfl_xor_sync(kFullWarp, high, by);
    }
    energy = sum_of_lanes<8>(energy);
    residual_sum = sum_of_lanes<8>(residual_sum);
    residual_squares = sum_of_lanes<8>(residual_squares);
    if (!active || slot >= count) continue;
    const std::size_t candidate = static_cast<std::size_t>(block) * frame.capacity + static_cast<std::size_t>(slot);
    if ((low | high) != 0) reinterpret_cast<uint4*>(scratch.coefficients + candidate * 64)[t] = chunk;
    if (t == 0) {
      scratch.summaries[candidate] = {.kept = static_cast<std::uint64_t>(high) << 32 | low,
                                      .energy = energy,
                                      .residual_sum = residual_sum,
                                      .residual_squares = residual_squares,
                                      .dc = half_of(chunk.x, 0)};
    }
  }
}

}  // namespace

void enqueue_transform_candidates(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream) {
  launch(transform_candidates_kernel, {{divide_up(layout.blocks, kBlocks), group.count}, kThreads}, stream, layout,
         group.frames);
}

}  // namespace c63::cuda
