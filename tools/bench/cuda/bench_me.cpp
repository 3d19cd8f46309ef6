// c63bench me: times the GPU's motion search kernels. They are compared with the rate of the instruction VABSDIFF4 (four
// absolute differences), measured in the same run. With --kernel, it also races kernels from users' files.

#include <cuda_profiler_api.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include "bench/cuda/kernels.h"
#include "bench/cuda/probes.h"
#include "bench/cuda/race_gpu.h"
#include "bench/race_files.h"
#include "bench/video.h"
#include "c63/cuda/devices.h"
#include "c63/error.h"
#include "c63/motion.h"
#include "codec/geometry.h"
#include "common/errors.h"
#include "common/process.h"
#include "common/values.h"
#include "cuda_me/kernels/file_search.h"
#include "cuda_me/kernels/motion.h"
#include "cuda_me/kernels/nvrtc.h"
#include "cuda_me/runtime/check.h"
#include "cuda_me/runtime/memory.h"
#include "cuda_me/runtime/needs.h"
#include "cuda_me/runtime/stream.h"
#include "files/scratch_folder.h"
#include "race/host_search.h"

namespace c63::bench {
namespace {

using cuda::MotionJob;

/// The frames of a video on the device. Each is searched in the one before it. Page-locked copies serve kernels that are timed
/// with their uploads.
class ResidentVideo : public DeviceJobs {
 public:
  ResidentVideo(const LumaVideo& video, int range, const cuda::Stream& stream) {
    const std::size_t samples = static_cast<std::size_t>(video.width) * video.height;
    for (const auto& frame : video.frames) {
      pinned_.emplace_back(samples);
      std::copy(frame.begin(), frame.end(), pinned_.back().data());
      device_.emplace_back(samples);
      cuda::copy_async(device_.back().data(), pinned_.back().data(), samples, stream);
    }
    stream.synchronize();
    for (std::size_t i = 1; i < device_.size(); ++i) add(device_[i].data(), device_[i - 1].data(), video.width, video.height, range);
  }

  /// Uploads both frames of job i, like a program that keeps no frames on the device.
  void upload_pair(std::size_t i, cudaStream_t stream) {
    for (std::size_t k = i; k < i + 2; ++k) {
      cuda::copy_async(device_[k].data(), pinned_[k].data(), pinned_[k].size(), stream);
    }
  }

