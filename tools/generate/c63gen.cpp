// c63gen: makes video with known motion.

#include <fmt/format.h>
#include <spdlog/logger.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "c63/error.h"
#include "c63/thread_pool.h"
#include "common/command_line.h"
#include "common/errors.h"
#include "common/options.h"
#include "common/outputs.h"
#include "common/report.h"
#include "common/text.h"
#include "common/values.h"
#include "files/frame_writer.h"
#include "files/output_file.h"
#include "generate/sequence_generator.h"

namespace c63::tools {
namespace {

/// The command line of c63gen.
struct GenerateOptions {
  SequenceOptions sequence;
  std::string output;
  Durability durability = Durability::process;  ///< of all files that this program writes
  bool keep_partial = false;                    ///< after a stop, the written part replaces an older file
  std::string truth;  ///< file for the true motion; empty: none
};

constexpr double kMotionUnit = 256;  // units per sample
constexpr double kNoiseUnit = 16;    // units per grey level

/// Reads a number of at most 4096 in size and returns it in units of 1/`unit`. Returns nothing for anything else.
std::optional<int> units_from(std::string_view text, double unit) {
  const auto value = parse<double>(text, -4096, 4096);
  return value ? std::optional(static_cast<int>(std::lround(*value * unit))) : std::nullopt;
}

/// Reads a motion such as "3,-2" or "0.5,0", in samples.
std::optional<std::pair<int, int>> motion_from(const std::string& text) {
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos) return std::nullopt;
  const auto x = units_from(std::string_view(text).substr(0, comma), kMotionUnit);
  const auto y = units_from(std::string_view(text).substr(comma + 1), kMotionUnit);
  if (!x || !y) return std::nullopt;
  return std::pair{*x, *y};
}

/// Writes the true motion as CSV, frame by frame in order.
class TruthWriter {
 public:
  TruthWriter(const std::string& path, Durability durability, const SequenceGenerator& source)
      : file_(path, durability), source_(source), stars_(source.star_truth(0).has_value()) {
    file_.write(stars_ ? "frame,shift_x,shift_y,object_x,object_y,object_peak\n" : "frame,x,y,mv_x,mv_y\n");
  }

  void add(std::int64_t frame) {
    std::string rows;
    if (stars_) {
      const StarTruth truth = *source_.star_truth(frame);
      rows = fmt::format("{},{},{},{},{},{}\n", frame, samples(truth.shift.x), samples(truth.shift.y),
                         samples(truth.object.x), samples(truth.object.y), truth.object_peak);
    } else if (frame > 0) {
      const TrueMotion motion = source_.true_motion(frame);
      for (std::size_t i = 0; i < motion.vectors.size(); ++i) {
        const auto columns = static_cast<std::size_t>(motion.columns);
        const TrueVector& vector = motion.vectors[i];
        rows += fmt::format("{},{},{},", frame, i % columns * 8, i / columns * 8);
        rows += vector.known ? fmt::format("{},{}\n", samples(vector.x), samples(vector.y)) : ",\n";
      }
    }
    file_.write(rows);
  }

  void commit() { file_.commit(); }
  [[nodiscard]] std::string commit_part() { return file_.commit_part(); }

 private:
  // Exact, because a multiple of 1/256 has eight binary digits after the point.
  static double samples(std::int64_t units) { return static_cast<double>(units) / kMotionUnit; }

