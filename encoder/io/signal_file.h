#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/output_file.h"

namespace c63 {

/// The format of a signal in a file.
enum class SignalFormat {
  automatic,  ///< by name: .npy; .f64 .f32 .i32 .u32 .u8 raw; everything else text
  text,       ///< one number per line
  npy,        ///< NumPy's array with one dimension
  f64,        ///< raw little-endian values
  f32,
  i32,
  u32,
  u8,
};

[[nodiscard]] std::string_view name(SignalFormat format);
[[nodiscard]] std::vector<SignalFormat> all_signal_formats();
/// The format that `automatic` chooses for this file.
[[nodiscard]] SignalFormat signal_format_of(const std::string& path);

struct SignalOptions {
  SignalFormat format = SignalFormat::automatic;
  std::size_t max_bytes = std::size_t{8} << 30;  ///< of the file and its values together
  std::function<void(const std::string&)> warn = {};  ///< receives one line, without the file's name
};

/// Reads a signal; "-" is stdin. Text is parsed in parallel by std::from_chars, exact to the last bit. A last line without an end
/// is accepted with a warning. Throws Error (input) with the line: C63-SIGNAL-NUMBER for text that is not a number,
/// C63-SIGNAL-FINITE for infinity and NaN, C63-SIGNAL-EMPTY for no values, C63-SIGNAL-SIZE for a partial raw value, C63-NPY-…
/// for a faulty array. Throws Error (limit, C63-MAX-MEMORY).
[[nodiscard]] std::vector<double> read_signal(const std::string& path, const SignalOptions& options = {});

/// Parses numbers as read_signal() does. `file` is for messages; `max_bytes` limits text and values together.
[[nodiscard]] std::vector<double> parse_signal_text(std::string_view text, const std::string& file,
                                                    const std::function<void(const std::string&)>& warn = {},
                                                    std::size_t max_bytes = std::size_t{8} << 30);
/// Prints one number per line, in parallel, as the shortest text that std::from_chars reads back to the same bits.
[[nodiscard]] std::vector<std::string> print_signal_text(std::span<const double> values);

/// Writes a signal; "-" is stdout. Rounds to 32-bit floats if the format needs it. Throws Error (usage, C63-SIGNAL-RANGE) for
/// values that the format cannot hold, and Error (output).
void write_signal(const std::string& path, std::span<const double> values,
                  SignalFormat format = SignalFormat::automatic, Durability durability = Durability::process);

}  // namespace c63
