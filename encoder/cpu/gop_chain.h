#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bitstream/frame_syntax.h"
#include "bitstream/prediction_vectors.h"
#include "c63/encoder.h"
#include "c63/trace.h"
#include "cpu/frame_coder.h"
#include "cpu/padded_picture.h"
#include "decide/frame_plan.h"
#include "decide/resolved_encode.h"

namespace c63::cpu {

/// Encodes the frames of one GOP, one after another, as their plans say. MCU rows are coded in parallel by the threads
/// of the caller's pool.
///
/// A frame takes two steps, code() and write(). The next frame's code() does not need this frame's write(), so both may
/// run at the same time.
class GopChain {
 public:
  /// The most frames that are coded but not yet written.
  static constexpr std::int64_t kUnwritten = 2;

  GopChain(const ResolvedEncode& encode, const Kernels& kernels);

  /// Searches, transforms and reconstructs frame number `count` of the chain, counted from 0 over all its GOPs. The caller
  /// has called picture.lay_out(). `original` is the frame before the temporal filter, in linear layout; empty: it is not
  /// filtered. Fills in `frame`, except the bytes and their statistics. Reports the times to `trace`.
  void code(std::int64_t count, const PaddedPicture& picture, std::span<const std::uint8_t> original, const FramePlan& plan,
            EncodedFrame& frame, TraceRow& trace);
  /// Writes the bytes of coded frame number `count`. Before this call, at most one later frame may be coded.
  void write(std::int64_t count, const FramePlan& plan, EncodedFrame& frame) const;

 private:
  [[nodiscard]] static std::size_t syntax_of(std::int64_t count) { return static_cast<std::size_t>(count % kUnwritten); }
  /// Codes the frame. Returns false if repeating the previous picture is cheaper; the results must then be ignored.
  [[nodiscard]] bool code_unless_repeated(const FrameJob& job, EncodedFrame& frame, TraceRow& trace);
  /// Codes all rows. Returns D + λR of the frame, added up from the rows (FrameCoder::code_row()); 0 if the plan
  /// decides nothing by rate.
  std::int64_t code_rows(const FrameJob& job, FrameStatistics& statistics, TraceRow& trace);
  /// Returns the squared error of each plane against the original, over the samples of MCU row `mcu_row` that belong to
  /// the frame, without padding.
  [[nodiscard]] std::array<std::uint64_t, kPlanes> measure_row(const FrameJob& job, int mcu_row) const;
  /// Turns a frame into a repeat of the previous one. Its coding, if any, is discarded.
  void repeat(const FrameJob& job, EncodedFrame& frame);
  /// Copies the reconstruction, prediction and vectors to `frame`, and computes SSIM, if the settings ask for them.
  void hand_out(const FrameJob& job, EncodedFrame& frame);

  EncoderSettings settings_;
  const Kernels& kernels_;
  Geometry geometry_;
  std::optional<FrameCoder> coder_;  ///< made when the first frame is coded
  std::array<FrameSyntax, kUnwritten> syntax_;
  std::array<PaddedPicture, 2> pictures_;  ///< the reconstruction of the frame coded last, and its reference
  int newest_ = 0;                         ///< index of the reconstruction
  std::array<PredictionVectors, 2> vectors_;  ///< vectors of the frame coded last, and memory for the next frame's
  int newest_vectors_ = 0;                    ///< index of the vectors of the frame coded last
  PaddedPicture prediction_;
  /// The prediction in the last frame's output. If the next frame is a repeat, its output has the same prediction.
  std::vector<std::uint8_t> shown_prediction_;
};

}  // namespace c63::cpu
