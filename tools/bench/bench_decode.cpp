// c63bench decode: frames per second when streams in memory are decoded, by device and number of threads.

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "backend/decode_backend.h"
#include "bench/bench_command.h"
#include "bench/benches.h"
#include "bench/figures.h"
#include "c63/decoder.h"
#include "c63/error.h"
#include "c63/picture.h"
#include "common/backends.h"

namespace c63::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Stream {
  std::string name;
  std::vector<std::uint8_t> bytes;
};

Stream read_stream(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(ErrorKind::input, "C63-BENCH-VIDEO", "cannot read the stream to measure on", {.file = path});
  return {path.substr(path.rfind('/') + 1), {std::istreambuf_iterator<char>(file), {}}};
}

/// One way of decoding: device, kind of output, number of threads.
struct Case {
  std::string backend;
  std::string output;
  int threads = 0;
  std::vector<double> frames_per_second = {};
};

/// Creates a decoder and decodes the stream once. Returns frames per second.
double decode_once(const Stream& stream, const Case& c, const std::shared_ptr<DecodeBackend>& gpu,
                   std::vector<std::uint8_t>& frame) {
  const auto start = Clock::now();
  Decoder decoder({.execution = {.threads = c.threads}, .device = c.backend == "cuda" ? gpu : nullptr});
  const DecodeSummary summary = decoder.decode_views(stream.bytes, [&](const FrameView& view) {
    if (c.output == "views") return;
    frame.resize(frame_bytes(view.width, view.height));
    std::uint8_t* to = frame.data();
    for (const auto& plane : view.picture) to = std::ranges::copy(plane, to).out;
  });
  return static_cast<double>(summary.frames) / std::chrono::duration<double>(Clock::now() - start).count();
}

void run(const DecodeBenchOptions& options) {
  nlohmann::ordered_json figures{{"bench", "decode"}, {"streams", nlohmann::ordered_json::array()}};
  // The GPU is opened once and keeps its memory from run to run. The first run is not counted.
  std::shared_ptr<DecodeBackend> gpu;
  if (std::ranges::count(options.backends, "cuda") > 0) {
    DecoderSettings settings;
    tools::select_decode_device("cuda", {}, {}, settings, [](const std::string&) {});
    gpu = settings.device;
    figures["device"] = gpu->description();
  }
  std::printf("%-28s %-7s %-7s %7s %10s %22s %10s\n", "stream", "backend", "output", "threads", "frames/s", "", "efficiency");
  for (const std::string& path : options.streams) {
    const Stream stream = read_stream(path);
    std::vector<Case> cases;
    for (const std::string& backend : options.backends) {
      for (const std::string& output : options.outputs) {
        for (const int threads : options.threads) cases.push_back({backend, output, threads});
      }
    }
    std::vector<std::uint8_t> frame;
    // The cases take turns, so that a temporary disturbance affects all of them alike.
    for (int round = 0; round <= options.repeats; ++round) {
      for (Case& c : cases) {
        const double rate = decode_once(stream, c, gpu, frame);
        if (round > 0) c.frames_per_second.push_back(rate);
      }
    }
    const DecodeSummary summary = Decoder().decode_views(stream.bytes, [](const FrameView&) {});
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const Case& c : cases) {
      const Sample rate = summarize(c.frames_per_second);
      // Efficiency is the speed per thread, relative to the case with the fewest threads of the same backend and output.
      const auto& base = *std::ranges::min_element(cases, {}, [&](const Case& other) {
        return other.backend == c.backend && other.output == c.output ? other.threads : INT_MAX;
      });
      const double efficiency =
          rate.median / summarize(base.frames_per_second).median * base.threads / std::max(1, c.threads);
      std::printf("%-28s %-7s %-7s %7d %10.1f (%8.1f..%8.1f) %9.1f%%\n", stream.name.c_str(), c.backend.c_str(),
                  c.output.c_str(), c.threads, rate.median, rate.low, rate.high, 100 * efficiency);
      rows.push_back({{"backend", c.backend},
                      {"output", c.output},
                      {"threads", c.threads},
                      {"frames_per_second", to_json(rate)},
                      {"efficiency", efficiency}});
    }
    figures["streams"].push_back({{"stream", stream.name},
                                  {"size", std::to_string(summary.width) + "x" + std::to_string(summary.height)},
                                  {"frames", summary.frames},
                                  {"bytes", summary.bytes},
                                  {"rows", std::move(rows)}});
  }
  write_figures(options.json, std::move(figures));
}

}  // namespace

tools::Subcommand decode_bench() {
  return bench_command<DecodeBenchOptions>(
      "decode", "Measure decoding with several numbers of threads",
      [](const DecodeBenchOptions& options, const tools::Session&) { run(options); });
}

}  // namespace c63::bench
