// The part of c63filter that filters signals: series of numbers from text files or arrays.
#include <spdlog/logger.h>

#include <chrono>
#include <cmath>
#include <string_view>

#include "c63/error.h"
#include "common/values.h"
#include "filter/filter_run.h"

namespace c63::tools {
namespace {

/// Returns the bytes that filtering this many values needs.
std::uint64_t memory_of(const FilterOptions& o, std::uint64_t values) {
  const std::uint64_t results = o.compare ? 2 : 1;
  switch (o.command) {
    case FilterCommand::reduce: return values * sizeof(double);
    case FilterCommand::histogram: return values * (sizeof(double) + 1);
    default: return values * sizeof(double) * (1 + results);
  }
}

std::vector<std::uint8_t> bytes_of(std::span<const double> values, const std::string& file) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(values.size());
  for (const double value : values) {
    if (!(value >= 0 && value <= 255 && value == std::floor(value))) {
      throw Error(ErrorKind::input, "C63-SIGNAL-RANGE",
                  "value " + std::to_string(bytes.size() + 1) + " is " + std::to_string(value) +
                      ": a histogram counts integers from 0 to 255",
                  {.file = file});
    }
    bytes.push_back(static_cast<std::uint8_t>(value));
  }
  return bytes;
}

/// Reads --kernel: taps such as 1,2,1, or mean:K. Throws Error (usage).
std::vector<double> taps_of(const std::string& kernel) {
  constexpr std::string_view kMean = "mean:";
  const auto fail = [&]() -> Error {
    return {ErrorKind::usage, "C63-USAGE",
            kernel.empty() ? "a convolution needs --kernel, such as 1,2,1"
                           : "'" + kernel + "' is not a kernel for a signal: give numbers such as 1,2,1, or mean:K"};
  };
  const auto number = [&](std::string_view text, auto value) {
    const auto read = parse<decltype(value)>(text);
    if (!read) throw fail();
    return *read;
  };
  if (kernel.starts_with(kMean)) return mean_taps(number(std::string_view(kernel).substr(kMean.size()), int{}));
  std::vector<double> taps;
  for (std::string_view rest = kernel;;) {
    const auto comma = rest.find(',');
    taps.push_back(number(rest.substr(0, comma), double{}));
    if (comma == std::string_view::npos) return taps;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace

void filter_signal(const Session& session, const FilterOptions& o, FilterEngines& engines) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  std::vector<double> taps;
  if (o.command == FilterCommand::mean) taps = mean_taps(o.width);
  if (o.command == FilterCommand::convolve) taps = taps_of(o.kernel);
  if (!taps.empty()) check_taps(taps);

  const std::vector<double> values =
      read_signal(o.input, {.format = o.input_format,
                            .max_bytes = o.source.limits.max_memory,
                            .warn = [&](const std::string& text) { session.log->warn("{}: {}", o.input, text); }});
  const auto read = Clock::now();
  check_filter_memory(o, memory_of(o, values.size()));
  std::vector<double> out(o.command == FilterCommand::reduce ? 1 : values.size());
  switch (o.command) {
    case FilterCommand::mean:
    case FilterCommand::convolve:
      engines.run(out, [&](FilterEngine& engine, auto& to) { return engine.convolve(values, taps, to); });
      break;
    case FilterCommand::scan:
      engines.run(out, [&](FilterEngine& engine, auto& to) { return engine.scan(values, !o.exclusive, to); });
      break;
    case FilterCommand::reduce:
      engines.run(out, [&](FilterEngine& engine, auto& to) { return engine.reduce(values, o.reduction, to[0]); });
      break;
    default: {
      const BinMap map = bin_map_of(o);
      const std::vector<std::uint8_t> bytes = bytes_of(values, o.input);
      std::vector<std::uint64_t> counts(static_cast<std::size_t>(map.bins));
      engines.run(counts, [&](FilterEngine& engine, auto& to) { return engine.histogram(bytes, map, to); });
      out.assign(counts.begin(), counts.end());
    }
  }
  const auto filtered = Clock::now();
  write_values(o, out);
  const auto ms = [](Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration<double, std::milli>(to - from).count();
  };
  session.log->info("{} values on {}: read {:.1f} ms, filtered {:.1f} ms, wrote {:.1f} ms", values.size(),
                    engines.description(), ms(start, read), ms(read, filtered), ms(filtered, Clock::now()));
}

}  // namespace c63::tools
