#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/output_file.h"
#include "motion/motion_stream.h"
#include "motion/summary.h"

namespace c63::tools {

/// A self-contained page that shows the frames of one stream, or of two next to each other, with the values of their
/// luma blocks. Frames go into the file as they come: a JPEG to look at, and a PNG whose samples are the blocks'
/// values.
class MotionPage {
 public:
  /// `types` (mv, sad, bits) can be shown. Throws Error (usage, C63-NO-PNG) in a build without FFmpeg.
  MotionPage(OutputFile& file, const std::string& title, const std::vector<std::string>& types, bool of_predictions);

  /// From here on the frames belong to another stream.
  void begin_stream(const std::string& name);
  void add(const MotionFrame& frame);
  void end_stream(const MotionSummary& summary);
  void finish();

  /// of the current stream
  [[nodiscard]] bool has_frames() const { return frames_ > 0; }

 private:
  void end_run();

  OutputFile& file_;
  std::vector<std::string> types_;
  bool of_predictions_;
  std::string tail_;  ///< the end of the page, written after the frames
  std::string name_;
  int streams_ = 0;
  int width_ = 0;
  int height_ = 0;
  int columns_ = 0;
  int rows_ = 0;
  std::int64_t frames_ = 0;       ///< number of frames of the stream
  std::int64_t first_index_ = 0;  ///< index of the first shown frame of the stream
  // Repeats in a row are one entry of the page, so that any number of them takes no memory.
  std::int64_t repeats_ = 0;
  std::uint64_t repeat_bits_ = 0;  ///< of each
};

}  // namespace c63::tools
