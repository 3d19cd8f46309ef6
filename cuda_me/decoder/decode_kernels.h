#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "bitstream/scan_parser.h"
#include "cuda_me/kernels/frame_kernels.h"
#include "cuda_me/kernels/frame_layout.h"

namespace c63::cuda {

/// A scan to parse, in device memory. Stuffing bytes are removed from it, and zeros follow it, as WordReader requires.
struct ScanJob {
  const std::uint8_t* bytes = nullptr;
  std::uint64_t size = 0;
  std::uint32_t key = 0;  ///< 1: the scan of a key frame
};

/// Scans that are parsed at the same time. All pointers but `fine` are to device memory.
struct ScanBatch {
  const ScanTables* tables = nullptr;
  const ScanJob* jobs = nullptr;
  int count = 0;
  std::size_t blocks = 0;   ///< per frame
  ScanTarget to;            ///< where the first frame's results go; each next frame's are `blocks` blocks further
  std::uint8_t* fine = nullptr;  ///< one per scan; 1: the scan is valid; may be in page-locked host memory
};

/// Enqueues the parsing of all scans of a batch on `stream`, one warp per scan.
void enqueue_parsing(const ScanShape& shape, const ScanBatch& batch, cudaStream_t stream);

/// A frame to restore from its syntax elements. All pointers are to device memory. Pictures are laid out as in
/// FrameLayout.
struct RestoreJob {
  const std::int16_t* levels = nullptr;
  const PackedVector* vectors = nullptr;
  /// The vectors with which to predict blocks without a coded vector. If null, the prediction of these blocks is zero.
  const PackedVector* inherited = nullptr;
  const StepQuantizer* quantizers = nullptr;     ///< a QuantizerTable
  const std::uint8_t* reference = nullptr;   ///< null: a key frame
  std::uint8_t* picture = nullptr;           ///< the output; not the reference
  PackedVector* used_vectors = nullptr;      ///< output: the vectors with which blocks are predicted
};

/// Enqueues dequantization, inverse transform and prediction of a frame on `stream`.
void enqueue_restoring(const FrameLayout& layout, const RestoreJob& job, cudaStream_t stream);

}  // namespace c63::cuda
