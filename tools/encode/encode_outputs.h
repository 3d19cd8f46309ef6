#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "c63/decoder.h"
#include "c63/encoder.h"
#include "common/outputs.h"
#include "common/report.h"
#include "encode/encode_options.h"
#include "files/frame_writer.h"
#include "files/output_file.h"
#include "motion/yuview.h"

namespace c63::tools {

/// Says how the files of one encode are written: of the passes towards a target, at most one is kept.
[[nodiscard]] inline Writing writing_of(const EncodeOptions& o) { return {o.durability, o.target.target.has_value()}; }

/// The files that one encode writes, and the check of each frame for --verify.
class EncodeOutputs {
 public:
  /// Opens all files, so that one that cannot be written is found before anything is encoded.
  EncodeOutputs(const EncodeOptions& options, const VideoFormat& format);

  /// Writes one frame to all files, and adds the time that this takes to the frame's statistics. Throws Error (output)
  /// only if the stream cannot be written; errors of the other files are kept for side_fault(). Throws Error
  /// (comparison) if the decoder's picture differs from the encoder's.
  void write(EncodedFrame& frame, const EncoderSettings& settings);

  /// Completes all files. Throws Error (output) only for the stream.
  void commit();
  /// Completes the files of a stopped encode. Returns what OutputFile::commit_part() returns for the stream.
  [[nodiscard]] std::string commit_part();

  /// Returns the first error of a file other than the stream, if any.
  [[nodiscard]] std::optional<Error> side_fault() const;

  [[nodiscard]] std::int64_t frames() const { return frames_; }
  /// Returns the bits of all frames by kind; nothing if they are not counted.
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

/// Decodes the frame. Throws Error (comparison, C63-VERIFY), which names the first sample that differs from the
/// encoder's picture.
void verify_frame(FrameDecoder& decoder, const EncodedFrame& frame, const EncoderSettings& settings);

}  // namespace c63::tools
