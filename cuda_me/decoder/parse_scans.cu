// Entropy decoding of many scans at once. A scan is one long sequence of codes, and each code begins where the previous
// one ends. So only one thread can parse a scan, and it mostly waits for the result of its previous instruction. To use
// these waits, hundreds of scans are parsed at the same time, each by its own warp.

#include <cuda_runtime.h>

#include "cuda_me/decoder/decode_kernels.h"
#include "cuda_me/runtime/launch.h"

namespace c63::cuda {
namespace {

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
  batch.fine[scan] = parse_scan(*reinterpret_cast<const ScanTables*>(memory), shape, job.key != 0, job.bytes, job.size, to) ? 1 : 0;
}

}  // namespace

void enqueue_parsing(const ScanShape& shape, const ScanBatch& batch, cudaStream_t stream) {
  const Range range("parse scans");
  launch(parse_scans_kernel, {(batch.count + kScansPerBlock - 1) / kScansPerBlock, kParseThreads}, stream, shape,
         batch);
}

}  // namespace c63::cuda
