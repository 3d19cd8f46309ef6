// c63bench me: every motion search kernel of the GPU, compared with the VABSDIFF4 ceiling of the same run.

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/bench_command.h"
#include "bench/benches.h"
#include "bench/cuda/absdiff_probe.h"
#include "bench/cuda/test_video.h"
#include "bench/figures.h"
#include "bench/ladder_page.h"
#include "c63/cuda/devices.h"
#include "c63/error.h"
#include "c63/motion.h"
#include "codec/search_window.h"
#include "common/values.h"
#include "cuda_me/kernels/motion.h"
#include "cuda_me/runtime/device_guard.h"
#include "cuda_me/runtime/graph.h"
#include "cuda_me/runtime/memory.h"
#include "cuda_me/runtime/stream.h"

namespace c63::bench {
namespace {

using cuda::MotionJob;

/// Returns the number of candidates in a search of a plane.
double count_candidates(int width, int height, int range) {
  double count = 0;
  for (int row = 0; row < height / kBlockSize; ++row) {
    for (int column = 0; column < width / kBlockSize; ++column) {
      const SearchWindow w = search_window(column, row, width, height, range);
      if (!w.empty()) count += static_cast<double>(w.right - w.left) * (w.bottom - w.top);
    }
  }
  return count;
}

/// The frames of a video on the device, and pinned copies for kernels that are timed with their uploads.
class ResidentVideo {
 public:
  ResidentVideo(const LumaVideo& video, int range, const cuda::Stream& stream)
      : blocks_(static_cast<std::size_t>(video.width / kBlockSize) * (video.height / kBlockSize)) {
    const std::size_t samples = static_cast<std::size_t>(video.width) * video.height;
    for (const auto& frame : video.frames) {
      pinned_.emplace_back(samples);
      std::copy(frame.begin(), frame.end(), pinned_.back().data());
      device_.emplace_back(samples);
      cuda::copy_async(device_.back().data(), pinned_.back().data(), samples, stream);
    }
    stream.synchronize();
    for (std::size_t i = 1; i < device_.size(); ++i) {
      vectors_.emplace_back(blocks_);
      sads_.emplace_back(blocks_);
      jobs_.push_back({device_[i].data(), device_[i - 1].data(), video.width, video.width, video.width, video.height,
                       range, vectors_.back().data(), sads_.back().data()});
    }
  }

  [[nodiscard]] const std::vector<MotionJob>& jobs() const { return jobs_; }

  /// Uploads both frames of pair i, like a program that keeps nothing on the device.
  void upload_pair(std::size_t i, cudaStream_t stream) {
    for (std::size_t k = i; k < i + 2; ++k) {
      cuda::copy_async(device_[k].data(), pinned_[k].data(), pinned_[k].size(), stream);
    }
  }

  void poison(cudaStream_t stream) const {
    for (const auto& v : vectors_) cuda::fill_async(v.data(), 0xCD, v.bytes(), stream);
    for (const auto& s : sads_) cuda::fill_async(s.data(), 0xCD, s.bytes(), stream);
  }

  [[nodiscard]] std::vector<MotionField> results(const cuda::Stream& stream) const {
    std::vector<MotionField> fields(jobs_.size());
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      fields[i] = {jobs_[i].width / kBlockSize, jobs_[i].height / kBlockSize, std::vector<MotionVector>(blocks_),
                   std::vector<std::uint16_t>(blocks_)};
      cuda::copy_async(fields[i].vectors.data(), vectors_[i].data(), blocks_, stream);
      cuda::copy_async(fields[i].sads.data(), sads_[i].data(), blocks_, stream);
    }
    stream.synchronize();
    return fields;
  }

 private:
  std::size_t blocks_;
  std::vector<cuda::PinnedBuffer<std::uint8_t>> pinned_;
  std::vector<cuda::DeviceBuffer<std::uint8_t>> device_;
  std::vector<cuda::DeviceBuffer<MotionVector>> vectors_;
  std::vector<cuda::DeviceBuffer<std::uint16_t>> sads_;
  std::vector<MotionJob> jobs_;
};

bool equal(const std::vector<MotionField>& a, const std::vector<MotionField>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].vectors != b[i].vectors || a[i].sads != b[i].sads) return false;
  }
  return a.size() == b.size();
}

