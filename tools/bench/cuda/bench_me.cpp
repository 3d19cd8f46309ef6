// c63bench me: times the GPU's motion search kernels. They are compared with the rate of the instruction VABSDIFF4 (four
// absolute differences), measured in the same run. With --kernel, it also races kernels from users' files.

#include <cuda_profiler_api.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/bench_command.h"
#include "bench/benches.h"
#include "bench/candidates.h"
#include "bench/cuda/absdiff_probe.h"
#include "bench/cuda/gpu_state.h"
#include "bench/cuda/kernel_look.h"
#include "bench/cuda/race_gpu.h"
#include "bench/cuda/resident_video.h"
#include "bench/cuda/test_video.h"
#include "bench/figures.h"
#include "bench/kernel_counters.h"
#include "bench/ladder_page.h"
#include "bench/race_files.h"
#include "c63/cuda/devices.h"
#include "c63/error.h"
#include "c63/motion.h"
#include "common/errors.h"
#include "common/process.h"
#include "common/values.h"
#include "cuda_me/kernels/file_search.h"
#include "cuda_me/kernels/motion.h"
#include "cuda_me/kernels/nvrtc.h"
#include "cuda_me/runtime/device_guard.h"
#include "cuda_me/runtime/graph.h"
#include "cuda_me/runtime/memory.h"
#include "cuda_me/runtime/stream.h"
#include "io/scratch_folder.h"
#include "race/compile_search.h"

namespace c63::bench {
namespace {

using cuda::MotionJob;

bool equal(const std::vector<MotionField>& a, const std::vector<MotionField>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].vectors != b[i].vectors || a[i].sads != b[i].sads) return false;
  }
  return a.size() == b.size();
}

/// Returns by how many percent the sum of SADs in `found` exceeds that in `least`.
double more_sad(const std::vector<MotionField>& found, const std::vector<MotionField>& least) {
  double sum = 0;
  double exact = 0;
  for (std::size_t i = 0; i < found.size() && i < least.size(); ++i) {
    for (const std::uint16_t sad : found[i].sads) sum += sad;
    for (const std::uint16_t sad : least[i].sads) exact += sad;
  }
  return exact > 0 ? 100 * (sum / exact - 1) : 0;
}

/// Returns the results of the CPU's brute-force search.
std::vector<MotionField> search_on_cpu(const LumaVideo& video, int range) {
  const auto plane = [&](std::size_t i) {
    return ConstPlaneView{video.frames[i].data(), video.width, video.height, video.width};
  };
  std::vector<MotionField> fields;
  for (std::size_t i = 1; i < video.frames.size(); ++i) {
    fields.push_back(estimate_motion(plane(i), plane(i - 1), range, SearchMethod::full_brute));
  }
  return fields;
}

/// Returns the microseconds per frame of a graph of `calls` calls of `enqueue`. Each call covers `frames` frames.
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

/// Returns the rate of a copy within the device: bytes per second, read plus written.
double copy_rate(const cuda::Stream& stream) {
  constexpr std::size_t kBytes = std::size_t{1} << 28;
  const cuda::DeviceBuffer<std::uint8_t> from(kBytes);
  const cuda::DeviceBuffer<std::uint8_t> to(kBytes);
  cuda::fill_async(from.data(), 1, kBytes, stream);
  const Sample us =
      time_calls(4, 1, 10, stream, [&](std::size_t) { cuda::copy_async(to.data(), from.data(), kBytes, stream); });
  return 2e6 * static_cast<double>(kBytes) / us.median;
}

/// If users' files are to be raced, returns the options with the defaults of a race: one small size, a seed from the clock,
/// and only some built-in kernels to compare with. Throws Error (usage) if --in-process is given without exactly one file.
MeBenchOptions with_race_defaults(MeBenchOptions options) {
  if (options.in_process && options.files.size() != 1)
    throw Error(ErrorKind::usage, "C63-USAGE", "--in-process takes one --kernel");
  if (options.files.empty()) return options;
  const MeBenchOptions usual;
  if (options.sizes == usual.sizes) options.sizes = {"352x288"};
  if (options.seed == 0) options.seed = seed_by_clock();
  if (options.kernels.empty()) options.kernels = {"textbook", "packed", "tile", "fast", "eliminate"};
  return options;
}

