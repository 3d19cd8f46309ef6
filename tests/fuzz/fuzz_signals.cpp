// Reads any bytes as a file with a signal. The result must be finite values or one Error. After writing and reading the
// values again they must be the same, bit for bit.

#include <cmath>
#include <cstring>
#include <vector>

#include "c63/error.h"
#include "fuzz_support.h"
#include "filter/signal_file.h"

namespace {

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using c63::fuzz::NamedBytes;
  using c63::fuzz::require;
  if (size < 1) return -1;
  const std::vector<c63::SignalFormat> formats = c63::values_of<c63::SignalFormat>();
  const NamedBytes file({data + 1, size - 1}, (data[0] & 128) != 0 ? NamedBytes::Kind::pipe : NamedBytes::Kind::file);
  std::vector<double> values;
  try {
    values = c63::read_signal(file.name(), {.format = formats[data[0] % formats.size()], .max_bytes = 1 << 20});
  } catch (const c63::Error& error) {
    require(error.kind() == c63::ErrorKind::input || error.kind() == c63::ErrorKind::limit);
    require(std::string(error.what()).find('\n') == std::string::npos);
    return 0;
  }
  require(!values.empty());
  for (const double value : values) require(std::isfinite(value));
  std::string text;
  for (const std::string& piece : c63::print_signal_text(values)) text += piece;
  require(same_bits(c63::parse_signal_text(text, "text"), values));
  const NamedBytes again({}, NamedBytes::Kind::file);
  c63::write_signal(again.name(), values, c63::SignalFormat::npy);
  require(same_bits(c63::read_signal(again.name(), {.format = c63::SignalFormat::npy}), values));
  return 0;
}
