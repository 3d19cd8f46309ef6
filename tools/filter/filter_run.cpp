#include "filter/filter_run.h"

#include <fmt/format.h>
#include <spdlog/logger.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "c63/byte_count.h"
#include "c63/error.h"
#include "c63/thread_pool.h"
#include "common/errors.h"
#include "common/outputs.h"
#include "common/video_input.h"

namespace c63::tools {
FilterEngines::FilterEngines(const Session& session, const FilterOptions& o) {
  if (o.backend == "cpu" && o.device)
    throw Error(ErrorKind::usage, "C63-USAGE", "--device names a GPU, but --backend names the CPU");
  if (o.backend == "cpu" || (o.backend == "auto" && !o.device && (o.variant == "serial" || o.variant == "fast"))) {
    chosen_ = make_cpu_engine(o.variant);
  } else {
    try {
      chosen_ = make_cuda_engine(o.device.value_or(0), o.variant);
    } catch (const Error& error) {
      if (o.backend != "auto" || o.device || error.kind() != ErrorKind::device) throw;
      session.log->debug("on the CPU: {}", error.message());
      chosen_ = make_cpu_engine(o.variant);
    }
  }
  if (o.compare) serial_ = make_cpu_engine("serial");
}

void FilterEngines::report(const Session& session) const {
  if (!compared_) return;
  session.log->info("{}: {:.3f} ms", serial_->description(), serial_time_.total_ms);
  session.log->info("{}: {:.3f} ms, which is {:.1f} times as fast; with transfers {:.3f} ms, {:.1f} times as fast; largest difference {:g}",
                    chosen_->description(), chosen_time_.compute_ms, serial_time_.total_ms / chosen_time_.compute_ms,
                    chosen_time_.total_ms, serial_time_.total_ms / chosen_time_.total_ms, difference_);
}

namespace {

/// Returns true if the input is video. If the options do not say it, the input's name or first bytes decide.
bool is_video(const FilterOptions& o) {
  if (o.video) return *o.video;
  if (o.command == FilterCommand::shift || o.command == FilterCommand::whiten) return true;
  if (o.input == "-" || o.input_format != SignalFormat::automatic) return false;
  if (is_stream_file(o.input)) return true;
  if (signal_format_of(o.input) != SignalFormat::text) return false;
  constexpr std::array kText = {".txt", ".csv", ".dat", ".tsv", ".asc", ".text"};
  return !std::ranges::any_of(kText, [&](const char* suffix) { return o.input.ends_with(suffix); }) &&
         o.input.find('.') != std::string::npos;
}

}  // namespace

void check_filter_memory(const FilterOptions& o, std::uint64_t bytes) {
  if (bytes <= o.source.limits.max_memory) return;
  throw Error(ErrorKind::limit, "C63-MAX-MEMORY",
              fmt::format("filtering takes {}; the limit is {} (--max-memory)", bytes_text(bytes),
                          bytes_text(o.source.limits.max_memory)),
              {.file = o.input});
}

BinMap bin_map_of(const FilterOptions& o) {
  BinMap map;
  map.bins = o.bins;
  for (std::size_t v = 0; v < 256; ++v) {
    map.bin[v] = static_cast<std::uint8_t>(v * static_cast<std::size_t>(o.bins) / 256);
  }
  if (o.map.empty()) return map;
  const std::vector<double> bins = read_signal(o.map);
  if (bins.size() != 256) {
    throw Error(ErrorKind::input, "C63-BIN-MAP",
                "the map has " + std::to_string(bins.size()) + " bins, but must have 256", {.file = o.map});
  }
  map.bins = 0;
  for (std::size_t v = 0; v < 256; ++v) {
    if (!(bins[v] >= 0 && bins[v] <= 255 && bins[v] == std::floor(bins[v]))) {
      throw Error(ErrorKind::input, "C63-BIN-MAP", "line " + std::to_string(v + 1) + ": bins are integers from 0 to 255",
                  {.file = o.map});
    }
    map.bin[v] = static_cast<std::uint8_t>(bins[v]);
    map.bins = std::max(map.bins, static_cast<int>(bins[v]) + 1);
  }
  return map;
}

void write_values(const FilterOptions& o, std::span<const double> values) {
  write_signal(o.output.empty() ? "-" : o.output, values, o.output_format, o.durability);
}

int run_filter(const Session& session, const FilterOptions& o) {
  if (o.command == FilterCommand::none) {
    throw Error(ErrorKind::usage, "C63-USAGE",
                "name a filter: mean, convolve, histogram, reduce, scan, shift or whiten");
  }
  check_distinct_files({{"the input", o.input}, {"--map", o.map}, {"--truth", o.truth}},
                       {{"the output", o.output},
                        {"--before", o.before},
                        {"--after", o.after},
                        {"--log-file", session.common.log.file}});
  ThreadPool(session.common.threads).execute([&] {
    FilterEngines engines(session, o);
    is_video(o) ? filter_video(session, o, engines) : filter_signal(session, o, engines);
    engines.report(session);
  });
  return kExitDone;
}

}  // namespace c63::tools
