#pragma once

#include <charconv>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <string_view>
#include <utility>

#include "c63/picture.h"

namespace c63::tools {

/// Reads a number from `least` to `most`. Returns nothing for any other text, also for infinity and NaN.
template <typename Number>
[[nodiscard]] std::optional<Number> parse(std::string_view text, Number least = std::numeric_limits<Number>::lowest(),
                                          Number most = std::numeric_limits<Number>::max()) {
  Number value{};
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc{} || end != text.data() + text.size() || !(value >= least && value <= most)) return std::nullopt;
  return value;
}

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

/// Reads a frame rate such as "25", "29.97" or "30000/1001". Returns nothing if the text is not a positive rate.
/// 23.976, 29.97, 59.94 and 119.88 are read as n/1001.
[[nodiscard]] std::optional<FrameRate> frame_rate_from(const std::string& text);

/// Reads a size such as "352x288". Returns nothing if the text has another form. Width and height may be any integers.
[[nodiscard]] std::optional<std::pair<int, int>> size_from(const std::string& text);

/// Reads the value of `option`, a size of at least 1x1 such as "352x288". Throws Error (usage).
[[nodiscard]] std::pair<int, int> require_size(const std::string& option, const std::string& text);

/// Reads a number with an optional unit: "800k", "2.5M", "1.5MiB", "96000". k, M, G and T are powers of 1000; Ki, Mi,
/// Gi and Ti are powers of 1024. Upper and lower case are the same. A B may follow. Returns nothing for anything else.
[[nodiscard]] std::optional<double> quantity_from(std::string_view text);

/// The same for a whole number below 2^63, such as 512MiB. Rounds fractions.
[[nodiscard]] std::optional<std::uint64_t> count_from(const std::string& text);

/// Returns true if a file's name ends in one of the extensions, such as ".png", and is longer than that.
[[nodiscard]] bool has_extension(std::string_view path, std::span<const std::string_view> extensions);

}  // namespace c63::tools
