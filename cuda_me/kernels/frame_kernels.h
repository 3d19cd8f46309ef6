#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <span>

#include "c63/motion_vector.h"
#include "codec/quantization.h"
#include "codec/host_device.h"
#include "cuda_me/kernels/frame_layout.h"
#include "cuda_me/kernels/quantizer.h"

namespace c63::cuda {

/// What is learned of a frame on the way.
struct FrameTotals {
  std::array<unsigned long long, kPlanes> sse{};  ///< over the coded samples
  unsigned long long luma_sad = 0;                ///< of blocks with a vector
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
struct FrameState {
  FrameTotals totals;
  FrameMoments moments;
  // Of frames that are decided by rate:
  unsigned long long repeat_error = 0;  ///< squared error of the picture before in its place
  unsigned long long cost = 0;          ///< D + λR of all blocks, a signed number
  unsigned int repeats = 0;             ///< 1: the picture before is repeated
  unsigned long long activity = 0;      ///< of all MCUs, added up
};

/// What the host is told of a finished frame.
struct FrameReport {
  FrameTotals totals;
  FrameMoments moments;
  unsigned long long writing_ends = 0;  ///< on the same clock; other segments may take a moment longer
  unsigned long long scan_bits = 0;     ///< before stuffing and flush
  unsigned long long scan_bytes = 0;    ///< stuffed and flushed
  unsigned int repeats = 0;             ///< 1: nothing of the scan counts, the picture before is repeated
};

/// The unstuffed bits of a frame, in segments that each start at a word.
struct ScanParts {
  /// kMaxSegmentWords a segment, most significant bit first.
  std::uint32_t* words = nullptr;
  std::uint32_t* bits = nullptr;              ///< of each segment
  unsigned long long* bit_offsets = nullptr;  ///< of each segment in the scan
  std::uint32_t* stuffing = nullptr;          ///< 0xFF bytes that start in each segment
  unsigned long long* bytes = nullptr;        ///< of the stuffed scan, one number
  std::uint8_t* stuffed = nullptr;            ///< the scan, stuffed and flushed; CodingJob::coded_capacity bytes
};

/// Quantizers of Y, U and V in the order in which threads take them: plane, column of the block, row.
using QuantizerTable = std::array<StepQuantizer, kPlanes * 64>;
[[nodiscard]] QuantizerTable make_quantizer_table(const QuantizationTables& tables);

/// Stands for a block that is predicted from zero; no search gives it.
[[nodiscard]] C63_HD constexpr MotionVector no_vector() { return {-128, -128}; }

/// One frame of one chain. Device memory, but for `coded` and `report`, which are mapped host memory.
struct CodingJob {
  const std::uint8_t* current = nullptr;    ///< picture
  const std::uint8_t* reference = nullptr;  ///< picture; null: a key frame, predicts zero
  std::uint8_t* reconstruction = nullptr;   ///< picture; not the reference
  std::uint8_t* prediction = nullptr;       ///< picture; may be null
  const StepQuantizer* quantizers = nullptr;    ///< a QuantizerTable
  /// One a block, as the search found them; not read in key frames. Coding puts in what blocks without a vector are
  /// predicted from, so that in the end all say where their block came from.
  MotionVector* vectors = nullptr;
  std::uint16_t* sads = nullptr;              ///< one a block; not read in key frames
  const std::uint8_t* unpredicted = nullptr;  ///< one a block, 1: coded without a vector; null: none, as in key frames
  const MotionVector* inherited = nullptr;    ///< what blocks without a vector are predicted from; null: zero
  ScanParts scan;
  FrameState* state = nullptr;
  std::uint8_t* coded = nullptr;          ///< takes the scan; aligned to 16 bytes
  unsigned long long coded_capacity = 0;  ///< bytes; a larger scan is not written
  FrameReport* report = nullptr;
};

/// The most frames that go into one launch.
inline constexpr int kMaxFramesPerLaunch = 24;

/// Puts on `stream`: compensation, transform, quantization, reconstruction, and the codes of every block, segment by
/// segment, all at once. For frames whose blocks all have a vector, or none in a key frame.
void enqueue_coding(const FrameLayout& layout, std::span<const CodingJob> jobs, cudaStream_t stream);

/// Puts on `stream` what makes a scan of the segments: 0xFF counts, stuffed bytes, flush, report.
void enqueue_scan_writing(const FrameLayout& layout, std::span<const CodingJob> jobs, cudaStream_t stream);

/// Puts on `stream` the copy of the finished scans to the host: exactly their bytes, which the host need not know for
/// it. Runs beside other work: it takes a few thread blocks that mostly wait for the bus.
void enqueue_scan_download(std::span<const CodingJob> jobs, cudaStream_t stream);

}  // namespace c63::cuda
