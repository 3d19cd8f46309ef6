#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "c63/decoder.h"
#include "c63/encoder.h"
#include "common/report.h"
#include "common/side_output.h"
#include "encode/encode_options.h"
#include "io/frame_writer.h"
#include "io/output_file.h"
#include "motion/yuview.h"

namespace c63::tools {

/// The files that one encode writes, and the check of every frame for --verify.
class EncodeOutputs {
 public:
  /// Opens them all, so that what cannot be written is known before anything is encoded.
  EncodeOutputs(const EncodeOptions& options, const VideoFormat& format);

  /// Writes one frame everywhere and adds the time it took to its statistics. Only the stream's faults are thrown, as
  /// Error (output); those of files beside it are kept. Throws Error (comparison) where the decoder shows another picture than the encoder.
  void write(EncodedFrame& frame, const EncoderSettings& settings);

  /// Completes all files. Throws Error (output) for the stream only.
  void commit();
  /// The same for what a stop has cut short. Returns what OutputFile::commit_part() returns for the stream.
  [[nodiscard]] std::string commit_part();

  /// Why a file beside the stream is missing: the first such fault.
  [[nodiscard]] std::optional<Error> side_fault() const;

  [[nodiscard]] std::int64_t frames() const { return frames_; }
  /// The bits of all frames by kind; nothing where they are not counted.
  [[nodiscard]] const std::optional<KindBits>& kinds() const { return kinds_; }

 private:
  OutputFile stream_;
  SideOutput<FrameWriter> reconstruction_;
  SideOutput<FrameWriter> prediction_;
  SideOutput<FrameCsv> csv_;
  SideOutput<YuviewWriter> yuview_;
  std::unique_ptr<FrameDecoder> decoder_;
  BlockAnalyser analyser_;  ///< for yuview_ and kinds_
  std::optional<KindBits> kinds_;
  std::int64_t frames_ = 0;
};

/// Throws Error (comparison, C63-VERIFY) that names the first sample in which the pictures differ.
void verify_frame(FrameDecoder& decoder, const EncodedFrame& frame, const EncoderSettings& settings);

}  // namespace c63::tools