 private:
  std::vector<cuda::PinnedBuffer<std::uint8_t>> pinned_;
  std::vector<cuda::DeviceBuffer<std::uint8_t>> device_;
};

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

/// If users' files are to be raced, returns the options with the defaults of a race: one small size, a seed from the clock,
/// and only some built-in kernels to compare with. Throws Error (usage) if --in-process is given without exactly one file.
Options with_race_defaults(Options options) {
  if (options.in_process && options.files.size() != 1) throw Error(ErrorKind::usage, "C63-USAGE", "--in-process takes one --kernel");
  if (!options.yuv.empty() && options.sizes.size() != 1) throw Error(ErrorKind::usage, "C63-USAGE", "--yuv needs its size in --sizes");
  if (options.files.empty()) return options;
  if (options.sizes.size() > 1) options.sizes = {"352x288"};
  options.seed_was_given = options.seed != 0;
  if (options.seed == 0 && options.in_process) options.seed = unknown_seed();
  if (options.kernels.empty()) options.kernels = {"textbook", "packed", "tile", "fast", "eliminate"};
  return options;
}

/// Returns the command-line arguments for the process that races one file. The caller adds the file's path at the end.
std::string me_arguments(const Options& o) {
  std::string text = fmt::format("me --sizes {} --contents {} --jobs {} --frames {} --range {} --repeats {} --device {}",
                                 fmt::join(o.sizes, ","), fmt::join(o.contents, ","), fmt::join(o.jobs, ","), o.frames, o.range, o.repeats,
                                 o.device);
  if (o.seed != 0) text += fmt::format(" --seed {}", o.seed);
  if (o.inexact) text += " --inexact";
  if (!o.yuv.empty()) text += " --yuv " + tools::shell_quoted(o.yuv);
  return text + " --in-process --kernel=";
}

/// Returns the kernels of c63, and after its first the steps of the course.
std::vector<cuda::MotionKernelInfo> built_in_kernels() {
  std::vector<cuda::MotionKernelInfo> kernels(cuda::motion_kernels().begin(), cuda::motion_kernels().end());
  kernels.insert(kernels.begin() + 1, steps().begin(), steps().end());
  return kernels;
}

class MeBench {
 public:
  explicit MeBench(const Options& options)
      : options_(options),
        guard_(options.device),
        ceiling_(measure_absdiff4_ceiling(stream_)),
        memory_rate_(measure_memory_ceiling(stream_)),
        report_("me", options,
                {{"size", "size", -10},
                 {"content", "content", -8},
                 {"kernel", "kernel", -18},
                 {"jobs", "jobs", 4},
                 {"us/median", "us/frame", 9, 2},
                 {"us/p10", "10 %", 9, 2},
                 {"us/p90", "90 %", 9, 2},
                 {"absdiff_per_s", "Tabs/s", 7, 2, 1e-12},
                 {"share_of_ceiling", "ceiling", 8, 1, 100, " %"},
                 {"registers", "regs", 4},
                 {"occupancy", "occ", 5, 0, 100, " %"},
                 {"equal", "equal", 5},
                 {"more_sad_percent", "more SAD", 8, 2, 1, " %"},
                 {"not_measured", "", -1},
                 {"note", "", -1}}) {
    const cuda::DeviceInfo& device = cuda::require_device(options.device);
    report_.about().update({{"device", device.name},
                            {"architecture", fmt::format("sm_{}", device.architecture)},
                            {"multiprocessors", device.multiprocessors},
                            {"driver", cuda::devices().driver_version},
                            {"runtime", cuda::devices().runtime_version},
                            {"range", options.range},
                            {"absdiff4_ceiling_per_s", ceiling_}});
    report_.about()["copy_bytes_per_s"] = memory_rate_;
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
    require_all_right(report_.about());
  }

  /// Judges and times one file in this process.
  void run_file() {
    const std::string& path = options_.files.front();
    const auto tell = [this](const std::string& stage, const Json& so_far) {
      report_.about()["stage"] = stage;
      report_.about()["so_far"] = so_far;
      report_.save();
    };
    tell("load and compile", Json::object({{"suspicions", Json::array()}}));
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
    if (!f.compiler.empty()) std::printf("%s: %s, %.2f s\n", f.name.c_str(), f.compiler.c_str(), f.compile_s);
    if (!f.messages.empty()) std::printf("%s\n", f.messages.c_str());
    bool lost = false;
    report_.about()["entrants"] = {run_race(
        options_, {{"name", f.name}, {"file", path}, {"compiler", f.compiler}, {"compile_s", f.compile_s}, {"messages", f.messages}},
        {.judge = [&](race::Judge& judge, std::uint32_t seed,
                      const auto& next) { judge_on_device(judge, *file_, stream_, seed, options_.range, next, lost); },
         .time =
             [&](race::Judge& judge) {
               judge_ = &judge;
               (void)cudaProfilerStart();  // ncu of --counters counts from here on
               measure_videos();
               (void)cudaProfilerStop();
             },
         .look = [&](Json& entrant) { look_at(entrant); },
         .tell = tell})};
    report_.about()["gpu_state"] = state_.to_json();
    finish();
    std::fflush(stdout);
    if (lost)
      std::_Exit(tools::exit_code(ErrorKind::comparison));  // no memory can be freed on a device that has failed
    require_all_right(report_.about());
  }

 private:
  [[nodiscard]] bool wanted(std::string_view kernel) const {
    if (options_.in_process) return false;
    return options_.kernels.empty() || std::ranges::find(options_.kernels, kernel) != options_.kernels.end();
  }

