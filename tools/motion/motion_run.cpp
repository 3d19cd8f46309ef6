#include "motion/motion_run.h"

#include <fmt/format.h>
#include <spdlog/logger.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "c63/error.h"
#include "c63/frame_source.h"
#include "common/errors.h"
#include "common/options.h"
#include "common/outputs.h"
#include "common/report.h"
#include "common/values.h"
#include "common/video_input.h"
#include "io/input_file.h"
#include "motion/film_run.h"
#include "motion/motion_outputs.h"
#include "motion/motion_stream.h"

namespace c63::tools {
namespace {

/// Returns the output's name. If the user gives a format but no name, it is "-", standard output. Throws Error (usage) if the
/// format needs a file.
std::string output_of(const MotionOptions& o) {
  if (!o.output.empty() || o.format.empty()) return o.output;
  if (o.format == "png" || o.format == "html" || o.format == "flo") {
    throw Error(ErrorKind::usage, "C63-USAGE", "--format " + o.format + " needs a file to write (-o)");
  }
  return "-";
}

std::string format_of(const MotionOptions& o) {
  if (!o.format.empty() || o.output.empty()) return o.format;
  for (const char* extension : {"csv", "json", "png", "html", "npz", "flo"}) {
    if (o.output.ends_with(std::string(".") + extension)) return extension;
  }
  if (o.output.ends_with(".ppm")) return "png";
  throw Error(ErrorKind::usage, "C63-USAGE", "name the format of " + o.output + " with --format: yuview, csv, json, png, html, npz or flo");
}

std::unique_ptr<FrameSource> open_source(const Session& session, const MotionOptions& o, const MotionFrame* first) {
  if (o.source.empty()) return nullptr;
  SourceOptions source{.path = o.source, .limits = o.limits, .stop = session.stop};
  source.warn = [&session, &o](const std::string& text) { session.log->warn("{}: {}", o.source, text); };
  if (first != nullptr) {
    source.width = first->blocks.width;
    source.height = first->blocks.height;
  }
  return open_video(source);
}

}  // namespace

void add_options(CLI::App& app, MotionOptions& o) {
  add_options(
      app, "Motion",
      {{"input", &o.input, "FILE",
        "c63 stream to show, or another video (here called film) to search: raw YUV 4:2:0, Y4M, or anything FFmpeg decodes; "
        "- is stdin",
        {.daily = true}},
       {"-o,--output", &o.output, "FILE", "File to write; without --format its name gives the format; - is stdout", {.daily = true}},
       {"--format", &o.format, "FORMAT", "What to write in addition to the summary",
        {.daily = true, .choices = {"yuview", "csv", "json", "png", "html", "npz", "flo"}}},
       {"--overlay", &o.overlay, "PICTURE", "Picture under the arrows and colours: recon (the reconstruction) or pred (the prediction)",
        {.choices = {"recon", "pred"}}},
       {"--frame", &o.frame, "N", "Number of the frame to draw; without this option the first that has vectors", {.daily = true, .least = 0}},
       {"--type", &o.types, "LIST", "What to show: mv (arrows), sad, bits (both as colours); one picture for each, side by side",
        {.choices = {"mv", "sad", "bits"}, .standard = "mv,sad,bits", .delimiter = ','}},
       {"--scale", &o.scale, "N", "Pixels of the picture for each sample of the video; 0: automatic", {.least = 0, .most = 16}},
       {"--seek", &o.first_frame, "N", "Skip this many frames at the start", {.least = 0}},
       {"-f,--frames", &o.max_frames, "N", "Read no more frames than this; 0: all", {.daily = true, .least = 0}},
       {"--source", &o.source, "FILE", "The video that was encoded: SADs compare with it instead of the reconstruction", {.daily = true}},
       {"--beside", &o.beside, "FILE", "A second stream of the same video, shown next to the first on an HTML page"},
       {"--truth", &o.truth, "FILE",
        "File with the true motion, from c63gen --truth; prints the endpoint error (distance from the true vectors)", {.daily = true}}});
  add_film_options(app, o);
  add_output_options(app, o.durability, &o.keep_partial);
  add_limit_options(app, o.limits);
}

namespace {

/// What was shown of a stream.
struct StreamShown {
  MotionSummary summary;
  std::int64_t frames = 0;
  int width = 0;
  int height = 0;
};

/// Passes the requested frames of a stream to the output.
StreamShown show_stream(const Session& session, const MotionOptions& o, std::unique_ptr<InputFile> file, const MotionTruth* truth,
                        MotionOutput* output) {
  const std::string path = file->name();
  // A raw source does not know its size, so it is taken from the first frame of the stream.
  std::unique_ptr<FrameSource> source;
  if (!o.source.empty()) {
    MotionStream beginning(std::make_unique<InputFile>(path, session.stop), nullptr, o.limits);
    source = open_source(session, o, beginning.next());
  }
  MotionStream stream(std::move(file), std::move(source), o.limits);
  if (output != nullptr) stream.set_reserve([output](int width, int height) { return output->memory(width, height); });
  const auto progress = session.progress(std::nullopt, 25);
  StreamShown shown;
  std::int64_t taken = 0;
  std::int64_t frames = 0;
  while (!session.stop.stop_requested() && (o.max_frames == 0 || taken < o.max_frames)) {
    const MotionFrame* const frame = stream.next();
    if (frame == nullptr) {
      if (truth != nullptr && frames > 0) truth->check_length(frames, true);
      break;
    }
    if (frames == 0 && !blocks_line_up(frame->blocks.width)) {
      session.log->info(
          "width {} is not a multiple of 16: blocks are shown on the sheared picture that the codec codes",
          frame->blocks.width);
    }
    frames = frame->index + 1;
    if (truth != nullptr) truth->check_length(frames, false);
    shown.width = frame->blocks.width;
    shown.height = frame->blocks.height;
    if (frame->index < o.first_frame) {
      if (output != nullptr) output->pass(*frame);
      continue;
    }
    shown.frames = ++taken;
    shown.summary.add(*frame, truth);
    if (output != nullptr) output->add(*frame, truth);
    progress->advance(0);
  }
  progress->finish();
  if (frames == 0 && !session.stop.stop_requested()) throw Error(ErrorKind::input, "C63-STREAM-EMPTY", "the stream is empty", {.file = path});
  if (taken == 0 && !session.stop.stop_requested()) {
    throw Error(ErrorKind::input, "C63-NO-FRAMES", "no frame after the first " + std::to_string(o.first_frame), {.file = path});
  }
  return shown;
}

void check_stream_options(const MotionOptions& o) {
  const MotionOptions plain;
  const bool is_plain = o.range == plain.range && o.distance == plain.distance && o.zero_bias == plain.zero_bias && !o.fine() && !o.second &&
                        !o.quarters && !o.codec_vectors && o.codec_list.empty() && o.backend == plain.backend && !o.device;
  if (is_plain && o.format != "npz" && o.format != "flo") return;
  throw Error(ErrorKind::usage, "C63-USAGE",
              "this option or format is for films, but the input is a c63 stream; --search searches its pictures like "
              "those of a film");
}

/// Shows a second stream next to the first. Returns the summary of the second.
MotionSummary show_beside(const Session& session, const MotionOptions& o, const StreamShown& first, MotionOutput& output) {
  output.end_stream(first.summary, o.beside);
  const StreamShown second = show_stream(session, o, std::make_unique<InputFile>(o.beside, session.stop), nullptr, &output);
  if (session.stop.stop_requested()) return second.summary;
  if (second.width != first.width || second.height != first.height) {
    throw Error(ErrorKind::comparison, "C63-CMP-SIZE",
                fmt::format("{} has pictures of {}x{}, {} of {}x{}", o.input, first.width, first.height, o.beside, second.width,
                            second.height));
  }
  return second.summary;
}

int show_motion(const Session& session, const MotionOptions& given) {
  MotionOptions o = given;
  if (o.input.empty()) throw Error(ErrorKind::usage, "C63-USAGE", "no stream was given");
  o.format = format_of(given);
  o.output = output_of(o);
  auto file = std::make_unique<InputFile>(o.input, session.stop);
  const bool film = o.search || !is_stream(*file, o.input);
  if (film) {
    check_film_options(o);
    std::erase(o.types, "bits");
  } else {
    check_stream_options(o);
  }
  if (!o.beside.empty() && o.format != "html")
    throw Error(ErrorKind::usage, "C63-USAGE", "--beside needs --format html");
  if (!o.source.empty() && (o.input == "-" || o.beside == "-")) {
    throw Error(ErrorKind::usage, "C63-USAGE", "--source reads the stream twice, but stdin can be read only once");
  }
  check_distinct_files({{"the stream", o.input}, {"--beside", o.beside}, {"--source", o.source}, {"--truth", o.truth}},
                       {{"--output", o.output}, {"--codec-list", o.codec_list}, {"--log-file", session.common.log.file}});
  std::optional<MotionTruth> truth;
  if (!o.truth.empty()) {
    truth.emplace(o.truth, o.limits.max_memory / 2, session.stop);
    o.limits.max_memory -= truth->memory();
  }

  std::unique_ptr<MotionOutput> output;
  StreamShown shown;
  if (film) {
    OpenedFilm opened = open_film(session, o, std::move(file));
    output = make_motion_output(o, opened.source.get());
    shown.summary = show_film(session, o, std::move(opened), truth ? &*truth : nullptr, output.get());
    shown.frames = shown.summary.frames();
  } else {
    output = make_motion_output(o, nullptr);
    shown = show_stream(session, o, std::move(file), truth ? &*truth : nullptr, output.get());
  }
  if (session.stop.stop_requested() && shown.frames == 0) {
    session.summary->info("stopped before the first frame: nothing is written");
    return kExitDone;  // the caller returns the signal's exit code
  }
  const MotionSummary summary = o.beside.empty() || session.stop.stop_requested() ? shown.summary : show_beside(session, o, shown, *output);
  const bool stopped = session.stop.stop_requested();
  if (output && stopped) output->set_stopped({o.output, o.keep_partial || o.input == "-", session.log});
  if (output) output->finish(summary);
  if (stopped) session.summary->info("{}", stopped_text(shown.frames, {}));
  if (output && !stopped && o.output != "-") session.log->info("wrote {}", o.output);
  // Messages must not go to standard output if the data go there.
  if (o.output == "-" || o.codec_list == "-" || session.common.quiet) {
    session.log->debug("{}", shown.summary.text());
  } else {
    write_stdout(shown.summary.text());
  }
  return kExitDone;
}

}  // namespace

int run_motion(const Session& session, const MotionOptions& given) {
  try {
    return show_motion(session, given);
  } catch (const Error&) {
    // A stop also ends the wait for a pipe, which then seems to be too short.
    if (!session.stop.stop_requested()) throw;
    session.summary->info("stopped before the end: nothing more is written");
    return kExitDone;  // the caller returns the signal's exit code
  }
}

}  // namespace c63::tools
