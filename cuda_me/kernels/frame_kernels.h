#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <span>

#include "c63/motion_vector.h"
#include "codec/quantization.h"
#include "codec/host_device.h"
#include "cuda_me/kernels/frame_layout.h"

namespace c63::cuda {

/// Quantization by one step q in binary32, without division or conversion to integers. It estimates a level with the
/// reciprocal, then corrects the estimate by an exact comparison. Its results are those of c63::quantize() and
/// c63::dequantize().
struct StepQuantizer {
  float step4 = 0;       ///< 4q
  float reciprocal = 0;  ///< 1 / 4q

  StepQuantizer() = default;
  C63_HD explicit StepQuantizer(int step) : step4(static_cast<float>(4 * step)), reciprocal(1.0F / step4) {}

  /// Rounds 0 <= x < 2^22 to an integer. It adds 2^23 and subtracts it again. From 2^23 on, the last bit of a float is
  /// worth one, so the sum has no fraction.
  [[nodiscard]] C63_HD static float to_integer(float x) {
    constexpr float kTwoTo23 = 8388608.0F;
    const float sum = x + kTwoTo23;
    return sum - kTwoTo23;
  }

  /// Returns the magnitude of the level for a coefficient of magnitude `a` <= 16384. It is the largest n with (n -
  /// 1/2)·4q <= a.
  ///
  /// The product of `a` and the reciprocal has an error below 2^-11. Adding 2^-10 makes the product too large, never
  /// too small. So n is right or one too high. The threshold (n - 1/2)·4q is an integer below 2^24, so its comparison
  /// with `a` is exact.
  [[nodiscard]] C63_HD float magnitude(float a) const {
    const float n = to_integer(fmaf(a, reciprocal, 0x1p-10F));
    return fmaf(n, step4, step4 * -0.5F) > a ? n - 1.0F : n;
  }