  void finish() {
    report_.about()["all_equal"] = all_equal_;
    report_.finish();
    if (const std::string text = state_.text(); !text.empty()) std::printf("%s\n", text.c_str());
  }

  void race_files_of_user() {
    const std::string arguments = me_arguments(options_);
    race_files(report_, options_, arguments, {.seconds = options_.limit_s},
               [&](Json& entrant, const std::string& file) {
                 if (!options_.counters || entrant.value("verdict", "") != "right") return;
                 const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
                 const std::string name = std::filesystem::path(file).filename().string() + ".ncu-rep";
                 const std::string report = (std::filesystem::path(options_.json).parent_path() / name).string();
                 const Json counters = count_by_ncu(tools::shell_quoted(program) + " " + arguments + tools::shell_quoted(file), report);
                 std::printf("  counters: %s\n",
                             counters.at(counters.contains("text") ? "text" : "why_not").get<std::string>().c_str());
                 if (counters.contains("report")) std::printf("  profile: %s (ncu-ui shows it)\n", report.c_str());
                 entrant["counters"] = counters;
               });
  }

  void measure_videos() {
    report_.print_titles();
    for (const std::string& text : options_.sizes) {
      const auto [width, height] = tools::require_size("--sizes", text);
      const Geometry geometry(width, height);
      if (!options_.yuv.empty()) {
        measure_on({options_.yuv.substr(options_.yuv.rfind('/') + 1), geometry,
                    read_frames(options_.yuv, width, height, options_.frames)},
                   text);
        continue;
      }
      const Geometry padded(geometry.padded_width(), geometry.padded_height());
      for (const std::string& content : options_.contents) {
        measure_on({content, padded,
                    generated_frames(*enum_from<Pattern>(content), padded.width(), padded.height(), options_.frames)},
                   text);
      }
    }
  }

  /// Adds to the entrant its kernel's instruction counts and resources, and the advice that follows from them.
  void look_at(Json& entrant) {
    const cuda::SearchFile& f = file_->file();
    Json counts;
    if (f.is_cubin) counts = count_sass(disassemble(f.image));
    if (counts.is_null() && f.path.ends_with(".cu"))
      counts =
          count_ptx(cuda::compile_ptx(text_of(f.path), f.path, cuda::require_device(options_.device).architecture));
    if (counts.is_null() && f.path.ends_with(".ptx"))
      counts = count_ptx(std::string(f.image.begin(), f.image.end()));
    const cuda::MotionKernelResources resources = file_->resources();
    const Advice advice = advise(counts, best_share_, resources.occupancy, file_->local_bytes());
    entrant.update({{"instructions", counts},
                    {"bound", advice.bound},
                    {"next_step", advice.next_step},
                    {"registers", resources.registers},
                    {"local_bytes", file_->local_bytes()},
                    {"shared_bytes", resources.shared_bytes},
                    {"occupancy", resources.occupancy}});
    std::printf(
        "  %d registers, %zu bytes of stack and spills, %zu bytes of shared memory, occupancy %.0f %%\n  %s\n  bound "
        "by %s\n  next: %s\n",
        resources.registers, file_->local_bytes(), resources.shared_bytes, 100 * resources.occupancy,
        text_of_counts(counts).c_str(), advice.bound.c_str(), advice.next_step.c_str());
  }

