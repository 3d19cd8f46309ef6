#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "files/output_file.h"

namespace c63::tools {

/// Parses JSON that a user may have written. Throws std::exception if it is no JSON, or nested more than 64 deep: code
/// that copies, compares or prints JSON calls itself once a level, so deep nesting would exhaust the stack.
[[nodiscard]] nlohmann::ordered_json parse_json(std::string_view text);

/// The same, but returns a value for which is_discarded() is true in place of an exception.
[[nodiscard]] nlohmann::ordered_json json_if_valid(std::string_view text);

/// Returns the content of a regular file. Returns nothing for a pipe, a device, or a file of more than `most_bytes`.
/// Throws Error (input).
[[nodiscard]] std::optional<std::string> text_of_file(const std::string& path, std::uint64_t most_bytes);

/// Reads a JSON file of at most `most_bytes` and calls `use` with its content. Throws Error (input, `id`) if the file is not
/// such a file or `use` throws; its message is `what` and the reason.
void read_json(const std::string& path, std::uint64_t most_bytes, const std::string& id, const std::string& what,
               const std::function<void(const nlohmann::ordered_json&)>& use);

/// Returns JSON as write_json() writes it, without the last line break. Bytes that are not UTF-8 are replaced.
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& json);
/// Returns the members of an object without its braces, so that the caller can add members before or after them.
[[nodiscard]] std::string json_members(const nlohmann::ordered_json& json);
/// Writes indented JSON to a file ("-": stdout) and commits it. With `is_part`, commits it by
/// OutputFile::commit_part(). Throws Error (output).
void write_json(const std::string& path, const nlohmann::ordered_json& json, Durability durability = Durability::process,
                bool is_part = false);
void write_json(OutputFile& file, const nlohmann::ordered_json& json);

/// Returns an option's value as JSON: an enumeration by name, null for a value that the preset decides.
template <typename Value>
[[nodiscard]] nlohmann::ordered_json option_json(const Value& value) {
  if constexpr (requires { value.has_value(); }) {
    return value ? option_json(*value) : nlohmann::ordered_json(nullptr);
  } else if constexpr (std::is_enum_v<Value>) {
    return name(value);
  } else {
    return value;
  }
}

/// Returns a value for JSON. Infinity and NaN, which JSON lacks, become null.
[[nodiscard]] inline nlohmann::ordered_json json_number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

/// Returns a JSON value that must be a whole number of at least `least`. Throws std::runtime_error for anything else,
/// also for numbers that do not fit the type, which get() would convert.
template <typename Integer>
[[nodiscard]] Integer whole_number_from(const nlohmann::ordered_json& json, Integer least = 0) {
  const auto fits = [least](auto value) { return std::in_range<Integer>(value) && std::cmp_greater_equal(value, least); };
  if (json.is_number_unsigned()) {
    if (const auto value = json.get<std::uint64_t>(); fits(value)) return static_cast<Integer>(value);
  } else if (json.is_number_integer()) {
    if (const auto value = json.get<std::int64_t>(); fits(value)) return static_cast<Integer>(value);
  }
  throw std::runtime_error("a number that cannot be");
}

/// Returns a JSON value that must be a number from `low` to `high`. Throws std::runtime_error for anything else.
[[nodiscard]] inline double number_from(const nlohmann::ordered_json& json, double low, double high) {
  if (json.is_number()) {
    if (const auto value = json.get<double>(); value >= low && value <= high) return value;
  }
  throw std::runtime_error("a number that cannot be");
}

}  // namespace c63::tools
