// From what was chosen to levels and reconstruction: levels are chosen once more, now to be kept, where they are for
// enqueue_codes(); then eight threads a block reconstruct it. A frame that is better repeated becomes its reference, whatever
// was chosen, so that pictures take turns as if it were coded.

#include "cuda_me/kernels/frame_segment.cuh"
#include "cuda_me/kernels/rate_common.cuh"
#include "cuda_me/runtime/launch.h"
#include "cuda_me/runtime/range.h"
#include "decide/ac_levels.h"
#include "decide/repeat_frame.h"

namespace c63::cuda {
namespace {

constexpr int kLevelThreads = 64;

/// Where the levels of a segment are kept (ScanParts::words).
__device__ __forceinline__ std::int16_t* kept_levels(const FrameJob& job, int segment) {
  return reinterpret_cast<std::int16_t*>(job.scan.words + static_cast<std::size_t>(segment) * kMaxSegmentWords);
}

/// A thread a block, in coding order.
__global__ void __launch_bounds__(kLevelThreads)
    keep_levels_kernel(const __grid_constant__ FrameLayout layout, const RateFrame* frames) {
  __shared__ AcBits bits[2];
  load_ac_bits(bits);
  __syncthreads();
  const RateFrame& frame = frames[blockIdx.y];
  const int number = static_cast<int>(blockIdx.x * kLevelThreads + threadIdx.x);
  const int mcu = number / kBlocksPerMcu;
  if (mcu >= layout.mcus) return;
  const BlockPlace place = place_of(layout, mcu, number % kBlocksPerMcu);
  const int block = index_of(layout, place);
  const ChosenCandidate winner = frame.scratch.winners[block];
  const std::size_t candidate = static_cast<std::size_t>(block) * frame.slots + winner.slot;
  const int segment = number / kBlocksPerSegment;
  const int in_segment = number % kBlocksPerSegment;
  alignas(16) std::int16_t levels[64];
  if (winner.without_ac != 0) {
    for (std::int16_t& level : levels) level = 0;
  } else {
    const CandidateSummary& summary = frame.scratch.summaries[candidate];
    const AcSummary ac{summary.kept, summary.energy, summary.bound};
    const std::int16_t* const coefficients = frame.scratch.coefficients + candidate * 64;
    const c63::Quantizer& quantizer = frame.quantizers[place.plane];
    const AcBits& plane_bits = bits[place.plane == 0 ? 0 : 1];
    if (frame.rate.choose_levels) {
      choose_ac_levels(coefficients, ac, quantizer, plane_bits, frame.rate.lambda, levels);
    } else {
      round_ac_levels(coefficients, ac, quantizer, plane_bits, frame.rate.lambda, levels);
    }
  }
  levels[0] = winner.dc;
  auto* const to = reinterpret_cast<uint4*>(kept_levels(frame.job, segment) + in_segment * 64);
#pragma unroll
  for (int i = 0; i < 8; ++i) to[i] = reinterpret_cast<const uint4*>(levels)[i];
  const int carried = in_segment - (kBlocksPerSegment - kCarriedBlocks);
  if (carried >= 0) frame.job.scan.last_dc[segment * kLastDcLevels + carried] = winner.dc;
}

__device__ __forceinline__ bool is_repeated(const FrameLayout& layout, const RateFrame& frame) {
  if (!frame.may_repeat) return false;
  const FrameState& state = *frame.job.state;
  return repeat_is_cheaper(state.repeat_error, static_cast<std::int64_t>(state.cost), frame.headers, frame.rate.lambda);
}

__global__ void __launch_bounds__(kSegmentThreads, kResidentSegments)
    reconstruct_kernel(const __grid_constant__ FrameLayout layout, const RateFrame* frames) {
  __shared__ float numbers[kBlocksPerSegment * kBlockWords];
  __shared__ unsigned int sse[kPlanes];
  const RateFrame& frame = frames[blockIdx.y];
  const FrameJob& job = frame.job;
  const bool repeated = is_repeated(layout, frame);
  const Work work = work_of_thread(layout);
  const BlockPlace& place = work.place;
  const int block = index_of(layout, place);
  const MotionVector source = job.reference != nullptr ? job.vectors[block] : no_vector();
  const BlockRows rows = load_rows(layout, job, place, source != no_vector(), source, work.t);
  if (threadIdx.x < kPlanes) sse[threadIdx.x] = 0;
  if (threadIdx.x == 0 && blockIdx.x == 0 && repeated) job.state->repeats = 1;
  if (job.sads != nullptr && job.reference != nullptr) {
    const unsigned sad = sum_of_lanes<8>(__vsadu4(rows.current.x, rows.prediction.x) + __vsadu4(rows.current.y, rows.prediction.y));
    if (work.active && work.t == 0) job.sads[block] = static_cast<std::uint16_t>(sad);
  }
  uint2 result;
  if (repeated) {
    result = load_rows(layout, job, place, true, {}, work.t).prediction;
  } else {
    const std::int16_t* const levels =
        kept_levels(job, work.segment) + (work.active ? work.block : 0) * 64;
    result = restore_block(rows.prediction, levels, job.quantizers, place.plane, work.t, numbers + work.block * kBlockWords);
  }
  const unsigned int error = store_block(layout, job, work, rows, result, repeated);
  __syncthreads();
  if (work.active && work.t == 0) atomicAdd(&sse[place.plane], error);
  __syncthreads();
  if (threadIdx.x < kPlanes) atomicAdd(&job.state->totals.sse[threadIdx.x], static_cast<unsigned long long>(sse[threadIdx.x]));
}

constexpr int kErrorThreads = 256;
constexpr int kErrorBlocks = 64;  // a frame

/// The squared error of a repeat, over all of the padded planes.
__global__ void __launch_bounds__(kErrorThreads)
    repeat_error_kernel(const __grid_constant__ FrameLayout layout, const RateFrame* frames) {
  const RateFrame& frame = frames[blockIdx.y];
  if (!frame.may_repeat) return;
  // Planes are 256-byte aligned, with zeros in between in both pictures.
  const auto* const a = reinterpret_cast<const uint4*>(frame.job.current);
  const auto* const b = reinterpret_cast<const uint4*>(frame.job.reference);
  const auto chunks = static_cast<unsigned>(layout.picture_bytes / sizeof(uint4));
  unsigned long long sum = 0;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < chunks; i += gridDim.x * blockDim.x) {
    const uint4 x = __ldg(a + i);
    const uint4 y = __ldg(b + i);
    unsigned error = add_squared_differences(x.x, y.x, 0);
    error = add_squared_differences(x.y, y.y, error);
    error = add_squared_differences(x.z, y.z, error);
    sum += add_squared_differences(x.w, y.w, error);
  }
  sum = sum_of_lanes(sum);
  if (threadIdx.x % 32 == 0 && sum != 0) atomicAdd(&frame.job.state->repeat_error, sum);
}

}  // namespace

void enqueue_repeat_error(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream) {
  if (!group.may_repeat) return;
  const Range range("repeat error");
  launch("repeat_error_kernel", repeat_error_kernel, {dim3(kErrorBlocks, static_cast<unsigned>(group.count)), dim3(kErrorThreads)},
         stream, layout, group.frames);
}

void enqueue_code_choices(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream) {
  const Range range("code choices");
  const auto frames = static_cast<unsigned>(group.count);
  launch("keep_levels_kernel", keep_levels_kernel,
         {dim3(blocks_for(layout.mcus * kBlocksPerMcu, kLevelThreads), frames), dim3(kLevelThreads)}, stream, layout,
         group.frames);
  launch("reconstruct_kernel", reconstruct_kernel,
         {dim3(static_cast<unsigned>(layout.segments), frames), dim3(kSegmentThreads)}, stream, layout, group.frames);
}

}  // namespace c63::cuda
