#include "common/video_place.h"

#include <charconv>
#include <cmath>

namespace c63::tools {
namespace {

constexpr double kMostSeconds = 1e9;

/// Reads a number that begins with a digit. Returns nothing for others, so signs and infinity are refused.
template <typename Number>
std::optional<Number> number_of(std::string_view text) {
  Number value{};
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> seconds_of(std::string_view text) {
  if (text.ends_with("ms")) {
    const auto value = number_of<double>(text.substr(0, text.size() - 2));
    return value ? std::optional(*value / 1000) : std::nullopt;
  }
  if (text.ends_with('s')) return number_of<double>(text.substr(0, text.size() - 1));
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto seconds = number_of<double>(text.substr(colon + 1));
  std::string_view before = text.substr(0, colon);
  double hours = 0;
  if (const std::size_t first = before.find(':'); first != std::string_view::npos) {
    const auto value = number_of<int>(before.substr(0, first));
    if (!value) return std::nullopt;
    hours = *value;
    before = before.substr(first + 1);
  }
  const auto minutes = number_of<int>(before);
  if (!seconds || *seconds >= 60 || !minutes || (hours > 0 && *minutes >= 60)) return std::nullopt;
  return hours * 3600 + *minutes * 60.0 + *seconds;
}

}  // namespace

std::int64_t VideoPlace::frame_at(FrameRate rate) const {
  if (!seconds) return frame;
  // A time that was printed with six digits may be slightly too small. The 1e-4 makes sure that it still gives its own
  // frame, not the frame before.
  return static_cast<std::int64_t>(std::floor(*seconds * rate.value() + 1e-4));
}

std::optional<VideoPlace> video_place_from(std::string_view text) {
  if (const auto frame = number_of<std::int64_t>(text)) return VideoPlace{.frame = *frame};
  const auto seconds = seconds_of(text);
  if (!seconds || *seconds > kMostSeconds) return std::nullopt;
  return VideoPlace{.seconds = *seconds};
}

}  // namespace c63::tools
