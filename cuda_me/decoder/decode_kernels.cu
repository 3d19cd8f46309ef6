// The two steps of decoding frames: scans become levels and vectors, and these become samples.

#include "cuda_me/decoder/decode_kernels.h"
#include "cuda_me/kernels/rate_common.cuh"
#include "cuda_me/runtime/launch.h"

namespace c63::cuda {
namespace {

// Entropy decoding of many scans at once. A scan is one long sequence of codes, and each code begins where the previous
// one ends. So only one thread can parse a scan, and it mostly waits for the result of its previous instruction. To use
// these waits, hundreds of scans are parsed at the same time, each by its own warp.

/// A multiprocessor has four schedulers, so a thread block takes four scans.
constexpr int kScansPerBlock = 4;
constexpr int kParseThreads = kScansPerBlock * 32;

static_assert(sizeof(ScanTables) % sizeof(uint4) == 0);

__global__ void __launch_bounds__(kParseThreads)
    parse_scans_kernel(const __grid_constant__ ScanShape shape, const __grid_constant__ ScanBatch batch) {
  __shared__ uint4 memory[sizeof(ScanTables) / sizeof(uint4)];
  for (std::size_t i = threadIdx.x; i < sizeof(ScanTables) / sizeof(uint4); i += kParseThreads) {
    memory[i] = __ldg(reinterpret_cast<const uint4*>(batch.tables) + i);
  }
  __syncthreads();
  const int scan = static_cast<int>(blockIdx.x) * kScansPerBlock + static_cast<int>(threadIdx.x) / 32;
  if (threadIdx.x % 32 != 0 || scan >= batch.count) return;
  const ScanJob job = batch.jobs[scan];
  const std::size_t first = static_cast<std::size_t>(scan) * batch.blocks;
  const ScanTarget to{batch.to.levels + first * 64, batch.to.vectors + first};
  batch.fine[scan] =
      parse_scan(*reinterpret_cast<const ScanTables*>(memory), shape, job.key != 0, job.bytes, job.size, to) ? 1 : 0;
}

// Turns the levels and vectors of a decoded frame into samples. Eight threads work on a block; each has a row or a
// column.

constexpr int kBlocksPerGroup = 32;  ///< blocks of samples per thread block
constexpr int kRestoreThreads = kBlocksPerGroup * 8;

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
  const RateBlock place = rate_block(layout, block);
  const int width = layout.width[place.plane];
  const std::size_t at = first_sample(layout, place) + static_cast<std::size_t>(t) * width;

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
    samples = restore_block<true>(samples, reinterpret_cast<const std::int16_t*>(levels + of_group * 8), job.quantizers,
                                  place.plane, t, numbers + of_group * kBlockWords);
  }
  if (active) *reinterpret_cast<uint2*>(job.picture + at) = samples;
}

}  // namespace

void enqueue_parsing(const ScanShape& shape, const ScanBatch& batch, cudaStream_t stream) {
  const Range range("parse scans");
  launch(parse_scans_kernel, {(batch.count + kScansPerBlock - 1) / kScansPerBlock, kParseThreads}, stream, shape,
         batch);
}

void enqueue_restoring(const FrameLayout& layout, const RestoreJob& job, cudaStream_t stream) {
  const Range range("restore frame");
  launch(restore_frame_kernel, {(layout.blocks + kBlocksPerGroup - 1) / kBlocksPerGroup, kRestoreThreads}, stream,
         layout, job);
}

}  // namespace c63::cuda
