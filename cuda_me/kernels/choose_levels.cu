// What each candidate of a block costs with each of its DC levels: AC levels are chosen by D + λR. As the definition has it
// (RowDecider::evaluate()), first for the candidate that promises most; then for those that its cost does not rule out,
// of all blocks together: a thread a candidate.

#include "cuda_me/collective/scan.cuh"
#include "cuda_me/kernels/rate_common.cuh"
#include "cuda_me/runtime/launch.h"
#include "cuda_me/runtime/range.h"
#include "decide/ac_choice.h"
#include "decide/dc_levels.h"

namespace c63::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kResident = 4;  // thread blocks a multiprocessor is to hold, which caps registers

/// What decides in a block.
struct BlockDecisions {
  const c63::Quantizer& quantizer;
  const AcBits& bits;
  Cost lambda;
};

__device__ __forceinline__ TransformedBlock transformed(const CandidateSummary& summary) {
  TransformedBlock block;
  block.residual_sum = summary.residual_sum;
  block.residual_squares = summary.residual_squares;
  block.ac = {summary.kept, summary.energy, summary.bound};
  return block;  // its coefficients stay where they are
}

__device__ __forceinline__ DcLevels dc_of(const CandidateSummary& summary, const BlockDecisions& by) {
  return dc_levels(summary.dc, by.quantizer.steps[0], by.quantizer.reciprocals[0]);
}

/// Coefficients of each thread's candidate. Threads look at them one by one, from wherever the ones before lead: in device memory
/// each look would wait for another sector. Rows are an odd number of words apart, so that threads at the same coefficient
/// do not meet in a bank.
struct CoefficientRows {
  static constexpr int kWords = 33;
  std::uint32_t words[kThreads * kWords];

  /// Brings those of a candidate to the thread's row, all at once.
  __device__ __forceinline__ const std::int16_t* bring(const std::int16_t* coefficients) {
    std::uint32_t* const row = words + threadIdx.x * kWords;
    const auto* const from = reinterpret_cast<const uint4*>(coefficients);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const uint4 eight = __ldg(from + i);
      row[4 * i] = eight.x;
      row[4 * i + 1] = eight.y;
      row[4 * i + 2] = eight.z;
      row[4 * i + 3] = eight.w;
    }
    return reinterpret_cast<const std::int16_t*>(row);
  }
};

/// What is chosen of a candidate's AC coefficients.
__device__ __forceinline__ AcChoice choice_of(const RateFrame& frame, std::size_t candidate, const CandidateSummary& summary,
                                           const BlockDecisions& by, CoefficientRows& rows) {
  const AcSummary ac{summary.kept, summary.energy, summary.bound};
  if (summary.kept == 0) return {summary.energy + by.lambda * by.bits.end_of_block, 0, 0};
  const std::int16_t* const coefficients = rows.bring(frame.scratch.coefficients + candidate * 64);
  if (frame.rate.choose_levels) return choose_ac_masks(coefficients, ac, by.quantizer, by.bits, by.lambda);
  return round_ac_masks(coefficients, ac, by.quantizer, by.bits, by.lambda);
}

/// Writes what the beam has to know of a candidate, and its levels.
__device__ __forceinline__ void store_costs(const RateScratch& scratch, std::size_t candidate,
                                            const CandidateSummary& summary, const DcLevels& dc, const AcChoice& choice,
                                            const BlockDecisions& by) {
  std::uint8_t without_ac;
  const auto costs =
      block_costs(transformed(summary), dc, choice.cost, by.quantizer, by.bits, by.lambda, without_ac);
  reinterpret_cast<int4*>(scratch.costs)[candidate] = {costs[0], costs[1], costs[2], costs[3]};
  reinterpret_cast<short4*>(scratch.dc_levels)[candidate] = {dc.levels[0], dc.levels[1], dc.levels[2], dc.levels[3]};
  scratch.without_ac[candidate] = without_ac;
  scratch.masks[candidate] = {choice.coded, choice.lower};
}

__device__ __forceinline__ BlockDecisions decisions_of(const FrameLayout& layout, const RateFrame& frame, const AcBitTables& bits,
                                                       int block) {
  const RateBlock place = rate_block(layout, block);
  return {frame.quantizers[place.plane], bits.planes[place.plane == 0 ? 0 : 1],
          frame.weighted.lambdas[weight_of(layout, frame, place)]};
}

/// Items of a thread block, one a thread, in the order of how much work they are: a warp takes as long as its longest.
struct WorkOrder {
  static constexpr int kClasses = 64;
  unsigned ends[kClasses];
  std::uint16_t items[kThreads];

  /// Puts in an item of class `work`; returns the one for this thread. All threads take part, and have met by then: what they
  /// wrote to shared memory before can be read.
  __device__ __forceinline__ unsigned exchange(unsigned item, unsigned work) {
    if (threadIdx.x < kClasses) ends[threadIdx.x] = 0;  // read by none since all have met below
    __syncthreads();
    const unsigned place = atomicAdd(&ends[work], 1U);
    __syncthreads();
    if (threadIdx.x < 32) {
      const unsigned even = ends[2 * threadIdx.x];
      const unsigned both = even + ends[2 * threadIdx.x + 1];
      const unsigned before = scan_lanes(both, static_cast<int>(threadIdx.x)) - both;
      __syncwarp();
      ends[2 * threadIdx.x] = before;
      ends[2 * threadIdx.x + 1] = before + even;
    }
    __syncthreads();
    items[ends[work] + place] = static_cast<std::uint16_t>(item);
    __syncthreads();
    return items[threadIdx.x];
  }
};

