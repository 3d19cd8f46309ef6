#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "c63/picture.h"

namespace c63::tools {

/// A place in a video: a frame's number, or a time.
struct VideoPlace {
  std::int64_t frame = 0;              ///< counted from 0
  std::optional<double> seconds = {};  ///< if set, `frame` is not used

  /// Returns the number of the frame that is shown at this place.
  [[nodiscard]] std::int64_t frame_at(FrameRate rate) const;
};

/// Reads a place: "250" (a frame), "12.5s", "800ms", "1:02.5" (minutes and seconds), "0:01:02" (hours, minutes and
/// seconds). Returns nothing for anything else.
[[nodiscard]] std::optional<VideoPlace> video_place_from(std::string_view text);

}  // namespace c63::tools