  /// Returns the magnitude of the coefficient for a level of magnitude `n`. It is n·q / 4, and a half is rounded up.
  /// The fraction of n·q / 4 is a multiple of 1/4, so adding 1/8 only changes how a half is rounded.
  [[nodiscard]] C63_HD float restored(float n) const { return to_integer(fmaf(n, step4 * 0.0625F, 0.125F)); }
};

/// Sums over a frame.
struct FrameTotals {
  std::array<unsigned long long, kPlanes> sse{};  ///< squared error over the coded samples
  unsigned long long luma_sad = 0;                ///< of all Y blocks with the vectors that the search chose
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

/// A frame's running totals. They are zero before the frame, and the kernel that writes the scan sets them to zero
/// again.
struct FrameState {
  FrameTotals totals;
  FrameMoments moments;
  // These members are only for frames that are decided by rate:
  unsigned long long repeat_error = 0;  ///< squared error if the previous picture is repeated
  unsigned long long cost = 0;          ///< D + λR of all blocks, a signed number in two's complement
  unsigned int repeats = 0;             ///< 1: the previous picture is repeated
  unsigned long long activity = 0;      ///< the sum of all MCUs' activities
  unsigned long long wrong_vector = 0;  ///< of an own search (rate_frame.h); 0: none
};

/// The device's report of a finished frame to the host: its totals, and the size of its scan.
struct FrameReport : FrameState {
  /// The time by the device's clock when the last segment's warp began to write the report. Other warps may still write
  /// the scan for a moment.
  unsigned long long writing_ends = 0;
  unsigned long long scan_bits = 0;   ///< bits of the scan before byte stuffing and padding
  unsigned long long scan_bytes = 0;  ///< bytes of the finished scan; if the frame is a repeat, ignore the scan
};

/// The coded bits of a frame before byte stuffing. Each segment starts at a new word.
struct ScanParts {
  /// kMaxSegmentWords words for each segment. The first bit is the most significant bit of a word.
  std::uint32_t* words = nullptr;
  std::uint32_t* bits = nullptr;              ///< the number of bits of each segment
  unsigned long long* bit_offsets = nullptr;  ///< where each segment begins in the scan, in bits
  std::uint32_t* stuffing = nullptr;          ///< the number of 0xFF bytes that start in each segment
  unsigned long long* bytes = nullptr;        ///< one number: the size of the stuffed scan
  std::uint8_t* stuffed = nullptr;            ///< the finished scan; room for CodingJob::coded_capacity bytes
};

/// The quantizers of Y, U and V, ordered by plane, then column, then row of the coefficient, as threads read them.
using QuantizerTable = std::array<StepQuantizer, kPlanes * 64>;
[[nodiscard]] QuantizerTable make_quantizer_table(const QuantizationTables& tables);

/// The value that marks a block whose prediction is zero. No search finds this vector.
[[nodiscard]] C63_HD constexpr MotionVector no_vector() { return {-128, -128}; }

/// One frame of one chain. Pointers are to device memory; `coded` and `report` are to page-locked host memory.
struct CodingJob {
  const std::uint8_t* current = nullptr;    ///< picture
  const std::uint8_t* reference = nullptr;  ///< picture; null: a key frame, whose prediction is zero
  std::uint8_t* reconstruction = nullptr;   ///< picture; not the reference
  std::uint8_t* prediction = nullptr;       ///< picture; may be null
  const StepQuantizer* quantizers = nullptr;    ///< a QuantizerTable
  /// One vector per block, from the search; not read in key frames. For a block without a coded vector, coding
  /// overwrites its entry by the vector with which the block was predicted.
  MotionVector* vectors = nullptr;
  std::uint16_t* sads = nullptr;              ///< one per block; not read in key frames
  /// One flag per block; 1: the block is coded without a vector. Null in key frames, and in frames that are not decided
  /// by rate, because all their blocks have a vector.
  const std::uint8_t* unpredicted = nullptr;
  /// The vectors with which to predict blocks without a coded vector. If null, the prediction of these blocks is zero.
  const MotionVector* inherited = nullptr;
  ScanParts scan;
  FrameState* state = nullptr;
  std::uint8_t* coded = nullptr;          ///< receives the scan; aligned to 16 bytes
  unsigned long long coded_capacity = 0;  ///< bytes; a larger scan is not written
  FrameReport* report = nullptr;
};

/// The largest number of frames in one launch. More frames take several launches. The frames are kernel parameters, of
/// which CUDA allows 32,764 bytes.
inline constexpr int kMaxFramesPerLaunch = 64;

/// Enqueues a kernel that does motion compensation, transform, quantization and reconstruction, and writes the codes of
/// every segment. The jobs must be frames that are not decided by rate.
void enqueue_coding(const FrameLayout& layout, std::span<const CodingJob> jobs, cudaStream_t stream);

/// Enqueues the work that makes a frame's scan from its segments: it counts the bytes 0xFF, stuffs bytes, pads the end
/// and fills the report.
void enqueue_scan_writing(const FrameLayout& layout, std::span<const CodingJob> jobs, cudaStream_t stream);

/// Enqueues the copy of the finished scans to the host. The device knows their sizes, so it copies only their bytes,
/// rounded up to a multiple of 16. A scan that is larger than `coded_capacity` is not copied. The copy runs at the same
/// time as other kernels, in a few thread blocks that mostly wait for the bus.
void enqueue_scan_download(std::span<const CodingJob> jobs, cudaStream_t stream);

/// A copy of bytes within the device.
struct DeviceCopy {
  std::uint8_t* to = nullptr;
  const std::uint8_t* from = nullptr;
  std::size_t bytes = 0;
};

/// Enqueues copies for the frames of a batch, many in one launch. For small frames, separate calls of the driver would
/// take the host longer than the device needs for a frame. For large frames, this kernel is faster than the copy
/// engines: within the device, they copy no faster than over the bus.
void enqueue_copies(std::span<const DeviceCopy> copies, cudaStream_t stream);

/// Enqueues the split of a plane of pairs of U and V into two planes of width x height samples without gaps. The pairs'
/// rows are `pitch` bytes apart, an even number.
void split_chroma(const std::uint8_t* pairs, std::ptrdiff_t pitch, int width, int height, std::uint8_t* u, std::uint8_t* v,
                  cudaStream_t stream);

}  // namespace c63::cuda
