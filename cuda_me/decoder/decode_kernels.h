#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "bitstream/scan_parser.h"
#include "cuda_me/kernels/frame_layout.h"
#include "cuda_me/kernels/quantizer.h"

namespace c63::cuda {

/// A scan to parse, without stuffing, in device memory as WordReader wants it.
struct ScanJob {
  const std::uint8_t* bytes = nullptr;
  std::uint64_t size = 0;
  std::uint32_t key = 0;
};

/// Scans that are parsed side by side; all of it device memory.
struct ScanBatch {
  const ScanTables* tables = nullptr;
  const ScanJob* jobs = nullptr;
  int count = 0;
  std::size_t blocks = 0;   ///< of a frame
  ScanTarget to;            ///< the first frame's; `blocks` further on the next one's
  std::uint8_t* fine = nullptr;  ///< one a scan, 1: without fault; may be mapped host memory
};

/// Puts on `stream`: all scans of a batch, a warp each.
void enqueue_parsing(const ScanShape& shape, const ScanBatch& batch, cudaStream_t stream);

/// A frame to restore from its syntax elements; device memory. Pictures are laid out as FrameLayout says.
struct RestoreJob {
  const std::int16_t* levels = nullptr;
  const PackedVector* vectors = nullptr;
  const PackedVector* inherited = nullptr;   ///< what blocks without a vector are predicted from; null: zero
  const StepQuantizer* quantizers = nullptr;     ///< a QuantizerTable
  const std::uint8_t* reference = nullptr;   ///< null: a key frame
  std::uint8_t* picture = nullptr;           ///< not the reference
  PackedVector* used_vectors = nullptr;      ///< takes what blocks are predicted from
};

/// Puts on `stream`: dequantization, inverse transform and prediction of a frame.
void enqueue_restoring(const FrameLayout& layout, const RestoreJob& job, cudaStream_t stream);

}  // namespace c63::cuda
