#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "files/output_file.h"
#include "motion/motion_stream.h"
#include "motion/summary.h"

namespace c63::tools {

/// A self-contained page that shows the frames of one stream, or of two next to each other, with the values of their
/// luma blocks. Frames are written as they come: a JPEG of the picture, and a PNG whose pixels are the blocks' values.
class MotionPage {
 public:
  /// `types` are what the page can show: mv, sad, bits. `of_predictions`: shows the prediction of each frame, not the frame.
  /// Throws Error (usage, C63-NO-PNG) if FFmpeg's PNG encoder is missing.
  MotionPage(OutputFile& file, const std::string& title, const std::vector<std::string>& types, bool of_predictions);

  /// Says that the next frames belong to another stream.
  void begin_stream(const std::string& name);
  void add(const MotionFrame& frame);
  void end_stream(const MotionSummary& summary);
  void finish();

  /// Returns true if the current stream has frames.
  [[nodiscard]] bool has_frames() const { return frames_ > 0; }

 private:
  void add_film(const MotionFrame& frame);
  void end_run();

  OutputFile& file_;
  std::vector<std::string> types_;
  bool of_predictions_;
  std::string tail_;  ///< the end of the page, to be written after the frames
  std::string name_;
  int streams_ = 0;
  bool film_ = false;
  bool has_codec_ = false;  ///< a film's codec vectors are shown as a second stream
  int width_ = 0;
  int height_ = 0;
  int columns_ = 0;
  int rows_ = 0;
  std::int64_t frames_ = 0;       ///< number of frames of this stream so far
  std::int64_t first_index_ = 0;  ///< index of the first frame of this stream
  // Repeats in a row become one entry of the page, so that their number takes no memory.
  std::int64_t repeats_ = 0;
  std::uint64_t repeat_bits_ = 0;  ///< bits of each of them
};

}  // namespace c63::tools