  void measure_on(const LumaVideo& video, const std::string& size) {
    ResidentVideo resident(video, options_.range, stream_);
    const double candidates = count_candidates(video.width, video.height, options_.range);
    std::optional<std::vector<MotionField>> expected;
    if (options_.verify) expected = search_on_cpu(video, options_.range);
    for (const cuda::MotionKernelInfo& kernel : built_in_kernels()) {
      if (!wanted(kernel.name)) continue;
      const auto search = kernel.make();
      if (kernel.name == "textbook" && options_.files.empty()) {
        const std::span<const MotionJob> pairs = resident.jobs();
        const auto upload_and_search = [&] {
          for (std::size_t i = 0; i < pairs.size(); ++i) {
            resident.upload_pair(i, stream_);
            search->enqueue(pairs.subspan(i, 1), stream_);
          }
        };
        const Sample seconds = measure(timed_on(stream_, upload_and_search), std::min(options_.repeats, 10));
        add_row(std::string(kernel.name) + "+upload", size, video.name, 1, candidates, search->resources(),
                seconds.times(1.0 / static_cast<double>(pairs.size())), true);
      }
      try {
        options_.files.empty() ? measure_search(*search, std::string(kernel.name), resident, video, size, candidates, expected)
                               : race_search(*search, std::string(kernel.name), resident, video, size);
      } catch (const Error& error) {
        if (error.id() != "C63-MOTION-SHARED") throw;
        report_.add(
            {{"kernel", kernel.name}, {"size", size}, {"content", video.name}, {"not_measured", "does not fit"}});
      }
    }
    for (const int architecture : options_.cards) {
      const cuda::PretendedCard card(architecture);
      for (const char* const kernel : {"fast", "eliminate"}) {
        if (!wanted(kernel)) continue;
        const auto search = cuda::make_motion_search(kernel);
        measure_search(*search, fmt::format("{} sm_{}", kernel, architecture), resident, video, size, candidates, expected);
      }
    }
    if (file_) race_search(*file_, file_->file().name, resident, video, size);
    state_.sample();
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
      const auto all_calls = [&] {
        for (std::size_t call = 0; call < calls; ++call) enqueue(call);
      };
      const Sample seconds = measure(timed_on(stream_, all_calls), options_.repeats);
      const std::vector<MotionField> results = resident.results(stream_);
      if (!expected) expected = results;
      add_row(name, size, video.name, jobs, candidates, search.resources(), seconds.times(1.0 / static_cast<double>(calls * frames)),
              equal(results, *expected));
    }
  }

  /// Times a search in a race: each round has planes that nobody knows before, and other addresses and sizes than the round before.
  /// All results are compared with exact search after the clock has stopped.
  void race_search(cuda::MotionSearch& search, const std::string& name, const ResidentVideo& resident, const LumaVideo& video,
                   const std::string& size) {
    const auto exact = cuda::make_motion_search("fast");
    const RaceClock clock;
    const double candidates = count_candidates(video.width, video.height, options_.range);
    for (const int jobs : options_.jobs) {
      const auto frames = static_cast<std::size_t>(jobs);
      constexpr std::size_t kLeastCalls = 4;  // enough to make the time of a graph's start and end unimportant
      const std::size_t calls = std::max((resident.jobs().size() + frames - 1) / frames, kLeastCalls);
      struct Set {
        FreshPairs pairs;
        cuda::GraphExec graph;
        double scale;  ///< seconds of a frame of the asked size in those of all frames
      };
      std::vector<Set> sets;
      for (const int longer : {0, 8, -8}) {
        Set& set = sets.emplace_back(Set{FreshPairs(video.width + longer, video.height - longer, options_.range, calls * frames), {}, 0});
        set.scale = candidates / std::max(1.0, count_candidates(video.width + longer, video.height - longer, options_.range)) /
                    static_cast<double>(calls * frames);
        const auto enqueue = [&](std::size_t call) { search.enqueue(std::span(set.pairs.jobs()).subspan(call * frames, frames), stream_); };
        set.pairs.refresh(resident.jobs(), options_.seed, stream_);
        constexpr int kCallsToChoose = 6;  // calls in which an automatic kernel measures and chooses
        for (int call = 0; call < kCallsToChoose; ++call) {
          enqueue(0);
          stream_.synchronize();
        }
        set.graph = cuda::GraphExec::capture(stream_, [&] {
          for (std::size_t call = 0; call < calls; ++call) enqueue(call);
        });
      }
      std::vector<MotionField> found;
      std::vector<MotionField> expected;
      bool is_equal = true;
      double fastest = INFINITY;
      const auto search_set = [&](const Set& set) {
        set.pairs.poison(stream_);
        cuda::check(cudaCtxResetPersistingL2Cache(), "cudaCtxResetPersistingL2Cache");
        cuda::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        return clock.time(set.graph, [&](const cuda::Stream& stream) { found = set.pairs.results(stream); }) * set.scale;
      };
      int round = 0;
      const auto run = [&] {
        const Set& set = sets[static_cast<std::size_t>(round) % sets.size()];
        const std::uint32_t seed = seed_of_round(options_.seed, ++round);
        set.pairs.refresh(resident.jobs(), seed, stream_);
        exact->enqueue(set.pairs.jobs(), stream_);
        expected = set.pairs.results(stream_);
        const double seconds = search_set(set);
        fastest = std::min(fastest, seconds);
        is_equal = equal(found, expected) && is_equal;
        if (judge_ != nullptr) judge_pair(set.pairs, seed, found, expected);
        return seconds;
      };
      const Sample seconds = measure(run, options_.repeats);
      if (judge_ != nullptr) {
        constexpr double kCacheIsFaster = 4;  // than the memory that the copies used
        judge_->check_times({.median = seconds.median,
                             .fastest = fastest,
                             .again = search_set(sets[static_cast<std::size_t>(round - 1) % sets.size()]),
                             .read = 2.0 * video.width * video.height / (kCacheIsFaster * memory_rate_),
                             .hardware = "GPU"});
      }
      add_row(name, size, video.name, jobs, candidates, search.resources(), seconds, is_equal,
              file_ ? std::optional(more_sad(found, expected)) : std::nullopt);
    }
  }

