// Joins the bits of the segments to the scan of a frame: counts the bytes 0xFF, finds the place of each segment, and
// puts a zero byte after each 0xFF (byte stuffing). Another kernel copies the scan to the host.
//
// A byte belongs to the segment in which it starts. The scan ends as the course encoder's flush ends it (bitstream.md,
// "flush"). Let T be the last 32 bits of codes. If T is 0, an unfinished byte is dropped. Otherwise an unfinished byte
// is filled up with zero bits. If T is not 0 and no byte is unfinished, a zero byte is added.

#include "cuda_me/collective/reduce.cuh"
#include "cuda_me/kernels/frame_batch.cuh"
#include "cuda_me/runtime/launch.h"

namespace c63::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

/// The bytes that belong to a segment, before stuffing.
struct SegmentBytes {
  const std::uint32_t* words = nullptr;  ///< the segment's words
  int bits = 0;                          ///< the segment's length
  int first_bit = 0;                     ///< the bit at which the first byte that belongs to the segment starts
  int bytes = 0;
  std::uint32_t next = 0;  ///< the first bits of the next segment; 0 for the last segment
};

/// Returns 32 bits of a segment from bit `position` on. Bits past the segment's end are zero.
__device__ __forceinline__ std::uint32_t bits_of_segment(const SegmentBytes& s, int position) {
  const int word = position >> 5;
  const int words = (s.bits + 31) >> 5;
  const std::uint32_t high = word < words ? s.words[word] : 0;
  const std::uint32_t low = word + 1 < words ? s.words[word + 1] : 0;
  return __funnelshift_l(low, high, static_cast<unsigned>(position) & 31U);
}

/// Returns the four bytes of a segment from byte `index` on. The first byte is in the highest bits. If the segment ends
/// within a byte, the byte's other bits are those of the next segment.
__device__ __forceinline__ std::uint32_t four_bytes(const SegmentBytes& s, int index) {
  const int position = s.first_bit + index * 8;
  std::uint32_t bits = bits_of_segment(s, position);
  const int left = s.bits - position;
  if (left < 32 && left >= 0) bits |= left == 0 ? s.next : s.next >> left;
  return bits;
}

__device__ __forceinline__ SegmentBytes bytes_of(const FrameLayout& layout, const CodingJob& job, int segment,
                                                 unsigned long long begin) {
  SegmentBytes s;
  s.words = job.scan.words + static_cast<std::size_t>(segment) * kMaxSegmentWords;
  s.bits = static_cast<int>(job.scan.bits[segment]);
  const unsigned long long end = begin + static_cast<unsigned long long>(s.bits);
  s.first_bit = static_cast<int>(-begin & 7U);
  if (segment + 1 < layout.segments) {
    s.next = s.words[kMaxSegmentWords];
    s.bytes = static_cast<int>((end + 7) / 8 - (begin + 7) / 8);
  } else {
    // A segment has at least one MCU, and an MCU has at least 38 bits. So the scan's last 32 bits are all in this
    // segment.
    const bool flushed = bits_of_segment(s, s.bits - 32) != 0;
    s.bytes = static_cast<int>(end / 8 - (begin + 7) / 8) + (flushed ? 1 : 0);
  }
  return s;
}

/// Returns a word in which the lowest bit of each byte that is 0xFF in `four` is set. Only the first `count` bytes are
/// looked at. The first byte is in the highest bits.
__device__ __forceinline__ unsigned ff_among(std::uint32_t four, int count) {
  unsigned found = __vcmpeq4(four, 0xFFFFFFFFU) & 0x01010101U;
  if (count < 4) found &= count <= 0 ? 0U : 0xFFFFFFFFU << ((4 - count) * 8);
  return found;
}

/// Returns the sum of `values` over all segments before that of the calling warp. All threads of the block take part.
__device__ __forceinline__ unsigned long long sum_before(const std::uint32_t* values, int segments) {
  const int first = static_cast<int>(blockIdx.x) * kWarps;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const unsigned near = lane < warp && first + lane < segments ? values[first + lane] : 0;
  return scan_before<kThreads>(values, first) + sum_of_lanes(near);
}

__global__ void __launch_bounds__(kThreads)
    count_stuffing_kernel(const __grid_constant__ FrameLayout layout, const __grid_constant__ FrameBatch batch) {
  const CodingJob& job = batch.jobs[blockIdx.y];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int segment = static_cast<int>(blockIdx.x) * kWarps + static_cast<int>(threadIdx.x) / 32;
  const unsigned long long begin = sum_before(job.scan.bits, layout.segments);
  if (segment >= layout.segments) return;
  if (segment == 0 && lane == 0) job.state->moments.writing_starts = device_clock();
  const SegmentBytes s = bytes_of(layout, job, segment, begin);
  unsigned count = 0;
  for (int i = lane * 4; i < s.bytes; i += 128) count += __popc(ff_among(four_bytes(s, i), s.bytes - i));
  count = sum_of_lanes(count);
  if (lane == 0) {
    job.scan.bit_offsets[segment] = begin;
    job.scan.stuffing[segment] = count;
  }
}

