#include "common/values.h"

#include <CLI/App.hpp>
#include <CLI/Validators.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <string_view>

#include "c63/error.h"

namespace c63::tools {
namespace {

template <typename Integer = int>
std::optional<Integer> integer_from(std::string_view text) {
  Integer value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<FrameRate> frame_rate_from(const std::string& text) {
  const std::size_t slash = text.find_first_of("/:");
  if (slash != std::string::npos) {
    const auto numerator = integer_from(std::string_view(text).substr(0, slash));
    const auto denominator = integer_from(std::string_view(text).substr(slash + 1));
    if (!numerator || !denominator || *numerator <= 0 || *denominator <= 0) return std::nullopt;
    return FrameRate{*numerator, *denominator};
  }
  double value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc{} || end != text.data() + text.size() || !(value >= 0.001 && value <= 1e6))
    return std::nullopt;
  for (const int whole : {24, 30, 60, 120}) {
    if (std::fabs(value - whole * 1000 / 1001.0) < 0.005) return FrameRate{whole * 1000, 1001};
  }
  const int thousandths = static_cast<int>(std::lround(value * 1000));
  const int divisor = std::gcd(thousandths, 1000);
  return FrameRate{thousandths / divisor, 1000 / divisor};
}

std::optional<std::pair<int, int>> size_from(const std::string& text) {
  const std::size_t cross = text.find_first_of("xX");
  if (cross == std::string::npos) return std::nullopt;
  const auto width = integer_from(std::string_view(text).substr(0, cross));
  const auto height = integer_from(std::string_view(text).substr(cross + 1));
  if (!width || !height) return std::nullopt;
  return std::pair{*width, *height};
}

std::pair<int, int> require_size(const std::string& option, const std::string& text) {
  const auto size = size_from(text);
  if (!size || size->first < 1 || size->second < 1) {
    throw Error(ErrorKind::usage, "C63-SIZE", option + ": \"" + text + "\" is no size like 352x288");
  }
  return *size;
}

CLI::Validator whole_number(std::int64_t low, std::int64_t high) {
  return CLI::Validator(
      [low, high](std::string& text) -> std::string {
        const auto value = integer_from<std::int64_t>(text);
        if (value && *value >= low && *value <= high) return {};
        const std::string range = high == std::numeric_limits<std::int64_t>::max()
                                      ? "from " + std::to_string(low) + " on"
                                      : "from " + std::to_string(low) + " to " + std::to_string(high);
        return "\"" + text + "\" is no whole number " + range;
      },
      "");
}

CLI::Validator number_of_bytes() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        const std::string given = text;
        const std::size_t digits = std::min(given.find_first_not_of("0123456789"), given.size());
        if (!integer_from<std::int64_t>(std::string_view(given).substr(0, digits))) {
          return "\"" + given + "\" is no number of bytes like 512MiB";
        }
        std::string fault = CLI::AsSizeValue(true)(text);
        if (fault.empty() && !integer_from<std::int64_t>(text)) fault = "\"" + given + "\" is more bytes than there can be";
        return fault;
      },
      "");
}

CLI::Option* add_frame_rate_option(CLI::App& app, const std::string& description,
                                   const std::function<void(FrameRate)>& take) {
  return app
      .add_option_function<std::string>(
          "--fps",
          [take](const std::string& text) {
            const auto rate = frame_rate_from(text);
            if (!rate) throw CLI::ValidationError("--fps", "\"" + text + "\" is no rate like 25 or 30000/1001");
            take(*rate);
          },
          description)
      ->type_name("RATE");
}

}  // namespace c63::tools
