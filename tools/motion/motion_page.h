#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "files/output_file.h"
#include "motion/motion_run.h"
#include "motion/motion_stream.h"
#include "motion/summary.h"

namespace c63::tools {

/// Returns the analyzer's page; empty if this build has none.
[[nodiscard]] std::string_view analyzer_page();
/// Returns bytes compressed by zlib, in base64.
[[nodiscard]] std::string packed(std::span<const std::uint8_t> bytes);

/// The analyzer's page with one or two c63 streams inside, or with a film: a JPEG of each picture, and the vectors and
/// SADs of its luma blocks.
class MotionPage {
 public:
  /// Throws Error (usage): C63-NO-PAGE if this build has no page.
  MotionPage(OutputFile& file, const MotionOptions& options);

  /// Says that the next frames belong to another stream.
  void begin_stream(const std::string& name);
  void add(const MotionFrame& frame);
  void end_stream(const MotionSummary& summary);
  void finish();

  /// Returns true if the current stream has frames.
  [[nodiscard]] bool has_frames() const { return frames_ > 0; }

 private:
  void add_film(const MotionFrame& frame);

  OutputFile& file_;
  const MotionOptions& options_;
  std::string name_;
  int streams_ = 0;
  bool film_ = false;
  bool has_codec_ = false;  ///< a film's codec vectors are shown as a second film
  int width_ = 0;
  int height_ = 0;
  int columns_ = 0;  ///< of luma blocks of a film
  int rows_ = 0;
  std::int64_t frames_ = 0;       ///< number of frames of this stream so far
  std::int64_t first_index_ = 0;  ///< index of the first frame that is shown
};

}  // namespace c63::tools
