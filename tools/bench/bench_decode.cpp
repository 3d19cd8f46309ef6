// c63bench decode: frames per second when streams in memory are decoded, by device and number of threads.

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>

#include "backend/decode_backend.h"
#include "bench/bench.h"
#include "c63/decoder.h"
#include "c63/error.h"
#include "c63/picture.h"
#include "common/backends.h"

namespace c63::bench {
namespace {

std::vector<std::uint8_t> read_stream(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(ErrorKind::input, "C63-BENCH-VIDEO", "cannot read the stream to measure on", {.file = path});
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

void bench_decode(const Options& options) {
  Report report("decode", options, {{"stream", "stream", -28}, {"backend", "backend", -7}, {"output", "output", -7}, {"threads", "threads", 7},
                                    {"frames_per_s/median", "frames/s", 10, 1}, {"frames_per_s/p10", "10 %", 10, 1},
                                    {"frames_per_s/p90", "90 %", 10, 1}, {"efficiency", "efficiency", 10, 1, 100, " %"}});
  // The GPU is opened once and keeps its memory from run to run.
  std::shared_ptr<DecodeBackend> gpu;
  if (std::ranges::count(options.backends, "cuda") > 0) {
    DecoderSettings settings;
    tools::select_decode_device("cuda", {}, {}, settings, [](const std::string&) {});
    gpu = settings.device;
    report.about()["device"] = gpu->description();
  }
  report.print_titles();
  for (const std::string& path : options.streams) {
    const std::vector<std::uint8_t> stream = read_stream(path);
    const DecodeSummary summary = Decoder().decode_views(stream, [](const FrameView&) {});
    std::vector<std::uint8_t> frame;
    std::vector<Case> cases;
    for (const std::string& backend : options.backends) {
      for (const std::string& output : options.outputs) {
        for (const int threads : options.thread_counts) {
          const auto decode = [&, threads, device = backend == "cuda" ? gpu : nullptr, copies = output == "copies"] {
            Decoder decoder({.execution = {.threads = threads}, .device = device});
            static_cast<void>(decoder.decode_views(stream, [&](const FrameView& view) {
              if (!copies) return;
              frame.resize(frame_bytes(view.width, view.height));
              std::uint8_t* to = frame.data();
              for (const auto& plane : view.picture) to = std::ranges::copy(plane, to).out;
            }));
          };
          cases.push_back({{{"stream", path.substr(path.rfind('/') + 1)},
                            {"size", std::to_string(summary.width) + "x" + std::to_string(summary.height)},
                            {"frames", summary.frames},
                            {"bytes", summary.bytes},
                            {"backend", backend},
                            {"output", output},
                            {"threads", threads}},
                           timed(decode)});
        }
      }
    }
    const std::vector<Sample> seconds = measure(cases, options.repeats);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      Json row = cases[i].labels;
      // Efficiency is the speed per thread, relative to the case with the fewest threads of the same backend and output.
      const auto first = i / options.thread_counts.size() * options.thread_counts.size();
      const auto fewest = static_cast<std::size_t>(std::ranges::min_element(options.thread_counts) - options.thread_counts.begin());
      row["frames_per_s"] = seconds[i].rate(static_cast<double>(summary.frames));
      row["efficiency"] = seconds[first + fewest].median / seconds[i].median * options.thread_counts[fewest] / row["threads"].get<double>();
      report.add(std::move(row));
    }
  }
  report.finish();
}

}  // namespace c63::bench