  /// Judges the first pair of a round with other results than exact search. If there is none, or if others are allowed, any pair.
  void judge_pair(const FreshPairs& pairs, std::uint32_t seed, const std::vector<MotionField>& found, const std::vector<MotionField>& expected) {
    std::size_t i = seed % found.size();
    for (std::size_t k = 0; k < found.size() && !options_.inexact; ++k) {
      if (found[k].vectors != expected[k].vectors || found[k].sads != expected[k].sads) i = k;
    }
    judge_->check(pairs.pair(i, stream_), {.results = {found[i].vectors, found[i].sads}});
  }

  void add_row(const std::string& kernel, const std::string& size, const std::string& content, int jobs, double candidates,
               const cuda::MotionKernelResources& resources, const Sample& seconds, bool is_equal, std::optional<double> more_sad = {}) {
    const double rate = candidates / seconds.median;
    const double share = rate * (kBlockSamples / 4) / ceiling_;
    all_equal_ = all_equal_ && (is_equal || file_);
    best_share_ = std::max(best_share_, share);
    Json row = {{"kernel", kernel},
                {"size", size},
                {"content", content},
                {"jobs", jobs},
                {"us", seconds.times(1e6)},
                {"candidates", candidates},
                {"absdiff_per_s", rate * kBlockSamples},
                {"share_of_ceiling", share},
                {"registers", resources.registers},
                {"shared_bytes", resources.shared_bytes},
                {"threads", resources.threads},
                {"occupancy", resources.occupancy},
                {"equal", is_equal}};
    if (more_sad) row["more_sad_percent"] = *more_sad;
    if (share > 1) row["note"] = "skips candidates";
    report_.add(std::move(row));
  }

  const Options& options_;
  cuda::DeviceGuard guard_;
  cuda::Stream stream_;
  GpuState state_;
  double ceiling_ = 0;
  double memory_rate_ = 0;  ///< bytes per second of copies
  double best_share_ = 0;  ///< best share of the ceiling in all rows
  bool all_equal_ = true;
  std::unique_ptr<cuda::FileSearch> file_;  ///< the user's kernel
  race::Judge* judge_ = nullptr;            ///< of the user's kernel
  Report report_;
};

}  // namespace

void bench_me(const Options& given) {
  static_cast<void>(cuda::require_device(given.device));
  const Options options = with_race_defaults(given);
  if (options.in_process) std::setvbuf(stdout, nullptr, _IOLBF, 0);
  options.in_process ? MeBench(options).run_file() : MeBench(options).run();
}

}  // namespace c63::bench
