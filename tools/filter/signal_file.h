#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "c63/error.h"
#include "c63/enum_names.h"
#include "files/output_file.h"

namespace c63 {

/// The format of a signal in a file. A signal is a series of numbers.
enum class SignalFormat {
  automatic,  ///< found from the name: .npy is npy; .f64 .f32 .i32 .u32 .u8 are raw; all others are text
  text,       ///< one number per line
  npy,        ///< NumPy's format, with one dimension
  f64,        ///< raw little-endian values
  f32,
  i32,
  u32,
  u8,
};

/// Returns the format that SignalFormat::automatic means for a file of this name.
[[nodiscard]] SignalFormat signal_format_of(const std::string& path);

struct SignalOptions {
  SignalFormat format = SignalFormat::automatic;
  std::size_t max_bytes = std::size_t{8} << 30;  ///< limit for the bytes of the file and of its values together
  std::function<void(const std::string&)> warn = {};  ///< receives one line, without the file's name
};

/// Reads a signal; "-" is stdin. Text is parsed in parallel by std::from_chars, exactly to the last bit. If the last
/// line has no line end, it is accepted with a warning.
///
/// Throws Error (input), for a line of text with its number: C63-SIGNAL-NUMBER for text that is not a number,
/// C63-SIGNAL-FINITE for infinity and NaN, C63-SIGNAL-EMPTY if there are no values, C63-SIGNAL-SIZE for a partial raw
/// value, and C63-NPY-… for a faulty array. Throws Error (limit, C63-MAX-MEMORY) if it needs more than max_bytes.
[[nodiscard]] std::vector<double> read_signal(const std::string& path, const SignalOptions& options = {});

/// Parses numbers as read_signal() does. `file` is the name for messages. `max_bytes` limits text and values together.
[[nodiscard]] std::vector<double> parse_signal_text(std::string_view text, const std::string& file,
                                                    const std::function<void(const std::string&)>& warn = {},
                                                    std::size_t max_bytes = std::size_t{8} << 30);
/// Prints one number per line, in parallel, each as the shortest text from which std::from_chars gets the same bits.
[[nodiscard]] std::vector<std::string> print_signal_text(std::span<const double> values);

/// Writes a signal; "-" is stdout. Rounds to 32-bit floats if the format is f32. Throws Error (usage, C63-SIGNAL-RANGE)
/// for values that the format cannot hold, and Error (output).
void write_signal(const std::string& path, std::span<const double> values,
                  SignalFormat format = SignalFormat::automatic, Durability durability = Durability::process);

/// Throws Error (limit, C63-MAX-MEMORY) if a file of `bytes` bytes and the `values` numbers in it need more than
/// `max_bytes` together.
inline void check_signal_memory(std::uint64_t bytes, std::uint64_t values, std::uint64_t max_bytes, const std::string& file) {
  const std::uint64_t all = bytes + values * sizeof(double);
  if (all <= max_bytes) return;
  throw Error(ErrorKind::limit, "C63-MAX-MEMORY",
              "the signal takes " + std::to_string(all) + " bytes; the limit is " + std::to_string(max_bytes),
              {.file = file});
}

}  // namespace c63
