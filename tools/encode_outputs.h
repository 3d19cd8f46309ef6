#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "c63/decoder.h"
#include "c63/encoder.h"
#include "common/report.h"
#include "encode_options.h"
#include "io/frame_writer.h"
#include "io/output_file.h"
#include "motion/yuview.h"

namespace c63::tools {

/// The files that one encode writes, and the check of every frame for --verify.
class EncodeOutputs {
 public:
  /// Opens them all, so that what cannot be written is known before anything is encoded.
  EncodeOutputs(const EncodeOptions& options, const VideoFormat& format);

  /// Writes one frame everywhere and adds the time it took to its statistics.
  /// Throws Error (output), and Error (comparison) where the decoder shows another picture than the encoder.
  void write(EncodedFrame& frame, const EncoderSettings& settings);

  /// Completes all files.
  void commit();

  [[nodiscard]] std::int64_t frames() const { return frames_; }

 private:
  OutputFile stream_;
  std::unique_ptr<FrameWriter> reconstruction_;
  std::unique_ptr<FrameWriter> prediction_;
  std::unique_ptr<FrameCsv> csv_;
  std::unique_ptr<FrameDecoder> decoder_;
  std::unique_ptr<YuviewWriter> yuview_;
  BlockAnalyser analyser_;  ///< for yuview_
  std::int64_t frames_ = 0;
};

/// Throws Error (comparison, C63-VERIFY) that names the first sample in which the pictures differ.
void verify_frame(FrameDecoder& decoder, const EncodedFrame& frame, const EncoderSettings& settings);

}  // namespace c63::tools
