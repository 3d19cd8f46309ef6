#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/output_file.h"

namespace c63 {

/// How a signal lies in a file.
enum class SignalFormat {
  automatic,  ///< by name: .npy; .f64 .f32 .i32 .u32 .u8 raw; everything else text
  text,       ///< one number a line
  npy,        ///< NumPy's array of one dimension
  f64,        ///< raw little-endian values
  f32,
  i32,
  u32,
  u8,
};

[[nodiscard]] std::string_view name(SignalFormat format);
[[nodiscard]] std::vector<SignalFormat> all_signal_formats();
/// What `automatic` means for this file.
[[nodiscard]] SignalFormat signal_format_of(const std::string& path);

struct SignalOptions {
  SignalFormat format = SignalFormat::automatic;
  std::size_t max_bytes = std::size_t{8} << 30;  ///< of the file and its values together
  std::function<void(const std::string&)> warn = {};  ///< takes one line, without the file's name
};

/// Reads a signal; "-" is stdin. Numbers of text are parsed in parallel by std::from_chars, exact to the last bit; a
/// last line without an end is taken and warned about. Throws Error (input) with the line: C63-SIGNAL-NUMBER for what is
/// no number, C63-SIGNAL-FINITE for infinity and NaN, C63-SIGNAL-EMPTY for a file without values, C63-SIGNAL-SIZE for a
/// partial raw value, C63-NPY-… for a broken array; Error (limit, C63-MAX-MEMORY).
[[nodiscard]] std::vector<double> read_signal(const std::string& path, const SignalOptions& options = {});

/// Numbers of text as read_signal() takes them; `file` is for messages, `max_bytes` of text and values together.
[[nodiscard]] std::vector<double> parse_signal_text(std::string_view text, const std::string& file,
                                                    const std::function<void(const std::string&)>& warn = {},
                                                    std::size_t max_bytes = std::size_t{8} << 30);
/// One number a line, the shortest text that std::from_chars reads back to the same bits; printed in parallel.
[[nodiscard]] std::vector<std::string> print_signal_text(std::span<const double> values);

/// Writes a signal; "-" is stdout. Values that the format cannot hold are an Error (usage, C63-SIGNAL-RANGE); floats of
/// 32 bits are rounded. Throws Error (output).
void write_signal(const std::string& path, std::span<const double> values,
                  SignalFormat format = SignalFormat::automatic, Durability durability = Durability::process);

}  // namespace c63
