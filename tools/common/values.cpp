#include "common/values.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <numeric>
#include <string_view>

#include "c63/error.h"

namespace c63::tools {
namespace {

constexpr double kMostSeconds = 1e9;

/// Reads a number that begins with a digit. Returns nothing for others, so signs are refused.
template <typename Number>
std::optional<Number> unsigned_number(std::string_view text) {
  return text.empty() || text.front() < '0' || text.front() > '9' ? std::nullopt : parse<Number>(text);
}

std::optional<double> seconds_of(std::string_view text) {
  if (text.ends_with("ms")) {
    const auto value = unsigned_number<double>(text.substr(0, text.size() - 2));
    return value ? std::optional(*value / 1000) : std::nullopt;
  }
  if (text.ends_with('s')) return unsigned_number<double>(text.substr(0, text.size() - 1));
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto seconds = unsigned_number<double>(text.substr(colon + 1));
  std::string_view before = text.substr(0, colon);
  double hours = 0;
  if (const std::size_t first = before.find(':'); first != std::string_view::npos) {
    const auto value = unsigned_number<int>(before.substr(0, first));
    if (!value) return std::nullopt;
    hours = *value;
    before = before.substr(first + 1);
  }
  const auto minutes = unsigned_number<int>(before);
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
  if (const auto frame = unsigned_number<std::int64_t>(text)) return VideoPlace{.frame = *frame};
  const auto seconds = seconds_of(text);
  if (!seconds || *seconds > kMostSeconds) return std::nullopt;
  return VideoPlace{.seconds = *seconds};
}

std::optional<FrameRate> frame_rate_from(const std::string& text) {
  const std::size_t slash = text.find_first_of("/:");
  if (slash != std::string::npos) {
    const auto numerator = parse<int>(std::string_view(text).substr(0, slash));
    const auto denominator = parse<int>(std::string_view(text).substr(slash + 1));
    if (!numerator || !denominator || *numerator <= 0 || *denominator <= 0) return std::nullopt;
    return FrameRate{*numerator, *denominator};
  }
  const auto value = parse<double>(text, 0.001, 1e6);
  if (!value) return std::nullopt;
  for (const int whole : {24, 30, 60, 120}) {
    if (std::fabs(*value - whole * 1000 / 1001.0) < 0.005) return FrameRate{whole * 1000, 1001};
  }
  const int thousandths = static_cast<int>(std::lround(*value * 1000));
  const int divisor = std::gcd(thousandths, 1000);
  return FrameRate{thousandths / divisor, 1000 / divisor};
}

std::optional<std::pair<int, int>> size_from(const std::string& text) {
  const std::size_t cross = text.find_first_of("xX");
  if (cross == std::string::npos) return std::nullopt;
  const auto width = parse<int>(std::string_view(text).substr(0, cross));
  const auto height = parse<int>(std::string_view(text).substr(cross + 1));
  if (!width || !height) return std::nullopt;
  return std::pair{*width, *height};
}

std::pair<int, int> require_size(const std::string& option, const std::string& text) {
  const auto size = size_from(text);
  if (!size || size->first < 1 || size->second < 1) {
    throw Error(ErrorKind::usage, "C63-SIZE", option + ": \"" + text + "\" is not a size like 352x288");
  }
  return *size;
}

bool has_extension(std::string_view path, std::span<const std::string_view> extensions) {
  return std::ranges::any_of(extensions, [path](std::string_view e) { return path.size() > e.size() && path.ends_with(e); });
}

std::optional<double> quantity_from(std::string_view text) {
  double value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || !std::isfinite(value)) return std::nullopt;
  std::string unit(end, text.data() + text.size());
  std::ranges::transform(unit, unit.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (unit.ends_with('b')) unit.pop_back();
  const double thousand = unit.size() == 2 && unit[1] == 'i' ? 1024 : 1000;
  if (thousand == 1024) unit.pop_back();
  if (unit.size() > 1) return std::nullopt;
  const std::size_t power = unit.empty() ? 0 : std::string_view(" kmgt").find(unit[0], 1);
  if (power == std::string_view::npos) return std::nullopt;
  return value * std::pow(thousand, power);
}

std::optional<std::uint64_t> count_from(const std::string& text) {
  if (const auto number = parse<std::uint64_t>(text, 0, std::numeric_limits<std::int64_t>::max())) return number;
  const auto number = quantity_from(text);
  if (!number || *number < 0 || *number >= 0x1p63) return std::nullopt;
  return static_cast<std::uint64_t>(std::llround(*number));
}

}  // namespace c63::tools
