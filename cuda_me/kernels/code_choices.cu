// Turns the chosen candidates into levels, reconstruction and the bits of every block, for frames that are decided by
// rate. (Other frames are coded by code_frame.cu.) If repeating the previous picture is cheaper, the reference is
// copied to the reconstruction, and the bits are not used. So the chain's two pictures change places in the same way,
// whether the frame is repeated or coded.

#include "cuda_me/kernels/frame_segment.cuh"
#include "cuda_me/kernels/rate_common.cuh"
#include "cuda_me/kernels/segment_codes.cuh"
#include "cuda_me/runtime/launch.h"
#include "decide/rdoq.h"
#include "decide/repeat_frame.h"

namespace c63::cuda {
namespace {

/// Writes the levels of a block in zig-zag order. The block's eight threads write eight coded levels at a time, one
/// each. The whole warp takes part.
__device__ __forceinline__ void write_levels(const RateFrame& frame, int block, int plane, int t, std::int16_t* levels) {
  const ChosenCandidate winner = frame.scratch.winners[block];
  const std::size_t candidate = static_cast<std::size_t>(block) * frame.capacity + winner.slot;
  AcMasks masks;
  if (winner.without_ac == 0) masks = frame.scratch.masks[candidate];
  const auto low = static_cast<std::uint32_t>(masks.coded);
  const auto high = static_cast<std::uint32_t>(masks.coded >> 32);
  const int count = __popc(low) + __popc(high);
  reinterpret_cast<uint4*>(levels)[t] = {};
  __syncwarp();
  if (t == 0) levels[0] = winner.dc;
  const c63::Quantizer& quantizer = frame.quantizers[plane];
  for (int n = t; n < count; n += 8) {
    const int k = place_of_bit(low, high, n);
    const int coefficient = __ldg(frame.scratch.coefficients + candidate * kBlockSamples + k);
    levels[k] = static_cast<std::int16_t>(
        chosen_level(coefficient, __ldg(quantizer.reciprocals.data() + k), quantizer.max_level, (masks.lower >> k & 1U) != 0));
  }
  __syncwarp();
}

__device__ __forceinline__ bool is_repeated(const RateFrame& frame) {
  if (frame.must_repeat) return true;
  if (!frame.may_repeat) return false;
  const FrameState& state = *frame.job.state;
  return repeat_is_cheaper(state.repeat_error, static_cast<std::int64_t>(state.cost), frame.headers, frame.rate);
}

/// Returns the flags and the vector of a block. The DC difference is set later, by write_segment_codes().
__device__ __forceinline__ BlockHead head_of(const CodingJob& job, int block, int column) {
  BlockHead head;
  head.has_vector = job.reference != nullptr && job.unpredicted[block] == 0;
  if (!head.has_vector) return head;
  head.vector = job.vectors[block];
  head.reuse = column > 0 && job.unpredicted[block - 1] == 0 && job.vectors[block - 1] == head.vector;
  return head;
}

__global__ void __launch_bounds__(kSegmentThreads, kResidentSegments)
    code_choices_kernel(const __grid_constant__ FrameLayout layout, const RateFrame* frames) {
  __shared__ SegmentMemory memory;
  const RateFrame& frame = frames[blockIdx.y];
  const CodingJob& job = frame.job;
  const Work work = work_of_thread(layout);
  const BlockPlace& place = work.place;
  const int block = index_of(layout, place);
  const MotionVector source = job.reference != nullptr ? job.vectors[block] : no_vector();
  const BlockRows rows = load_rows(layout, job, place, source != no_vector(), source, work.t);
  load_code_tables(memory.tables, kSegmentThreads);
  clear_totals(memory);
  std::int16_t* const levels = memory.levels + work.block * kLevelsApart;
  write_levels(frame, block, place.plane, work.t, levels);
  if (work.t == 0) memory.dc[kCarriedBlocks + work.block] = levels[0];
  if (threadIdx.x < kCarriedBlocks) {
    const int carried = static_cast<int>(threadIdx.x);
    const bool is_first = work.segment == 0;
    const BlockPlace before = place_of(layout, is_first ? 0 : work.segment * kMcusPerSegment - 1, 3 + carried);
    memory.dc[carried] = is_first ? 0 : frame.scratch.winners[index_of(layout, before)].dc;
  }

  const bool repeated = is_repeated(frame);
  if (threadIdx.x == 0 && blockIdx.x == 0 && repeated) job.state->repeats = 1;
  const uint2 restored = restore_block<false>(rows.prediction, levels, job.quantizers, place.plane, work.t,
                                       memory.numbers + work.block * kBlockWords);
  const uint2 result = repeated ? load_rows(layout, job, place, true, {}, work.t).prediction : restored;
  BlockRows measured = rows;
  if (frame.original != nullptr) {
    const std::size_t at = layout.offset[place.plane] + place.start + static_cast<std::size_t>(work.t) * layout.width[place.plane];
    measured.current = __ldg(reinterpret_cast<const uint2*>(frame.original + at));
  }
  const unsigned int error = store_block(layout, job, work, measured, result, repeated);
  const unsigned int sad =
      sum_of_lanes<8>(__vsadu4(rows.current.x, rows.prediction.x) + __vsadu4(rows.current.y, rows.prediction.y));
  if (work.active && work.t == 0 && job.reference != nullptr) job.sads[block] = static_cast<std::uint16_t>(sad);
  __syncwarp();  // the intermediate values have been read; the bits use the same memory
  std::uint32_t* const words = memory.bits + work.block * kBlockWords;
  for (int i = work.t; i < kBlockWords; i += 8) words[i] = 0;
  __syncthreads();
  if (work.active && work.t == 0) atomicAdd(&memory.sse[place.plane], error);
  write_segment_codes(memory, job, work, head_of(job, block, place.column), levels, words);
  if (threadIdx.x == 0) {
    add_errors(memory, *job.state);
    add_bits(memory, *job.state);
    atomicMax(&job.state->moments.coding_ends, device_clock());
  }
}

constexpr int kErrorThreads = 256;
constexpr int kErrorBlocks = 64;  // thread blocks per frame

/// Computes the squared error of repeating the previous picture, over the padded planes.
__global__ void __launch_bounds__(kErrorThreads)
    repeat_error_kernel(const __grid_constant__ FrameLayout layout, const RateFrame* frames) {
  const RateFrame& frame = frames[blockIdx.y];
  if (!frame.may_repeat) return;
  // Planes are 256-byte aligned, and the bytes between them are zero in both pictures. So the pictures can be compared
  // in one piece, without a loop over planes.
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

/// Computes the weighted squared error of repeating the previous picture. A warp takes an MCU at a time. Each lane has
/// half a row of luma and a row of U or V. Lanes 16 to 31 compute the same chroma as lanes 0 to 15.
__global__ void __launch_bounds__(kErrorThreads)
    weighted_repeat_error_kernel(const __grid_constant__ FrameLayout layout, const RateFrame* frames) {
  const RateFrame& frame = frames[blockIdx.y];
  if (!frame.may_repeat) return;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const auto row_error = [&](int plane, int x, int y) {
    const std::size_t at = layout.offset[plane] + static_cast<std::size_t>(y) * layout.width[plane] + static_cast<std::size_t>(x);
    const uint2 a = __ldg(reinterpret_cast<const uint2*>(frame.job.current + at));
    const uint2 b = __ldg(reinterpret_cast<const uint2*>(frame.job.reference + at));
    return add_squared_differences(a.x, b.x, add_squared_differences(a.y, b.y, 0));
  };
  const auto weighted = [&](unsigned error, int plane, int mcu) {
    return static_cast<unsigned long long>(reweigh_on_device(error, weight_of(frame, plane, mcu), kPlainWeight));
  };
  unsigned long long sum = 0;
  const int warps = static_cast<int>(gridDim.x) * kErrorThreads / 32;
  for (int mcu = (static_cast<int>(blockIdx.x) * kErrorThreads + static_cast<int>(threadIdx.x)) / 32; mcu < layout.mcus; mcu += warps) {
    const int row = mcu / layout.mcu_columns;
    const int column = mcu - row * layout.mcu_columns;
    const unsigned luma = sum_of_lanes(row_error(0, column * kMcuSize + lane % 2 * kBlockSize, row * kMcuSize + lane / 2));
    const int chroma_plane = 1 + lane / 8 % 2;
    const unsigned chroma = sum_of_lanes<8>(row_error(chroma_plane, column * kBlockSize, row * kBlockSize + lane % 8));
    if (lane == 0) sum += weighted(luma, 0, mcu);
    if (lane == 0 || lane == 8) sum += weighted(chroma, chroma_plane, mcu);
  }
  sum = sum_of_lanes(sum);
  if (lane == 0 && sum != 0) atomicAdd(&frame.job.state->repeat_error, sum);
}

}  // namespace

void enqueue_repeat_error(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream) {
  if (!group.may_repeat) return;
  launch(group.is_weighted ? weighted_repeat_error_kernel : repeat_error_kernel,
         {{kErrorBlocks, group.count}, kErrorThreads}, stream, layout, group.frames);
}

void enqueue_code_choices(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream) {
  launch(code_choices_kernel, {{layout.segments, group.count}, kSegmentThreads}, stream, layout, group.frames);
}

}  // namespace c63::cuda
