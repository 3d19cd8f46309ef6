// Turns the levels and vectors of a decoded frame into samples. Eight threads work on a block; each has a row or a
// column.

#include "cuda_me/decoder/decode_kernels.h"
#include "cuda_me/kernels/block_transform.cuh"
#include "cuda_me/runtime/launch.h"
#include "cuda_me/runtime/range.h"

namespace c63::cuda {
namespace {

constexpr int kBlocksPerGroup = 32;  ///< blocks of samples per thread block
constexpr int kRestoreThreads = kBlocksPerGroup * 8;

/// Adds residuals to the prediction as the format defines it: the sum wraps in 16 bits before it is clamped to a
/// sample. It only wraps if a stream has extreme levels, which c63's encoders never write.
__device__ __forceinline__ std::uint32_t reconstruct_four_wrapping(const int* residuals, std::uint32_t prediction) {
  const auto sample = [&](int i) {
    const int sum = residuals[i] + static_cast<int>(__byte_perm(prediction, 0, 0x4440U + static_cast<unsigned>(i)));
    return static_cast<int>(static_cast<std::int16_t>(sum));
  };
  return pack_saturated(sample(0), sample(1), sample(2), sample(3));
}

/// Restores row `t` of a block from its levels, which are in shared memory in zig-zag order. The whole warp takes part.
__device__ __forceinline__ uint2 restore_row(uint2 prediction, const std::int16_t* levels, const StepQuantizer* quantizers,
                                             int plane, int t, float* numbers) {
  float in[8];
  const auto order = *reinterpret_cast<const uint2*>(kOrderByColumn.data() + t * 8);
  const StepQuantizer* const column = quantizers + plane * 64 + t * 8;
  const float column_scale = t == 0 ? kDctScale : 1.0F;  // multiplying by one changes nothing
  bool any_ac = false;
  for_8([&](auto v) {
    const auto level = static_cast<float>(levels[__byte_perm(v < 4 ? order.x : order.y, 0, 0x4440U + v % 4)]);
    any_ac |= level != 0 && (v != 0 || t != 0);
    in[v] = scale_coefficient(copysignf(load_quantizer(column + v).restored(fabsf(level)), level) * column_scale, v, 1);
  });
  int residuals[8];
  if (__any_sync(kFullWarp, any_ac)) {
    inverse_block(in, t, numbers, residuals);
  } else {  // if only first levels (DC) are not zero, a block's residual is the same for every sample
    const auto residual = static_cast<int>(__shfl_sync(kFullWarp, in[0], 0, 8));
    for_8([&](auto i) { residuals[i] = residual; });
  }
  return {reconstruct_four_wrapping(residuals, prediction.x), reconstruct_four_wrapping(residuals + 4, prediction.y)};
}

__global__ void __launch_bounds__(kRestoreThreads)
    restore_frame_kernel(const __grid_constant__ FrameLayout layout, const __grid_constant__ RestoreJob job) {
  __shared__ float numbers[kBlocksPerGroup * kBlockWords];
  __shared__ uint4 levels[kBlocksPerGroup * 8];
  const int of_group = static_cast<int>(threadIdx.x) / 8;
  const int t = static_cast<int>(threadIdx.x) % 8;
  // Threads past the last block repeat its work but write nothing, because whole warps must take part.
  const int wanted = static_cast<int>(blockIdx.x) * kBlocksPerGroup + of_group;
  const bool active = wanted < layout.blocks;
  const int block = active ? wanted : layout.blocks - 1;
  const int plane = block >= layout.first_block[2] ? 2 : block >= layout.first_block[1] ? 1 : 0;
  const int index = block - layout.first_block[plane];
  const int row = index / layout.columns[plane];
  const int width = layout.width[plane];
  const std::size_t at = layout.offset[plane] + static_cast<std::size_t>(row * 8 + t) * width +
                         static_cast<std::size_t>(index - row * layout.columns[plane]) * 8;

  const uint4 eight = __ldg(reinterpret_cast<const uint4*>(job.levels) + static_cast<std::size_t>(block) * 8 + t);
  PackedVector source = kWithoutVector;
  if (job.reference != nullptr) {
    source = job.vectors[block];
    if (source == kWithoutVector && job.inherited != nullptr) source = job.inherited[block];
  }
  if (active && t == 0) job.used_vectors[block] = source;
  uint2 samples{0, 0};
  if (source != kWithoutVector) {
    const MotionVector vector = unpack_vector(source);
    samples = load_row_anywhere(job.reference + at + static_cast<std::ptrdiff_t>(vector.y) * width + vector.x);
  }
  if (__any_sync(kFullWarp, (eight.x | eight.y | eight.z | eight.w) != 0)) {
    levels[of_group * 8 + t] = eight;
    __syncwarp();
    samples = restore_row(samples, reinterpret_cast<const std::int16_t*>(levels + of_group * 8), job.quantizers, plane, t,
                          numbers + of_group * kBlockWords);
  }
  if (active) *reinterpret_cast<uint2*>(job.picture + at) = samples;
}

}  // namespace

void enqueue_restoring(const FrameLayout& layout, const RestoreJob& job, cudaStream_t stream) {
  const Range range("restore frame");
  launch("restore_frame_kernel", restore_frame_kernel,
         {dim3(static_cast<unsigned>((layout.blocks + kBlocksPerGroup - 1) / kBlocksPerGroup)), dim3(kRestoreThreads)}, stream, layout, job);
}

}  // namespace c63::cuda