/// Copies bytes from shared memory, in words where possible. Both addresses must have the same remainder modulo 4.
__device__ __forceinline__ void copy_out(std::uint8_t* to, const std::uint8_t* from, int count, int lane) {
  const int head = min(count, static_cast<int>(-reinterpret_cast<std::uintptr_t>(to) & 3U));
  const int words = (count - head) / 4;
  const int tail = count - head - words * 4;
  if (lane < head) to[lane] = from[lane];
  for (int i = lane; i < words; i += 32) {
    reinterpret_cast<std::uint32_t*>(to + head)[i] = reinterpret_cast<const std::uint32_t*>(from + head)[i];
  }
  if (lane < tail) to[head + words * 4 + lane] = from[head + words * 4 + lane];
}

__global__ void __launch_bounds__(kThreads)
    write_scan_kernel(const __grid_constant__ FrameLayout layout, const __grid_constant__ FrameBatch batch) {
  constexpr int kChunk = 128;  // bytes that a warp takes at a time, before stuffing
  __shared__ alignas(16) std::uint8_t stuffed[kWarps][2 * kChunk + 16];
  const CodingJob& job = batch.jobs[blockIdx.y];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int segment = static_cast<int>(blockIdx.x) * kWarps + warp;
  const unsigned long long stuffing = sum_before(job.scan.stuffing, layout.segments);
  if (segment >= layout.segments) return;
  const unsigned long long begin = job.scan.bit_offsets[segment];
  const SegmentBytes s = bytes_of(layout, job, segment, begin);
  const unsigned long long offset = (begin + 7) / 8 + stuffing;
  const unsigned long long end_of_segment =
      offset + static_cast<unsigned long long>(s.bytes) + job.scan.stuffing[segment];
  if (segment + 1 == layout.segments) {
    // Copies the totals to the report and sets them to zero for the next frame. A lane takes a word.
    constexpr int kWords = sizeof(FrameState) / sizeof(unsigned long long);
    static_assert(kWords <= 32);
    if (lane < kWords) {
      auto* const total = reinterpret_cast<unsigned long long*>(job.state) + lane;
      reinterpret_cast<unsigned long long*>(static_cast<FrameState*>(job.report))[lane] = __ldcg(total);
      *total = 0;
    }
    if (lane == 0) {
      job.report->writing_ends = device_clock();
      job.report->scan_bits = begin + static_cast<unsigned long long>(s.bits);
      job.report->scan_bytes = end_of_segment;
      *job.scan.bytes = end_of_segment;
    }
  }
  if (end_of_segment > job.coded_capacity) return;
  std::uint8_t* to = job.scan.stuffed + offset;
  for (int first = 0; first < s.bytes; first += kChunk) {
    const int own = max(0, min(4, s.bytes - first - lane * 4));
    const std::uint32_t four = four_bytes(s, first + lane * 4);
    const unsigned ff = ff_among(four, own);
    const int length = own + __popc(ff);
    const int end = scan_lanes(length, lane);
    std::uint8_t* const start = stuffed[warp] + (reinterpret_cast<std::uintptr_t>(to) & 3U);
    std::uint8_t* at = start + end - length;
    for (int i = 0; i < own; ++i) {
      const auto byte = static_cast<std::uint8_t>(four >> (24 - i * 8));
      *at++ = byte;
      if (byte == 0xFF) *at++ = 0;
    }
    const int total = __shfl_sync(kFullWarp, end, 31);
    __syncwarp();
    copy_out(to, start, total, lane);
    __syncwarp();
    to += total;
  }
}

constexpr int kDownloadBlocks = 8;  // thread blocks per frame

__global__ void __launch_bounds__(kThreads) download_scan_kernel(const __grid_constant__ FrameBatch batch) {
  const CodingJob& job = batch.jobs[blockIdx.y];
  const unsigned long long bytes = *job.scan.bytes;
  if (bytes > job.coded_capacity) return;
  // Copies whole chunks of 16 bytes. Both buffers have room for the whole last chunk.
  const auto chunks = static_cast<unsigned>((bytes + sizeof(uint4) - 1) / sizeof(uint4));
  const auto* from = reinterpret_cast<const uint4*>(job.scan.stuffed);
  auto* to = reinterpret_cast<uint4*>(job.coded);
  constexpr unsigned kStep = kDownloadBlocks * kThreads;
  unsigned i = blockIdx.x * kThreads + threadIdx.x;
  for (; i + 3 * kStep < chunks; i += 4 * kStep) {
    const uint4 a = __ldcg(from + i);
    const uint4 b = __ldcg(from + i + kStep);
    const uint4 c = __ldcg(from + i + 2 * kStep);
    const uint4 d = __ldcg(from + i + 3 * kStep);
    to[i] = a;
    to[i + kStep] = b;
    to[i + 2 * kStep] = c;
    to[i + 3 * kStep] = d;
  }
  for (; i < chunks; i += kStep) to[i] = __ldcg(from + i);
}

}  // namespace

void enqueue_scan_writing(const FrameLayout& layout, std::span<const CodingJob> jobs, cudaStream_t stream) {
  const Range range("scan");
  for_each_batch(jobs, [&](const FrameBatch& batch, unsigned frames) {
    const LaunchShape shape{{(layout.segments + kWarps - 1) / kWarps, frames}, kThreads};
    launch(count_stuffing_kernel, shape, stream, layout, batch);
    launch(write_scan_kernel, shape, stream, layout, batch);
  });
}

void enqueue_scan_download(std::span<const CodingJob> jobs, cudaStream_t stream) {
  for_each_batch(jobs, [&](const FrameBatch& batch, unsigned frames) {
    launch(download_scan_kernel, {{kDownloadBlocks, frames}, kThreads}, stream, batch);
  });
}

}  // namespace c63::cuda
