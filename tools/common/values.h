#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "c63/picture.h"

namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI

namespace c63::tools {

/// Reads "25", "29.97" or "30000/1001". Returns nothing if the text is not a positive rate. 23.976, 29.97, 59.94 and
/// 119.88 mean n/1001.
[[nodiscard]] std::optional<FrameRate> frame_rate_from(const std::string& text);

/// Reads "352x288". Returns nothing for another form. The sides may be any integers.
[[nodiscard]] std::optional<std::pair<int, int>> size_from(const std::string& text);

/// The same for the value of an option, at least 1x1. Throws Error (usage).
[[nodiscard]] std::pair<int, int> require_size(const std::string& option, const std::string& text);

/// Accepts whole numbers from `low` to `high`. (CLI11 alone takes "-1" for the largest unsigned number, and too large
/// numbers for the largest possible one.)
[[nodiscard]] CLI::Validator whole_number(std::int64_t low = 0,
                                          std::int64_t high = std::numeric_limits<std::int64_t>::max());

/// Reads a number with a unit: "800k", "2.5M", "1.5MiB", "96000". k, M, G and T are powers of 1000, Ki, Mi, Gi and Ti
/// of 1024, in either case. A B may follow. Returns nothing for anything else.
[[nodiscard]] std::optional<double> quantity_from(std::string_view text);

/// Converts a number of bytes like 512MiB. Refuses negative and too large numbers, which CLI11 alone takes for a huge
/// one.
[[nodiscard]] CLI::Validator number_of_bytes();

/// Adds --fps.
CLI::Option* add_frame_rate_option(CLI::App& app, const std::string& description,
                                   const std::function<void(FrameRate)>& take);

}  // namespace c63::tools