/// A thread a block: the candidate that promises most; which others are still in it.
__global__ void __launch_bounds__(kThreads, kResident)
    first_candidate_kernel(const __grid_constant__ FrameLayout layout, const RateFrame* frames) {
  __shared__ AcBitTables bits;
  __shared__ WorkOrder order;
  __shared__ CoefficientRows rows;
  load_ac_bits(bits);
  const RateFrame& frame = frames[blockIdx.y];
  const RateScratch& scratch = frame.scratch;
  const int first_block = static_cast<int>(blockIdx.x * kThreads);
  const auto promise_of = [&](std::size_t candidate) { return scratch.summaries[candidate].promise; };
  // Which candidate of the block with this thread's number is first, and how much work it is.
  unsigned item = threadIdx.x;
  unsigned work = 0;
  if (first_block + static_cast<int>(threadIdx.x) < layout.blocks) {
    const int block = first_block + static_cast<int>(threadIdx.x);
    const std::size_t base = static_cast<std::size_t>(block) * frame.slots;
    const int count = scratch.counts[block];
    int first = 0;
    Cost most_promising = promise_of(base);
    for (int i = 1; i < count; ++i) {
      const Cost cost = promise_of(base + i);
      if (cost >= most_promising) continue;
      most_promising = cost;
      first = i;
    }
    item |= static_cast<unsigned>(first) * kThreads;
    work = static_cast<unsigned>(__popcll(scratch.summaries[base + first].kept));
  }
  item = order.exchange(item, work);
  const int block = first_block + static_cast<int>(item % kThreads);
  const int first = static_cast<int>(item / kThreads);
  const bool active = block < layout.blocks;
  unsigned open = 0;  // a bit a candidate
  const std::size_t base = static_cast<std::size_t>(active ? block : 0) * frame.slots;
  if (active) {
    const BlockDecisions by = decisions_of(layout, frame, bits, block);
    const int count = scratch.counts[block];
    const CandidateSummary summary = scratch.summaries[base + first];
    const DcLevels dc = dc_of(summary, by);
    const AcChoice choice = choice_of(frame, base + first, summary, by, rows);
    store_costs(scratch, base + first, summary, dc, choice, by);
    const Cost limit =
        choice.cost + dc.errors[0] +
        by.lambda * (bits_of_candidate(scratch.candidates[base + first]) + kDiscardMarginBits);
    for (int i = 0; i < frame.slots; ++i) {
      if (i == first) continue;
      if (i >= count || promise_of(base + i) > limit) {
        reinterpret_cast<int4*>(scratch.costs)[base + i] = {kInvalidCost, kInvalidCost, kInvalidCost, kInvalidCost};
        continue;
      }
      const CandidateSummary& other = scratch.summaries[base + i];
      if (other.kept != 0) {
        open |= 1U << i;
      } else {
        store_costs(scratch, base + i, other, dc_of(other, by), choice_of(frame, base + i, other, by, rows), by);
      }
    }
  }
  // One addition a warp.
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const unsigned own = static_cast<unsigned>(__popc(open));
  const unsigned end = scan_lanes(own, lane);
  unsigned start = 0;
  if (lane == 31) start = atomicAdd(scratch.open_count, end);
  std::uint32_t* to = scratch.open + __shfl_sync(kFullWarp, start, 31) + end - own;
  for (; open != 0; open &= open - 1) *to++ = static_cast<std::uint32_t>(base) + static_cast<std::uint32_t>(__ffs(static_cast<int>(open)) - 1);
}

/// A thread a candidate that is still in it.
__global__ void __launch_bounds__(kThreads, kResident)
    other_candidates_kernel(const __grid_constant__ FrameLayout layout, const RateFrame* frames) {
  __shared__ AcBitTables bits;
  __shared__ WorkOrder order;
  __shared__ CoefficientRows rows;
  const RateFrame& frame = frames[blockIdx.y];
  const RateScratch& scratch = frame.scratch;
  const unsigned count = *scratch.open_count;
  if (blockIdx.x * kThreads >= count) return;
  load_ac_bits(bits);
  for (unsigned begin = blockIdx.x * kThreads; begin < count; begin += gridDim.x * kThreads) {
    unsigned i = begin + threadIdx.x;
    const unsigned work = i < count ? static_cast<unsigned>(__popcll(scratch.summaries[scratch.open[i]].kept)) : 0;
    i = begin + order.exchange(threadIdx.x, work);
    if (i >= count) continue;
    const std::size_t candidate = scratch.open[i];
    const int block = static_cast<int>(candidate / static_cast<unsigned>(frame.slots));
    const BlockDecisions by = decisions_of(layout, frame, bits, block);
    const CandidateSummary summary = scratch.summaries[candidate];
    store_costs(scratch, candidate, summary, dc_of(summary, by), choice_of(frame, candidate, summary, by, rows), by);
  }
}

}  // namespace

void enqueue_choose_levels(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream) {
  const Range range("choose levels");
  const auto frames = static_cast<unsigned>(group.count);
  launch("first_candidate_kernel", first_candidate_kernel,
         {dim3(blocks_for(layout.blocks, kThreads), frames), dim3(kThreads)}, stream, layout, group.frames);
  // About as many as are usually still in it; they take more than one each where there are more.
  launch("other_candidates_kernel", other_candidates_kernel,
         {dim3(blocks_for(2 * layout.blocks, kThreads), frames), dim3(kThreads)}, stream, layout, group.frames);
}

}  // namespace c63::cuda