  OutputFile file_;
  const SequenceGenerator& source_;
  bool stars_;
};

void add_generator_options(CLI::App& app, GenerateOptions& o) {
  const auto noise_from = [](const std::string& text) { return units_from(text, kNoiseUnit); };
  add_options(
      app, "Output",
      {{"-o,--output,output", &o.output, "FILE", "Video to write: Y4M if the name ends in .y4m, else raw YUV 4:2:0; - is stdout", {.daily = true}},
       {"--truth", &o.truth, "FILE",
        "Write the true motion as CSV: a row per 8x8 block with the vector, in samples, to its place in the previous frame "
        "(empty if hidden); for pattern stars a row per frame with the shift of the sky and the place of the object",
        {.daily = true}}});
  add_options(
      app, "Picture",
      {{"--pattern", choice(o.sequence.pattern, values_of<Pattern>()), "NAME", "What the video shows", {.daily = true}},
       {"-w,--width", &o.sequence.width, "N", "Width", {.daily = true}},
       {"-h,--height", &o.sequence.height, "N", "Height", {.daily = true}},
       {"-f,--frames", &o.sequence.frames, "N", "Number of frames", {.daily = true, .least = 0}},
       {"--fps", into(o.sequence.rate, frame_rate_from), "RATE",
        "Frames per second for the header of a .y4m file; without this option 25", {.example = "30000/1001"}},
       {"--mv", into(o.sequence.motion, motion_from), "X,Y",
        "Motion per frame, right and down, in samples (default: by pattern)", {.daily = true, .example = "3,-2"}},
       {"--seed", &o.sequence.seed, "N", "Seed of the random numbers; another seed makes another picture", {.daily = true}},
       {"--noise", into(o.sequence.noise, noise_from), "SD",
        "Standard deviation of the sensor noise in grey levels (default: by pattern)", {.example = "1.25"}}});
  add_output_options(app, o.durability, &o.keep_partial);
  add_limit_options(app, o.sequence.limits);
}

/// Writes the video and, if requested, its true motion. Returns the exit code.
int run_generate(const Session& session, const GenerateOptions& o) {
  if (o.output.empty() && o.truth.empty()) throw Error(ErrorKind::usage, "C63-USAGE", "no output file was given");
  check_distinct_files({}, {{"the output", o.output}, {"--truth", o.truth}, {"--log-file", session.common.log.file}});
  check_apart_from_log({"the output", o.output});
  SequenceGenerator source(o.sequence);
  const auto writer = o.output.empty() ? make_null_writer() : open_frame_writer(o.output, o.sequence.rate, o.durability);
  SideOutput<TruthWriter> truth(o.truth.empty() ? nullptr : std::make_unique<TruthWriter>(o.truth, o.durability, source));

  const auto start = std::chrono::steady_clock::now();
  const auto progress = session.progress(o.sequence.frames, o.sequence.rate.value());
  const std::size_t bytes = frame_bytes(o.sequence.width, o.sequence.height);
  ThreadPool pool(session.common.threads);
  const auto at_once = static_cast<std::int64_t>(std::clamp<std::uint64_t>(
      o.sequence.limits.max_memory / bytes, 1, 2 * static_cast<std::uint64_t>(pool.concurrency())));
  std::vector<std::vector<std::uint8_t>> frames(static_cast<std::size_t>(std::min(at_once, o.sequence.frames)),
                                                std::vector<std::uint8_t>(bytes));
  std::int64_t done = 0;
  while (done < o.sequence.frames && !session.stop.stop_requested()) {
    const std::int64_t count = std::min(at_once, o.sequence.frames - done);
    pool.execute([&] {
      parallel_for(count, [&](std::int64_t i) { (void)source.read(done + i, frames[static_cast<std::size_t>(i)]); });
    });
    for (std::int64_t i = 0; i < count; ++i, ++done) {
      writer->write(o.sequence.width, o.sequence.height, frames[static_cast<std::size_t>(i)]);
      truth.use([&](TruthWriter& rows) { rows.add(done); });
      progress->advance(bytes);
    }
  }
  const bool stopped = done < o.sequence.frames;
  if (stopped && !o.keep_partial) {
    if (done > 0) (void)commit_stopped(*writer, o.output, false, *session.log);
    if (done > 0) truth.commit_part();
  } else {
    writer->commit();
    truth.commit();
  }
  progress->finish();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  session.summary->info("{}generated {} of {}x{} {} in {:.2f} s ({:.1f} fps)", stopped ? stopped_text(done, o.sequence.frames) + ": " : "",
                        counted(done, "frame"), o.sequence.width, o.sequence.height, name(o.sequence.pattern), seconds,
                        seconds > 0 ? static_cast<double>(done) / seconds : 0);
  if (truth.fault()) throw Error(*truth.fault());
  return kExitDone;
}

}  // namespace
}  // namespace c63::tools

int main(int argc, char** argv) {
  c63::tools::GenerateOptions options;
  return c63::tools::run_main(
      argc, argv,
      {.name = "c63gen",
       .description = "Make a video with known motion: the same bytes on every machine.",
       .add_options = [&](CLI::App& app) { c63::tools::add_generator_options(app, options); },
       .run = [&](const c63::tools::Session& session) { return c63::tools::run_generate(session, options); },
       .examples = {{"c63gen --pattern pan --mv 3,-2 -w 352 -h 288 -f 30 --truth motion.csv -o pan_352x288.yuv",
                     "Make a video that moves by a known vector, and write the true motion to a file"},
                    {"c63gen -w 1920 -h 1080 -f 60 -o natural.y4m", "Make a natural-looking video for measurements"}}});
}
