#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "c63/encoder.h"
#include "c63/picture.h"
#include "c63/settings.h"

namespace c63 {

/// What a video file is read as.
enum class SourceFormat {
  automatic,  ///< by content, then by name
  raw,        ///< planes of 4:2:0, nothing else
  y4m,
  av,  ///< whatever FFmpeg reads
};

struct SourceOptions {
  std::string path;  ///< "-" is stdin
  SourceFormat format = SourceFormat::automatic;
  int width = 0;  ///< 0: from the file or its name
  int height = 0;
  std::optional<FrameRate> rate = {};  ///< nothing: the file's, or 25 per second
  bool strict = false;                 ///< a partial last frame is an error instead of a warning
  Limits limits = {};
  std::stop_token stop = {};             ///< ends the waiting for a pipe: as if it had ended
  std::function<void(const std::string&)> warn = {};  ///< takes one line, without the file's name
};

/// Opens a video. `automatic` takes as Y4M what starts like it, as raw what is named *.yuv or *.raw or has its size in
/// `width` and `height` and no video container's name, and leaves the rest to FFmpeg.
/// Raw input and Y4M from regular files (also redirected to stdin) are seekable, pipes and FFmpeg's are not.
/// Throws Error (usage, input, limit).
[[nodiscard]] std::unique_ptr<FrameSource> open_frame_source(const SourceOptions& options);

/// The frames of `source` from `first` on, at most `count` of them (-1: all), renumbered from 0. What comes before is
/// read and dropped where `source` is not seekable.
[[nodiscard]] std::unique_ptr<FrameSource> clip_frames(std::unique_ptr<FrameSource> source, std::int64_t first,
                                                       std::int64_t count = -1);

/// The picture size that a file's name tells ("FOREMAN_352x288.yuv", "akiyo_qcif.yuv"), as width and height.
[[nodiscard]] std::optional<std::pair<int, int>> size_from_name(const std::string& path);

}  // namespace c63