/// Returns the command-line arguments for the process that races one file. The caller adds the file's path at the end.
std::string me_arguments(const MeBenchOptions& o) {
  const auto list = [](const auto& values) {
    std::string text;
    for (const auto& value : values) {
      if (!text.empty()) text += ',';
      if constexpr (std::is_same_v<std::decay_t<decltype(value)>, int>) {
        text += std::to_string(value);
      } else {
        text += value;
      }
    }
    return text;
  };
  std::string text = "me --sizes " + list(o.sizes) + " --contents " + list(o.contents) + " --jobs " + list(o.jobs) +
                     " --frames " + std::to_string(o.frames) + " --range " + std::to_string(o.range) + " --repeats " +
                     std::to_string(o.repeats) + " --device " + std::to_string(o.device);
  if (o.seed != 0) text += " --seed " + std::to_string(o.seed);
  if (o.inexact) text += " --inexact";
  if (!o.yuv.empty()) text += " --yuv " + tools::shell_quoted(o.yuv) + " --yuv-size " + tools::shell_quoted(o.yuv_size);
  return text + " --in-process --kernel ";
}

class MeBench {
 public:
  explicit MeBench(const MeBenchOptions& options)
      : options_(options), guard_(options.device), state_(pci_address_of_device()) {
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
                {"results", nlohmann::ordered_json::array()}};
    if (!options.in_process) figures_["copy_bytes_per_s"] = copy_rate(stream_);
    std::printf("%s, VABSDIFF4 ceiling %.2f T/s = %.1f T absolute differences/s\n", device.name.c_str(),
                ceiling_ * 1e-12, ceiling_ * 4e-12);
  }

  /// Races the users' files, each in its own process, and measures the built-in kernels.
  void run() {
    if (!options_.files.empty()) race_files_of_user();
    measure_videos();
    finish();
    if (!all_equal_)
      throw Error(ErrorKind::comparison, "C63-BENCH-DIFFERS", "the kernels find different vectors or SADs");
    require_all_right(figures_);
  }

  /// Judges and times one file in this process.
  void run_file() {
    const std::string& path = options_.files.front();
    tell("load and compile");
    const ScratchFolder folder("", "c63-race");
    const std::string host =
        cuda::has_host_part(path) ? race::compile_host_part(path, folder.path()).library : std::string();
    try {
      file_ = cuda::load_search(path, host);
    } catch (const Error& error) {
      if (error.id() != "C63-KERNEL-COMPILE") throw;
      std::fprintf(stderr, "%s\n", error.message().c_str());  // the message contains its own line breaks
      throw Error(error.kind(), error.id(), "it does not compile, for the reasons above", error.place());
    }
    const cuda::SearchFile& f = file_->file();
    nlohmann::ordered_json entrant = {{"name", f.name},
                                      {"file", path},
                                      {"compiler", f.compiler},
                                      {"compile_s", f.compile_s},
                                      {"messages", f.messages}};
    if (!f.compiler.empty()) std::printf("%s: %s, %.2f s\n", f.name.c_str(), f.compiler.c_str(), f.compile_s);
    if (!f.messages.empty()) std::printf("%s\n", f.messages.c_str());

    const std::uint32_t seed = options_.seed;
    entrant["seed"] = seed;
    race::Judge judge(options_.inexact);
    bool lost = false;
    const auto next = [&](const std::string& what) {
      figures_["so_far"] = race_json(judge.verdict());
      tell(what);
    };
    judge_on_device(judge, *file_, stream_, seed, options_.range, next, lost);
    if (judge.verdict().is_right) {
      tell("timed runs");
      (void)cudaProfilerStart();  // ncu of --counters counts from here on
      measure_videos();
      (void)cudaProfilerStop();
      tell("test cases, repeated after the timed runs");
      judge_on_device(judge, *file_, stream_, seed + 1, options_.range, next, lost);
      if (!all_equal_ && !options_.inexact) {
        judge.stopped("the timed runs give other vectors than the built-in kernels",
                      {"timed-runs-differ",
                       "right alone, wrong when calls follow each other at once: calls share memory, or a launch is in "
                       "another stream",
                       1});
      }
    }
    const race::Verdict verdict = judge.verdict();
    std::printf("%s: %s (seed %u)\n", f.name.c_str(), to_string(verdict).c_str(), seed);
    entrant.update(race_json(verdict));
    if (verdict.is_right) look_at(entrant);
    figures_["entrants"].push_back(entrant);
    figures_["stage"] = "done";
    figures_["gpu_state"] = state_.to_json();
    finish();
    std::fflush(stdout);
    if (lost) std::_Exit(tools::kExitComparison);  // no memory can be freed on a device that has failed
    require_all_right(figures_);
  }

 private:
  [[nodiscard]] bool wanted(std::string_view kernel) const {
    if (options_.in_process) return false;
    return options_.kernels.empty() ||
           std::find(options_.kernels.begin(), options_.kernels.end(), kernel) != options_.kernels.end();
  }

  /// Writes the name of the step that begins now to the file of results. The parent process reads it there if this
  /// process does not return.
  void tell(const std::string& what) {
    figures_["stage"] = what;
    write_figures_so_far(options_.json, figures_);
  }

  void finish() {
    figures_["all_equal"] = all_equal_;
    write_figures(options_.json, figures_);
    if (!options_.html.empty()) write_ladder_page(options_.html, dated(figures_), options_.cpu);
    if (const std::string text = state_.text(); !text.empty()) std::printf("%s\n", text.c_str());
  }

  void race_files_of_user() {
    for (const std::string& file : options_.files) {
      const RacedFile raced = race_in_own_process(me_arguments(options_), file, {.seconds = options_.limit_s});
      for (const auto& row : raced.figures.value("results", nlohmann::ordered_json::array()))
        figures_["results"].push_back(row);
      figures_["entrants"].push_back(raced.entrant);
      if (options_.counters && raced.entrant.value("verdict", "") == "right") add_counters(figures_["entrants"].back(), file);
      write_figures_so_far(options_.json, figures_);
    }
  }

  /// Adds to the entrant what the profiler ncu counts in a run of its kernel, or why it cannot count. Prints it, too.
  void add_counters(nlohmann::ordered_json& entrant, const std::string& file) const {
    const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
    entrant["counters"] = count_by_ncu(tools::shell_quoted(program) + " " + me_arguments(options_) + tools::shell_quoted(file));
    const auto& counters = entrant["counters"];
    std::printf("  counters: %s\n", (counters.contains("text") ? counters["text"] : counters["why_not"]).get<std::string>().c_str());
  }

  void measure_videos() {
    if (!options_.yuv.empty()) {
      const auto [width, height] = tools::require_size("--yuv-size", options_.yuv_size);
      measure(read_luma(options_.yuv, width, height, options_.frames), options_.yuv_size);
      return;
    }
    for (const std::string& text : options_.sizes) {
      const auto [width, height] = tools::require_size("--sizes", text);
      const Geometry geometry(width, height);
      for (const std::string& content : options_.contents) {
        measure(content == "noise" ? noise_video(geometry.padded_width(), geometry.padded_height(), options_.frames)
                                   : natural_video(geometry.padded_width(), geometry.padded_height(), options_.frames),
                text);
      }
    }
  }

  /// Adds to the entrant its kernel's instruction counts and resources, and the advice that follows from them.
  void look_at(nlohmann::ordered_json& entrant) {
    const cuda::SearchFile& f = file_->file();
    InstructionCounts counts;
    if (f.is_cubin) counts = count_sass(disassemble(f.image));
    if (counts.source.empty() && f.path.ends_with(".cu"))
      counts = count_ptx(cuda::compile_ptx(text_of(f.path), f.path, architecture()));
    if (counts.source.empty() && f.path.ends_with(".ptx"))
      counts = count_ptx(std::string(f.image.begin(), f.image.end()));
    const cuda::MotionKernelResources resources = file_->resources();
    const Advice advice = advise(counts, best_share_, resources.occupancy, file_->local_bytes());
    entrant["instructions"] = counts.to_json();
    entrant["bound"] = advice.bound;
    entrant["next_step"] = advice.next_step;
    entrant["registers"] = resources.registers;
    entrant["local_bytes"] = file_->local_bytes();
    entrant["shared_bytes"] = resources.shared_bytes;
    entrant["occupancy"] = resources.occupancy;
    std::printf(
        "  %d registers, %zu bytes of stack and spills, %zu bytes of shared memory, occupancy %.0f %%\n  %s\n  bound "
        "by %s\n  next: %s\n",
        resources.registers, file_->local_bytes(), resources.shared_bytes, 100 * resources.occupancy,
        counts.text().c_str(), advice.bound.c_str(), advice.next_step.c_str());
  }

  [[nodiscard]] int architecture() const {
    const cuda::DeviceInfo& device = cuda::require_device(options_.device);
    return device.compute_major * 10 + device.compute_minor;
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
    if (file_) {
      const auto exact = cuda::make_motion_search(cuda::MotionKernel::fast);
      exact->enqueue(resident.jobs(), stream_);
      expected = resident.results(stream_);
    }
    for (const cuda::MotionKernelInfo& info : cuda::motion_kernels()) {
      if (!wanted(info.name)) continue;
      const auto search = cuda::make_motion_search(info.kernel);
      if (info.kernel == cuda::MotionKernel::textbook && options_.files.empty()) {
        const std::span<const MotionJob> pairs = resident.jobs();
        report(std::string(info.name) + "+upload", size, video.name, 1, candidates, search->resources(),
               time_calls(pairs.size(), 1, std::min(options_.repeats, 10), stream_,
                          [&](std::size_t i) {
                            resident.upload_pair(i, stream_);
                            search->enqueue(pairs.subspan(i, 1), stream_);
                          }),
               true);
      }
      measure_search(*search, std::string(info.name), resident, video, size, candidates, expected);
    }
    if (file_) measure_search(*file_, file_->file().name, resident, video, size, candidates, expected);
  }

  void measure_search(cuda::MotionSearch& search, const std::string& name, ResidentVideo& resident,
                      const LumaVideo& video, const std::string& size, double candidates,
                      std::optional<std::vector<MotionField>>& expected) {
    const std::span<const MotionJob> pairs = resident.jobs();
    for (const int jobs : options_.jobs) {
      // Each call takes the next pairs of frames; after the last pair, the first follows.
      const auto frames = static_cast<std::size_t>(jobs);
      std::vector<MotionJob> call_jobs(frames);
      const auto enqueue = [&](std::size_t call) {
        for (std::size_t i = 0; i < frames; ++i) call_jobs[i] = pairs[(call * frames + i) % pairs.size()];
        search.enqueue(call_jobs, stream_);
      };
      resident.poison(stream_);
      constexpr int kCallsToChoose = 6;  // calls in which an automatic kernel measures and chooses
      for (int call = 0; call < kCallsToChoose; ++call) {
        enqueue(0);
        stream_.synchronize();
      }
      constexpr std::size_t kLeastCalls = 4;  // enough to make the time of a graph's start and end unimportant
      const std::size_t calls = std::max((pairs.size() + frames - 1) / frames, kLeastCalls);
      const Sample us = time_calls(calls, frames, options_.repeats, stream_, enqueue);
      state_.sample();
      const std::vector<MotionField> results = resident.results(stream_);
      if (!expected) expected = results;
      report(name, size, video.name, jobs, candidates, search.resources(), us, equal(results, *expected));
      if (file_) {
        const double more = more_sad(results, *expected);
        figures_["results"].back()["more_sad_percent"] = more;
        if (options_.inexact) std::printf("%-18s       SAD %.2f %% more than exact search\n", "", more);
      }
    }
  }

  void report(const std::string& kernel, const std::string& size, const std::string& content, int jobs,
              double candidates, const cuda::MotionKernelResources& resources, const Sample& us, bool is_equal) {
    const double rate = candidates / (us.median * 1e-6);
    const double share = rate * (kBlockSamples / 4) / ceiling_;
    all_equal_ = all_equal_ && is_equal;
    best_share_ = std::max(best_share_, share);
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
  GpuState state_;
  double ceiling_ = 0;
  double best_share_ = 0;  ///< best share of the ceiling in all rows
  bool all_equal_ = true;
  std::unique_ptr<cuda::FileSearch> file_;  ///< the user's kernel
  nlohmann::ordered_json figures_;
};

}  // namespace

tools::Subcommand me_bench() {
  return bench_command<MeBenchOptions>("me", "Measure the motion search kernels of the GPU, and race your own",
                                       [](const MeBenchOptions& given, const tools::Session&) {
                                         static_cast<void>(cuda::require_device(given.device));
                                         const MeBenchOptions options = with_race_defaults(given);
                                         if (options.in_process) std::setvbuf(stdout, nullptr, _IOLBF, 0);
                                         options.in_process ? MeBench(options).run_file() : MeBench(options).run();
                                       });
}

}  // namespace c63::bench
