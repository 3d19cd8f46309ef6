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

/// The totals of a frame.
struct FrameTotals {
  std::array<unsigned long long, kPlanes> sse{};  ///< over the coded samples
  unsigned long long luma_sad = 0;                ///< of blocks with a vector
  unsigned long long motion_bits = 0;
  unsigned long long luma_bits = 0;
  unsigned long long chroma_bits = 0;
};

/// The times of a frame's kernels, in nanoseconds of the device's clock.
struct FrameMoments {
  unsigned long long coding_starts = 0;
  unsigned long long coding_ends = 0;
  unsigned long long writing_starts = 0;
};

/// A frame's working totals. They are zero before the frame, and its last kernel resets them.
struct FrameState {
  FrameTotals totals;
  FrameMoments moments;
  // Only for frames that are decided by rate:
  unsigned long long repeat_error = 0;  ///< squared error if the previous picture is repeated
  unsigned long long cost = 0;          ///< D + λR of all blocks, a signed number
  unsigned int repeats = 0;             ///< 1: the previous picture is repeated
  unsigned long long activity = 0;      ///< the sum over all MCUs
  unsigned long long wrong_vector = 0;  ///< of an own search (own_vectors.h); 0: none
};

/// The device's report of a finished frame to the host.
struct FrameReport {
  FrameTotals totals;
  FrameMoments moments;
  unsigned long long writing_ends = 0;  ///< on the same clock; other segments may end slightly later
  unsigned long long scan_bits = 0;     ///< before stuffing and flush
  unsigned long long scan_bytes = 0;    ///< stuffed and flushed
  unsigned int repeats = 0;             ///< 1: the previous picture is repeated; ignore the scan
  unsigned long long wrong_vector = 0;  ///< as in FrameState
};

/// The unstuffed bits of a frame, in segments that each start at a word.
struct ScanParts {
  /// kMaxSegmentWords per segment, most significant bit first.
  std::uint32_t* words = nullptr;
  std::uint32_t* bits = nullptr;              ///< of each segment
  unsigned long long* bit_offsets = nullptr;  ///< of each segment in the scan
  std::uint32_t* stuffing = nullptr;          ///< 0xFF bytes that start in each segment
  unsigned long long* bytes = nullptr;        ///< one number: the bytes of the stuffed scan
  std::uint8_t* stuffed = nullptr;            ///< the scan, stuffed and flushed; CodingJob::coded_capacity bytes
};

/// The quantizers of Y, U and V in the order in which threads read them: plane, column of the block, row.
using QuantizerTable = std::array<StepQuantizer, kPlanes * 64>;
[[nodiscard]] QuantizerTable make_quantizer_table(const QuantizationTables& tables);

/// Marks a block that is predicted from zero; no search gives it.
[[nodiscard]] C63_HD constexpr MotionVector no_vector() { return {-128, -128}; }

/// One frame of one chain. All in device memory, except `coded` and `report`, which are mapped host memory.
struct CodingJob {
  const std::uint8_t* current = nullptr;    ///< picture
  const std::uint8_t* reference = nullptr;  ///< picture; null: a key frame, predicted from zero
  std::uint8_t* reconstruction = nullptr;   ///< picture; not the reference
  std::uint8_t* prediction = nullptr;       ///< picture; may be null
  const StepQuantizer* quantizers = nullptr;    ///< a QuantizerTable
  /// One per block, from the search; not read in key frames. Coding stores the prediction's vectors of blocks without a vector
  /// here, so in the end every block has the vector that it was predicted with.
  MotionVector* vectors = nullptr;
  std::uint16_t* sads = nullptr;              ///< one per block; not read in key frames
  const std::uint8_t* unpredicted = nullptr;  ///< one per block, 1: coded without a vector; null: none, as in key frames
  const MotionVector* inherited = nullptr;    ///< vectors for blocks without one; null: these are predicted from zero
  ScanParts scan;
  FrameState* state = nullptr;
  std::uint8_t* coded = nullptr;          ///< receives the scan; aligned to 16 bytes
  unsigned long long coded_capacity = 0;  ///< bytes; a larger scan is not written
  FrameReport* report = nullptr;
};

/// The most frames of one launch.
inline constexpr int kMaxFramesPerLaunch = 24;

/// Puts on `stream`: compensation, transform, quantization, reconstruction, and the codes of every block by segments, in one
/// step. For frames whose blocks all have a vector, and for key frames.
void enqueue_coding(const FrameLayout& layout, std::span<const CodingJob> jobs, cudaStream_t stream);

/// Puts on `stream` the work from segments to a scan: counts of 0xFF, stuffed bytes, flush, report.
void enqueue_scan_writing(const FrameLayout& layout, std::span<const CodingJob> jobs, cudaStream_t stream);

/// Puts on `stream` the copy of the finished scans to the host. It copies exactly their bytes, without the host knowing the
/// number. It runs at the same time as other work, in a few thread blocks that mostly wait for the bus.
void enqueue_scan_download(std::span<const CodingJob> jobs, cudaStream_t stream);

}  // namespace c63::cuda