/// The result by the rules: the scalar search, which uses only codec/search_window.h.
MotionField search_by_rule(const LumaVideo& video, std::size_t frame, int range) {
  const std::uint8_t* current = video.frames[frame].data();
  const std::uint8_t* reference = video.frames[frame - 1].data();
  MotionField field{video.width / kBlockSize, video.height / kBlockSize, {}, {}};
  const auto sad_of = [&](int x, int y, int rx, int ry) {
    std::uint32_t sad = 0;
    for (int i = 0; i < kBlockSize; ++i) {
      const std::uint8_t* a = current + static_cast<std::ptrdiff_t>(y + i) * video.width + x;
      const std::uint8_t* b = reference + static_cast<std::ptrdiff_t>(ry + i) * video.width + rx;
      for (int j = 0; j < kBlockSize; ++j) sad += static_cast<std::uint32_t>(std::abs(a[j] - b[j]));
    }
    return sad;
  };
  for (int row = 0; row < field.rows; ++row) {
    for (int column = 0; column < field.columns; ++column) {
      const int x = column * kBlockSize;
      const int y = row * kBlockSize;
      const SearchWindow window = search_window(column, row, video.width, video.height, range);
      MotionVector vector{};
      std::uint32_t best = window.empty() ? sad_of(x, y, x, y) : 1U << 30;
      for (int ry = window.top; ry < window.bottom; ++ry) {
        for (int rx = window.left; rx < window.right; ++rx) {
          const std::uint32_t sad = sad_of(x, y, rx, ry);
          if (sad >= best) continue;
          best = sad;
          vector = {static_cast<std::int8_t>(rx - x), static_cast<std::int8_t>(ry - y)};
        }
      }
      field.vectors.push_back(vector);
      field.sads.push_back(static_cast<std::uint16_t>(best));
    }
  }
  return field;
}

std::vector<MotionField> search_on_cpu(const LumaVideo& video, int range) {
  std::vector<MotionField> fields;
  for (std::size_t i = 1; i < video.frames.size(); ++i) fields.push_back(search_by_rule(video, i, range));
  return fields;
}

/// Returns the microseconds a frame of a replayed graph of `calls` calls. Each call enqueues `frames` frames.
template <typename EnqueueCall>
Sample time_calls(std::size_t calls, std::size_t frames, int repeats, const cuda::Stream& stream,
                  EnqueueCall&& enqueue_call) {
  const cuda::GraphExec graph(cuda::Graph::capture(stream, [&] {
    for (std::size_t i = 0; i < calls; ++i) enqueue_call(i);
  }));
  const cuda::Event start(cuda::Event::Timing::on);
  const cuda::Event stop(cuda::Event::Timing::on);
  std::vector<double> microseconds;
  for (int run = 0; run < repeats + 3; ++run) {
    start.record(stream);
    graph.launch(stream);
    stop.record(stream);
    stop.synchronize();
    if (run >= 3) microseconds.push_back(stop.milliseconds_since(start) * 1e3 / static_cast<double>(calls * frames));
  }
  return summarize(std::move(microseconds));
}

/// Returns the bytes a second, read and written, of a copy within the device.
double copy_rate(const cuda::Stream& stream) {
  constexpr std::size_t kBytes = std::size_t{1} << 28;
  const cuda::DeviceBuffer<std::uint8_t> from(kBytes);
  const cuda::DeviceBuffer<std::uint8_t> to(kBytes);
  cuda::fill_async(from.data(), 1, kBytes, stream);
  const Sample us = time_calls(4, 1, 10, stream, [&](std::size_t) { cuda::copy_async(to.data(), from.data(), kBytes, stream); });
  return 2e6 * static_cast<double>(kBytes) / us.median;
}

class MeBench {
 public:
  explicit MeBench(const MeBenchOptions& options) : options_(options), guard_(options.device) {
    ceiling_ = measure_absdiff4_ceiling(stream_);
    const cuda::DeviceInfo& device = cuda::require_device(options.device);
    figures_ = {{"subcommand", "me"},
                {"device", device.name},
                {"architecture", "sm_" + std::to_string(device.compute_major) + std::to_string(device.compute_minor)},
                {"multiprocessors", device.multiprocessors},
                {"driver", cuda::devices().driver_version},
                {"runtime", cuda::devices().runtime_version},
                {"range", options.range},
                {"absdiff4_ceiling_per_s", ceiling_},
                {"copy_bytes_per_s", copy_rate(stream_)},
                {"results", nlohmann::ordered_json::array()}};
    std::printf("%s, VABSDIFF4 ceiling %.2f T/s = %.1f T absolute differences/s\n", device.name.c_str(),
                ceiling_ * 1e-12, ceiling_ * 4e-12);
  }

  void run() {
    if (!options_.yuv.empty()) {
      const auto [width, height] = tools::require_size("--yuv-size", options_.yuv_size);
      measure(read_luma(options_.yuv, width, height, options_.frames), options_.yuv_size);
    } else {
      for (const std::string& text : options_.sizes) {
        const auto [width, height] = tools::require_size("--sizes", text);
        const Geometry geometry(width, height);
        for (const std::string& content : options_.contents) {
          measure(content == "noise"
                      ? noise_video(geometry.padded_width(), geometry.padded_height(), options_.frames)
                      : natural_video(geometry.padded_width(), geometry.padded_height(), options_.frames),
                  text);
        }
      }
    }
    figures_["all_equal"] = all_equal_;
    write_figures(options_.json, figures_);
    if (!options_.html.empty()) write_ladder_page(options_.html, dated(figures_), options_.cpu);
    if (!all_equal_) throw Error(ErrorKind::comparison, "C63-BENCH-DIFFERS", "kernels do not agree");
  }

