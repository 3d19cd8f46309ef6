#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "files/output_file.h"

namespace c63::tools {

/// Returns true if the name of an output says that it is pictures: it ends in .png or .ppm.
[[nodiscard]] bool names_pictures(const std::string& output);

/// Writes each frame to a picture file.
class PictureFiles {
 public:
  /// `pattern` has one number format such as %d or %04d, for the frame's number; %% means %. If only a single frame is
  /// written, it may have none. No picture replaces `input`. Throws Error (usage): C63-OUTPUT-NAME for other patterns, C63-NO-PNG if the pattern ends in
  /// .png and FFmpeg's PNG encoder is missing.
  PictureFiles(std::string pattern, std::string input, bool single, Durability durability, std::uint64_t max_memory);

  /// Writes the picture of frame `index`. Throws Error (output), Error (limit) if that needs more than `max_memory`, or the
  /// errors of check_distinct_files().
  void write(std::int64_t index, int width, int height, const std::array<std::span<const std::uint8_t>, 3>& planes);

 private:
  [[nodiscard]] std::string name_of(std::int64_t index) const;

  std::string pattern_;
  std::string input_;
  Durability durability_;
  std::uint64_t max_memory_;
};

}  // namespace c63::tools
