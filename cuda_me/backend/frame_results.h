#pragma once

#include <cstdint>
#include <vector>

#include "backend/backend.h"
#include "c63/error.h"
#include "c63/trace.h"
#include "cuda_me/backend/chain.h"
#include "cuda_me/backend/frame_stages.h"
#include "cuda_me/backend/upload_queue.h"

namespace c63::cuda {

/// Makes the headers of a chain's frames. If a frame's headers equal those of the previous frame, the same bytes are
/// used again.
class HeaderWriter {
 public:
  [[nodiscard]] const std::vector<std::uint8_t>& header_of(const FramePlan& plan, const Geometry& geometry);

 private:
  std::vector<std::uint8_t> bytes_;
  bool key_ = false;
  FrameHeaders headers_;
  QuantizationTables tables_{};
};

/// Turns the results of a batch into encoded frames with their statistics, and adds its times to the trace
/// (MeasurementSettings::trace).
class FrameResults {
 public:
  /// The constructor waits for the work on `stream`, to relate the device's clock to the host's. `trace_row` is the
  /// first of the device's three rows in the trace.
  FrameResults(const CodingContext& context, std::size_t chains, const UploadQueue& uploads, int device, int trace_row,
               const Stream& stream);

  /// Appends the frames of a finished batch to `finished`.
  void append(const Batch& batch, std::vector<CodedFrame>& finished);

 private:
  using Clock = TraceSpan::Clock;

  [[nodiscard]] static const HostChain::Output& output_of(const Batch& batch, const BatchEntry& entry) {
    return entry.chain->host.outputs[batch.outputs];
  }
  /// Returns how long each stage of a batch took in milliseconds, for all frames of the batch together.
  [[nodiscard]] StageTimes times_of(const Batch& batch) const;
  void trace(const Batch& batch, const StageTimes& times) const;
  [[nodiscard]] CodedFrame finish(const Batch& batch, const BatchEntry& entry, const StageTimes& times);
  /// Returns the error for a wrong vector of a search of the user's own. pack_wrong_vector() made `wrong`
  /// (kernels/rate_frame.h).
  [[nodiscard]] Error wrong_vector_error(unsigned long long wrong, std::int64_t frame) const;
  /// Writes header, scan and trailer of a frame to `frame`, and counts its bits by kind.
  void write_bytes(const Batch& batch, const BatchEntry& entry, EncodedFrame& frame);
  void append_overflown_scan(const ScanParts& scan, std::vector<std::uint8_t>& bytes) const;
  void copy_motion(const FramePlan& plan, const HostChain::Output& output, EncodedFrame& frame) const;

  const CodingContext& context_;
  const UploadQueue& uploads_;
  int device_;
  int trace_row_;
  std::vector<HeaderWriter> headers_;  ///< by chain
  Event origin_{Event::Timing::on};    ///< a moment that is known on both the device's and the host's clock, for traces
  Clock::time_point origin_time_;
};

}  // namespace c63::cuda
