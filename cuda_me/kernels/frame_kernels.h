#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <span>

#include "c63/motion.h"
#include "codec/quantization.h"
#include "cuda_me/kernels/frame_layout.h"
#include "cuda_me/kernels/quantizer.h"

namespace c63::cuda {

/// What is learned of a frame on the way.
struct FrameTotals {
  std::array<unsigned long long, kPlanes> sse{};  ///< over the coded samples
  unsigned long long luma_sad = 0;                ///< 0 in key frames
  unsigned long long motion_bits = 0;
  unsigned long long luma_bits = 0;
  unsigned long long chroma_bits = 0;
};

/// When a frame's kernels worked on it, in nanoseconds of the device's clock.
struct FrameMoments {
  unsigned long long coding_starts = 0;
  unsigned long long coding_ends = 0;
  unsigned long long writing_starts = 0;
};

/// Bookkeeping of a frame that is zero before it and put back to zero by its last kernel.
struct LaneState {
  FrameTotals totals;
  FrameMoments moments;
};

/// What the host is told of a finished frame.
struct FrameReport {
  FrameTotals totals;
  FrameMoments moments;
  unsigned long long writing_ends = 0;  ///< on the same clock; other segments may take a moment longer
  unsigned long long scan_bits = 0;     ///< before stuffing and flush
  unsigned long long scan_bytes = 0;    ///< stuffed and flushed
};

/// The unstuffed bits of a frame, in segments that each start at a word.
struct ScanParts {
  std::uint32_t* words = nullptr;             ///< kMaxSegmentWords a segment, most significant bit first
  std::uint32_t* bits = nullptr;              ///< of each segment
  unsigned long long* bit_offsets = nullptr;  ///< of each segment in the scan
  std::uint32_t* stuffing = nullptr;          ///< 0xFF bytes that start in each segment
  unsigned long long* bytes = nullptr;        ///< of the stuffed scan, one number
  std::uint8_t* stuffed = nullptr;            ///< the scan, stuffed and flushed; FrameJob::coded_capacity bytes
};

/// One frame of one lane. Device memory, but for `coded` and `report`, which are mapped host memory.
struct FrameJob {
  const std::uint8_t* current = nullptr;    ///< picture
  const std::uint8_t* reference = nullptr;  ///< picture; null: a key frame, predicts zero
  std::uint8_t* reconstruction = nullptr;   ///< picture
  std::uint8_t* prediction = nullptr;       ///< picture; may be null
  const MotionVector* vectors = nullptr;    ///< one a block; not read in key frames
  const std::uint16_t* sads = nullptr;      ///< likewise
  std::int16_t* levels = nullptr;           ///< 64 a block, zig-zag order; for enqueue_levels() only
  ScanParts scan;
  LaneState* state = nullptr;
  std::uint8_t* coded = nullptr;          ///< takes the scan; aligned to 16 bytes
  unsigned long long coded_capacity = 0;  ///< bytes; a larger scan is not written
  FrameReport* report = nullptr;
};

/// The most frames that go into one launch.
inline constexpr int kMaxFramesPerLaunch = 24;

/// Quantizers in the order in which threads take them: luma and chroma, column of the block, row.
using QuantizerTable = std::array<Quantizer, 2 * 64>;
[[nodiscard]] QuantizerTable make_quantizer_table(const QuantizationTables& tables);

/// Puts on `stream`: compensation, transform, quantization, reconstruction, and the codes of every block, segment by
/// segment. `quantizers` is device memory.
void enqueue_coding(const FrameLayout& layout, const Quantizer* quantizers, std::span<const FrameJob> jobs,
                    cudaStream_t stream);

/// The same without codes: levels go to FrameJob::levels, and the report has no scan.
void enqueue_levels(const FrameLayout& layout, const Quantizer* quantizers, std::span<const FrameJob> jobs,
                    cudaStream_t stream);

/// Puts on `stream` what makes a scan of the segments: 0xFF counts, stuffed bytes, flush, report.
void enqueue_scan_writing(const FrameLayout& layout, std::span<const FrameJob> jobs, cudaStream_t stream);

/// Puts on `stream` the copy of the finished scans to the host: exactly their bytes, which the host need not know for
/// it. Runs beside other work: it takes a few thread blocks that mostly wait for the bus.
void enqueue_scan_download(std::span<const FrameJob> jobs, cudaStream_t stream);

}  // namespace c63::cuda