 private:
  [[nodiscard]] bool wanted(std::string_view kernel) const {
    return options_.kernels.empty() ||
           std::find(options_.kernels.begin(), options_.kernels.end(), kernel) != options_.kernels.end();
  }

  void measure(const LumaVideo& video, const std::string& size) {
    ResidentVideo resident(video, options_.range, stream_);
    const double candidates = count_candidates(video.width, video.height, options_.range);
    const double floor_us = candidates * (kBlockSamples / 4) / ceiling_ * 1e6;
    std::printf("\n%s %s, range %d: %.2f M candidates a frame, brute-force floor %.1f us\n", size.c_str(),
                video.name.c_str(), options_.range, candidates * 1e-6, floor_us);
    std::printf("%-18s %5s %10s %19s %8s %8s %8s %5s %6s %6s\n", "kernel", "jobs", "us/frame", "p10..p90", "Gcand/s",
                "Tabs/s", "ceiling", "regs", "occ", "equal");
    std::optional<std::vector<MotionField>> expected;
    if (options_.verify) expected = search_on_cpu(video, options_.range);
    for (const cuda::MotionKernelInfo& info : cuda::motion_kernels()) {
      if (!wanted(info.name)) continue;
      const auto search = cuda::make_motion_search(info.kernel);
      const std::span<const MotionJob> pairs = resident.jobs();
      const auto report_as = [&](const std::string& kernel, int jobs, const Sample& us, bool is_equal) {
        report(kernel, size, video.name, jobs, candidates, search->resources(), us, is_equal);
      };
      if (info.kernel == cuda::MotionKernel::textbook) {
        report_as(std::string(info.name) + "+upload", 1,
                  time_calls(pairs.size(), 1, std::min(options_.repeats, 10), stream_,
                             [&](std::size_t i) {
                               resident.upload_pair(i, stream_);
                               search->enqueue(pairs.subspan(i, 1), stream_);
                             }),
                  true);
      }
      for (const int jobs : options_.jobs) {
        // Each call takes the next pairs, and begins again after the last.
        const auto frames = static_cast<std::size_t>(jobs);
        std::vector<MotionJob> call_jobs(frames);
        const auto enqueue = [&](std::size_t call) {
          for (std::size_t i = 0; i < frames; ++i) call_jobs[i] = pairs[(call * frames + i) % pairs.size()];
          search->enqueue(call_jobs, stream_);
        };
        resident.poison(stream_);
        constexpr int kCallsToChoose = 6;  // a kernel that chooses by time measures before the graph is captured
        for (int call = 0; call < kCallsToChoose; ++call) {
          enqueue(0);
          stream_.synchronize();
        }
        constexpr std::size_t kLeastCalls = 4;  // so that the start and end of a replay count little
        const std::size_t calls = std::max((pairs.size() + frames - 1) / frames, kLeastCalls);
        const Sample us = time_calls(calls, frames, options_.repeats, stream_, enqueue);
        const std::vector<MotionField> results = resident.results(stream_);
        if (!expected) expected = results;
        report_as(std::string(info.name), jobs, us, equal(results, *expected));
      }
    }
  }

  void report(const std::string& kernel, const std::string& size, const std::string& content, int jobs,
              double candidates, const cuda::MotionKernelResources& resources, const Sample& us, bool is_equal) {
    const double rate = candidates / (us.median * 1e-6);
    const double share = rate * (kBlockSamples / 4) / ceiling_;
    all_equal_ = all_equal_ && is_equal;
    std::printf("%-18s %5d %10.2f %9.2f..%8.2f %8.1f %8.2f %7.1f%% %5d %5.0f%% %6s\n", kernel.c_str(), jobs, us.median,
                us.low, us.high, rate * 1e-9, rate * kBlockSamples * 1e-12, share * 100, resources.registers,
                resources.occupancy * 100, is_equal ? "yes" : "NO");
    figures_["results"].push_back({{"kernel", kernel},
                                   {"size", size},
                                   {"content", content},
                                   {"jobs", jobs},
                                   {"us_per_frame", to_json(us)},
                                   {"candidates", candidates},
                                   {"candidates_per_s", rate},
                                   {"absdiff_per_s", rate * kBlockSamples},
                                   {"share_of_ceiling", share},
                                   {"registers", resources.registers},
                                   {"shared_bytes", resources.shared_bytes},
                                   {"threads", resources.threads},
                                   {"occupancy", resources.occupancy},
                                   {"equal", is_equal}});
  }

  const MeBenchOptions& options_;
  cuda::DeviceGuard guard_;
  cuda::Stream stream_;
  double ceiling_ = 0;
  bool all_equal_ = true;
  nlohmann::ordered_json figures_;
};

}  // namespace

tools::Subcommand me_bench() {
  return bench_command<MeBenchOptions>("me", "Measure the motion search kernels of the GPU",
                                       [](const MeBenchOptions& options, const tools::Session&) {
                                         static_cast<void>(cuda::require_device(options.device));
                                         MeBench(options).run();
                                       });
}

}  // namespace c63::bench
