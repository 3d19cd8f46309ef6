#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "c63/picture.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace c63::tools {

/// A place in a video: a frame's number, or a time.
struct VideoPlace {
  std::int64_t frame = 0;              ///< counted from 0
  std::optional<double> seconds = {};  ///< if set, `frame` is not used

  /// The number of the frame that is shown at that place.
  [[nodiscard]] std::int64_t frame_at(FrameRate rate) const;
};

/// "250" (a frame), "12.5s", "800ms", "1:02.5", "0:01:02": minutes and seconds, or hours, minutes and seconds. Nothing
/// for anything else.
[[nodiscard]] std::optional<VideoPlace> video_place_from(std::string_view text);

/// Adds --seek.
CLI::Option* add_seek_option(CLI::App& app, const std::string& description,
                             const std::function<void(VideoPlace)>& take);

}  // namespace c63::tools
