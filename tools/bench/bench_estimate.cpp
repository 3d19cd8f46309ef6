// c63bench estimate: motion estimators side by side, c63's and those of other programs, on videos of known motion. The
// others are reached from a script in Python, so that nothing has to be linked; what a machine lacks is named.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "bench/bench.h"
#include "c63/error.h"
#include "c63/motion_search.h"
#include "c63/picture.h"
#include "common/process.h"
#include "common/report.h"
#include "common/values.h"
#include "files/scratch_folder.h"
#include "generate/sequence_generator.h"
#if defined(C63_HAVE_CUDA)
#include "c63/cuda/devices.h"
#endif

namespace c63::tools::estimate_files {
// Made from tools/bench/estimate.py during the build.
extern const std::string_view script;
}  // namespace c63::tools::estimate_files

namespace c63::bench {
namespace {

constexpr int kBlock = 8;

/// A vector for each block of each frame after the first, in samples; the true ones are NAN if they are not known.
using BlockField = std::vector<std::array<float, 2>>;

struct Clip {
  std::string name;
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> luma;  ///< frame after frame
  BlockField truth;

  [[nodiscard]] std::size_t frame_size() const {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  }
  [[nodiscard]] std::size_t pairs() const { return luma.size() / frame_size() - 1; }
  [[nodiscard]] std::size_t blocks() const { return frame_size() / kBlock / kBlock; }
  [[nodiscard]] ConstPlaneView frame(std::size_t index) const {
    return {luma.data() + index * frame_size(), width, height, width};
  }
};

Clip make_clip(const std::string& pattern, int width, int height, int frames) {
  constexpr int kSample = 256;  // units of vectors
  SequenceOptions options{.pattern = *enum_from<Pattern>(pattern), .width = width, .height = height, .frames = frames};
  if (pattern == "pan") options.motion = std::pair(5 * kSample, -3 * kSample);
  SequenceGenerator generator(options);
  Clip clip{pattern, width, height, {}, {}};
  std::vector<std::uint8_t> frame(frame_bytes(width, height));
  for (int i = 0; i < frames; ++i) {
    static_cast<void>(generator.read(i, frame));
    clip.luma.insert(clip.luma.end(), frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(clip.frame_size()));
    if (i == 0) continue;
    for (const TrueVector& v : generator.true_motion(i).vectors) {
      const auto samples = [&](std::int32_t value) { return v.known ? static_cast<float>(value) / kSample : NAN; };
      clip.truth.push_back({samples(v.x), samples(v.y)});
    }
  }
  return clip;
}

/// What was measured of one estimator on one clip.
struct Measured {
  std::string estimator;
  BlockField field;  ///< of the last frames, if there are fewer than the clip has
  Sample seconds;
  double cpu_seconds = 0;
};

/// The quality of a field. SADs are those of a block. An error is the distance from a vector to the true one, in samples.
struct Quality {
  double mean_sad = 0;
  double mean_error = 0;
  double median_error = 0;
  double share_near = 0;  ///< of vectors less than half a sample from the truth
};

double sad_of_vector(const Clip& clip, std::size_t pair, int x, int y, std::array<float, 2> vector) {
  const auto moved = [](int own, float by, int side) {
    return std::clamp(own + static_cast<int>(std::lround(by)), 0, side - kBlock);
  };
  const int from_x = moved(x, vector[0], clip.width);
  const int from_y = moved(y, vector[1], clip.height);
  int sad = 0;
  for (int i = 0; i < kBlock; ++i) {
    const std::uint8_t* const a = clip.frame(pair + 1).row(y + i) + x;
    const std::uint8_t* const b = clip.frame(pair).row(from_y + i) + from_x;
    for (int j = 0; j < kBlock; ++j) sad += std::abs(a[j] - b[j]);
  }
  return sad;
}

Quality quality_of(const Clip& clip, const BlockField& field) {
  const std::size_t first = clip.truth.size() - field.size();
  const auto columns = static_cast<std::size_t>(clip.width / kBlock);
  Quality quality;
  std::vector<double> errors;
  for (std::size_t i = 0; i < field.size(); ++i) {
    const std::size_t block = (first + i) % clip.blocks();
    quality.mean_sad += sad_of_vector(clip, (first + i) / clip.blocks(), kBlock * static_cast<int>(block % columns),
                                      kBlock * static_cast<int>(block / columns), field[i]);
    const auto& truth = clip.truth[first + i];
    if (!std::isnan(truth[0]))
      errors.push_back(std::hypot(field[i][0] - truth[0], field[i][1] - truth[1]));
  }
  quality.mean_sad /= static_cast<double>(field.size());
  if (errors.empty()) return quality;
  for (const double error : errors) {
    quality.mean_error += error / static_cast<double>(errors.size());
    quality.share_near += error < 0.5 ? 1.0 / static_cast<double>(errors.size()) : 0;
  }
  quality.median_error = summarize(std::move(errors)).median;
  return quality;
}

Measured measure_c63(const Clip& clip, int range, int repeats) {
  std::vector<MotionPair> pairs;
  for (std::size_t i = 0; i < clip.pairs(); ++i) pairs.push_back({clip.frame(i + 1), clip.frame(i)});
  std::vector<MotionVector> vectors(clip.truth.size());
  PlaneSearcher searcher({.range = range});
  std::vector<double> cpu;
  const Sample seconds = measure(timed([&] {
                                   const std::clock_t begin = std::clock();
                                   searcher.estimate(pairs, {.vectors = vectors.data()});
                                   cpu.push_back(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
                                 }),
                                 repeats);
  Measured measured{.estimator = "c63, CPU", .field = {}, .seconds = seconds, .cpu_seconds = summarize(cpu).median};
  for (const MotionVector v : vectors) measured.field.push_back({static_cast<float>(v.x), static_cast<float>(v.y)});
  return measured;
}

/// A search of true motion that is measured.
struct FineEstimator {
  const char* name;
  FineMotionSettings settings;
};

std::vector<FineEstimator> fine_estimators(int range) {
  return {{"c63, quarter samples", {.range = range, .fraction = 4}},
          {"c63, smooth", {.range = range, .fraction = kFineUnits, .smooth = 4}},
          {"c63, smooth, range 512", {.range = 512, .fraction = kFineUnits, .smooth = 4}}};
}

Measured measure_fine(const Clip& clip, const FineEstimator& estimator, int repeats, bool on_gpu) {
  std::vector<MotionPair> pairs;
  for (std::size_t i = 0; i < clip.pairs(); ++i) pairs.push_back({clip.frame(i + 1), clip.frame(i)});
  std::vector<FineVector> vectors(clip.truth.size());
  const MotionResults results{.fine = vectors.data()};
  Measured measured;
  measured.estimator = std::string(estimator.name) + (on_gpu ? ", GPU, frames on the device" : ", CPU");
#if defined(C63_HAVE_CUDA)
  if (on_gpu) measured.seconds = time_fine_search(pairs, estimator.settings, results, repeats);
#endif
  if (!on_gpu) {
    FineSearcher searcher(estimator.settings);
    std::vector<double> cpu;
    measured.seconds = measure(timed([&] {
                                 const std::clock_t begin = std::clock();
                                 searcher.estimate(pairs, results);
                                 cpu.push_back(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
                               }),
                               repeats);
    measured.cpu_seconds = summarize(cpu).median;
  }
  for (const FineVector v : vectors) measured.field.push_back({static_cast<float>(v.x) / kFineUnits, static_cast<float>(v.y) / kFineUnits});
  return measured;
}

void write_bytes(const std::string& path, std::span<const std::uint8_t> bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file) throw Error(ErrorKind::output, "C63-WRITE", "cannot be written", {.file = path});
}

BlockField read_field(const std::string& path, std::size_t vectors) {
  BlockField field(vectors);
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(field.data()), static_cast<std::streamsize>(sizeof(field[0]) * vectors));
  if (!file) throw Error(ErrorKind::internal, "C63-BENCH-ESTIMATE", "the script wrote too few vectors", {.file = path});
  return field;
}

/// Runs the script for a group of estimators, and returns what it measured. If the script fails, or says that an estimator
/// is missing on this machine, stores the reason in absent[group].
std::vector<Measured> run_script(const Clip& clip, const std::string& group, const Options& options,
                                 const ScratchFolder& folder, Json& absent) {
  std::string command = tools::shell_quoted(options.python);
  for (const std::string& word :
       {folder.file("estimate.py"), folder.file("luma"), std::to_string(clip.width), std::to_string(clip.height),
        std::to_string(clip.pairs() + 1), std::to_string(options.range), std::to_string(options.repeats), folder.path(),
        group}) {
    command += ' ' + tools::shell_quoted(word);
  }
  const tools::ProcessResult result = tools::run_process(command, "", folder.file("lines"), folder.path());
  if (result.exit_code != 0) {
    std::string last = result.error_output;
    while (!last.empty() && last.back() == '\n') last.pop_back();
    absent[group] =
        options.python + " ended with " + std::to_string(result.exit_code) + ": " + last.substr(last.rfind('\n') + 1);
  }
  std::vector<Measured> measured;
  std::ifstream lines(folder.file("lines"));
  for (std::string line; std::getline(lines, line);) {
    const Json found = Json::parse(line);
    if (found.contains("absent")) {
      absent[group] = found["absent"];
      continue;
    }
    measured.push_back({.estimator = found["estimator"],
                        .field = read_field(found["file"], found["pairs"].get<std::size_t>() * clip.blocks()),
                        .seconds = {found["seconds"], found["spread"][0], found["spread"][1]},
                        .cpu_seconds = found["cpu_seconds"]});
  }
  return measured;
}

}  // namespace

void bench_estimate(const Options& options) {
  const auto [width, height] = tools::require_size("--size", options.size);
  if (width % kBlock != 0 || height % kBlock != 0) {
    throw Error(ErrorKind::usage, "C63-USAGE", "--size " + options.size + ": both sides must be multiples of 8");
  }
  for (const std::string& group : options.only) {
    if (group == "opencv" || group == "ffmpeg" || group == "gpu" || group == "nvidia") continue;
    throw Error(ErrorKind::usage, "C63-USAGE", "--only " + group + ": there are opencv, ffmpeg, gpu and nvidia");
  }
  Report report("estimate", options, {{"clip", "clip", -8}, {"estimator", "estimator", -50}, {"frames_per_s/median", "frames/s", 9, 1},
                                      {"mean_sad", "SAD", 7, 1}, {"sad_of_exact", "of exact", 8, 3}, {"mean_error_samples", "error", 6, 2},
                                      {"share_within_half_a_sample", "within 1/2", 10, 1, 100, " %"}});
  const tools::Machine machine = tools::this_machine();
  report.about().update({{"size", options.size},
                         {"frames", options.frames},
                         {"range", options.range},
                         {"repeats", options.repeats},
                         {"cpu", machine.cpu},
                         {"logical_cpus", machine.logical_cpus},
                         {"system", machine.system},
                         {"not_measured", Json::object()}});
  report.print_titles();
  const ScratchFolder folder("", "c63bench-estimate");
  const std::string_view script = tools::estimate_files::script;
  write_bytes(folder.file("estimate.py"), {reinterpret_cast<const std::uint8_t*>(script.data()), script.size()});
  Json& absent = report.about()["not_measured"];
#if defined(C63_HAVE_CUDA)
  const bool has_gpu = cuda::devices().state == cuda::DeviceState::usable;
  if (!has_gpu) absent["c63 on a GPU"] = cuda::devices().reason;
#else
  constexpr bool has_gpu = false;
#endif
  for (const std::string pattern : {"pan", "zoom", "objects"}) {
    const Clip clip = make_clip(pattern, width, height, options.frames);
    write_bytes(folder.file("luma"), clip.luma);
    std::vector<Measured> all{measure_c63(clip, options.range, options.repeats)};
    for (const FineEstimator& estimator : fine_estimators(options.range)) {
      all.push_back(measure_fine(clip, estimator, options.repeats, false));
      if (!has_gpu) continue;
      all.push_back(measure_fine(clip, estimator, options.repeats, true));
    }
    for (const std::string& group : options.only) {
      for (Measured& each : run_script(clip, group, options, folder, absent)) all.push_back(std::move(each));
    }
    const double exact = quality_of(clip, all[0].field).mean_sad;
    for (const Measured& each : all) {
      const Quality quality = quality_of(clip, each.field);
      const auto pairs = static_cast<double>(clip.pairs());
      report.add({{"clip", pattern},
                  {"estimator", each.estimator},
                  {"frames_per_s", each.seconds.rate(pairs)},
                  {"cpu_seconds_per_frame", each.cpu_seconds / pairs},
                  {"mean_sad", quality.mean_sad},
                  {"sad_of_exact", quality.mean_sad / exact},
                  {"mean_error_samples", quality.mean_error},
                  {"median_error_samples", quality.median_error},
                  {"share_within_half_a_sample", quality.share_near}});
    }
  }
  for (const auto& [group, why] : absent.items()) std::printf("not measured: %s: %s\n", group.c_str(), why.get<std::string>().c_str());
  report.finish();
}

}  // namespace c63::bench
