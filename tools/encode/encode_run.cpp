#include "encode/encode_program.h"

#include <fmt/format.h>
#include <spdlog/logger.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <future>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "c63/device_choice.h"
#include "c63/error.h"
#include "c63/user_search.h"
#include "common/backends.h"
#include "common/digest.h"
#include "common/errors.h"
#include "common/log.h"
#include "common/outputs.h"
#include "common/report.h"
#include "common/text.h"
#include "common/trace_file.h"
#include "common/video_input.h"
#include "encode/encode_outputs.h"
#include "encode/encode_target.h"
#include "io/source_parts.h"
#include "segments/plan_file.h"
#include "segments/segment_record.h"

namespace c63::tools {

EncodeSource open_encode_source(const EncodeOptions& options, std::stop_token stop,
                                const std::function<void(const std::string&)>& warn) {
  SourceOptions source = options.source;
  source.stop = stop;
  source.warn = warn;
  EncodeSource opened;
  opened.frames = adapt(open_video(source), {.first = options.first_frame,
                                             .count = options.max_frames > 0 ? options.max_frames : -1,
                                             .stop = std::move(stop)});
  if (options.prefilter) {
    auto smoothed =
        std::make_unique<PrefilterSource>(std::move(opened.frames), *options.prefilter, source.limits.max_memory / 2);
    opened.bytes = smoothed->memory();
    opened.frames = std::move(smoothed);
  }
  return opened;
}

SegmentPlan plan_input(const Session& session, const EncodeOptions& options, FrameSource& source) {
  const bool reads = options.encoder.coding.scene_cuts || !source.frame_count();
  if (reads) session.log->info("reading the whole input to find where segments may begin");
  const auto progress = session.progress(source.expected_frame_count(), source.format().rate.value());
  SegmentPlan plan = plan_segments(source, options.encoder.coding, session.stop, [&] {
    if (reads) progress->advance(0);
  });
  plan.seek_table = *options.source.seek_table;
  return plan;
}

namespace {

/// One encode of the whole input, and the files that it writes. The files get their final names only if the pass is kept.
struct Pass {
  CodingSettings coding;
  std::unique_ptr<EncodeOutputs> outputs;  ///< null if nothing is written
  std::unique_ptr<TraceFile> trace;        ///< set with the outputs
  EncodeTotals totals;
  std::vector<std::string> digests;  ///< MD5 of each frame, for --compare-cpu
};

class EncodeProgram {
 public:
  EncodeProgram(const Session& session, EncodeOptions options)
      : session_(session), options_(std::move(options)), notices_(session.log) {}

  int run();

 private:
  [[nodiscard]] bool is_brief() const;
  [[nodiscard]] Error no_frames();
  void open_first_source();
  [[nodiscard]] bool prepare_segment();
  void keep_segment(EncodeOutputs& outputs, SegmentRecorder& recorder);
  void spool_input();
  [[nodiscard]] std::unique_ptr<FrameSource> open_source(bool warn);
  [[nodiscard]] Pass open_pass();
  void encode(const SelectedBackend& backend, Pass& pass, SegmentRecorder* recorder = nullptr);
  [[nodiscard]] Pass encode_and_keep(const SelectedBackend& backend);
  /// Returns nothing if a stop request came before any pass could be kept. Then an older output file stays.
  [[nodiscard]] std::optional<Pass> encode_to_target(const SelectedBackend& backend);
  void keep(Pass& pass);
  /// Completes the files of an encode that was stopped.
  void commit_stopped_part(EncodeOutputs& outputs);
  /// Estimates how long the CPU will need for all passes, in ms. Empty if the input's length is unknown.
  [[nodiscard]] std::optional<double> cpu_ms() const;
  [[nodiscard]] CpuComparison compare_with_cpu(const Pass& pass);

  const Session& session_;
  EncodeOptions options_;
  VideoFormat format_;
  Notices notices_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  std::uint64_t prefilter_bytes_ = 0;  // part of --max-memory that the prefilter uses; the encoder may use the rest
  SegmentedVideo video_;               // the video that segment_ is a part of
  std::optional<Segment> segment_;     // set with --segment
  bool first_pass_ = true;             // the first pass: its start-up time includes the program's
  std::optional<Spool> spool_;
  std::vector<TargetPass> target_passes_;
  std::optional<Error> stats_fault_;  // the statistics file of the target's passes could not be written
  bool stopped_search_ = false;  // the search for the target was stopped; the best pass so far is kept
  bool live_ = false;                          // the input is live, such as a pipe from a camera
  std::string written_;                        // the stream's file; after a stop its name may differ from --output
  std::optional<std::int64_t> frame_count_;    // frames of the input, if known
  std::unique_ptr<FrameSource> first_source_;  // opened to learn the format; the first pass reads it
};

/// Returns true if the encode will probably end before a GPU's second hardware queue saves time (ask_for_queues()). The size
/// of the input file decides, because the input is not open yet. Pipes count as long.
bool EncodeProgram::is_brief() const {
  constexpr std::uintmax_t kMost = 256U << 20;
  std::error_code fault;
  const std::uintmax_t bytes = std::filesystem::file_size(options_.source.path, fault);  // fails for a pipe
  return !fault && bytes <= kMost;
}

std::unique_ptr<FrameSource> EncodeProgram::open_source(bool warn) {
  const std::string name = options_.source.path == "-" ? "stdin" : options_.source.path;
  const auto tell = [this, name](const std::string& message) {
    // After a stop request, a pipe may end in the middle of a frame. That needs no warning.
    if (!session_.stop.stop_requested()) notices_.warn(name + ": " + message);
  };
  EncodeSource source =
      open_encode_source(options_, session_.stop, warn ? tell : std::function<void(const std::string&)>());
  prefilter_bytes_ = source.bytes;
  if (!segment_) return std::move(source.frames);
  return clip_frames(std::move(source.frames), segment_->first, segment_->frames);
}

/// Finds the frames of the segment. Returns false if nothing is to be encoded, because the segment is complete already
/// or a stop was requested.
bool EncodeProgram::prepare_segment() {
  const CodingSettings& coding = options_.encoder.coding;
  video_.input = identify_input(options_.source.path);
  video_.settings = settings_of_record(options_);
  const auto make = [&] {
    if (coding.scene_cuts || !first_source_->frame_count()) notices_.begin();
    return plan_input(session_, options_, *first_source_);
  };
  const auto is_stopped = [&] { return session_.stop.stop_requested(); };
  video_.plan = plan_from_file(options_.segment_plan, video_, *first_source_, make, is_stopped, options_.durability);
  if (is_stopped()) return false;
  if (video_.plan.frames == 0) throw no_frames();
  segment_ = cut_segment(video_.plan, coding.key_interval, options_.segment->first, options_.segment->second);
  const std::string what =
      segment_->frames == 0 ? fmt::format("segment {} of {}: no frames", segment_->number, segment_->of)
                            : fmt::format("segment {} of {}: frames {} to {} of {}", segment_->number, segment_->of,
                                          segment_->first, segment_->first + segment_->frames - 1, video_.plan.frames);
  const bool beside = !options_.reconstruction.empty() || !options_.prediction.empty() || !options_.csv.empty() ||
                      !options_.json.empty() || !options_.yuview.empty() || !options_.trace.empty();
  // A complete segment is kept even if PSNR was not measured in it, because joining does not need PSNR.
  constexpr MeasurementSettings measured{.psnr = false};
  std::string reason;
  if (!beside && find_whole_segment(options_.output, video_, *segment_, measured, reason)) {
    session_.summary->info("{}: the file is complete already, and is not encoded again", what);
    return false;
  }
  notices_.info(what);
  session_.log->debug("encoding the segment: {}", beside ? "other output files were requested" : reason);
  options_.source.seek_table = std::make_shared<SeekTable>(video_.plan.seek_table);
  first_source_ = open_source(!video_.plan.seek_table.sums.empty());  // warns if the seek table does not fit the input
  return true;
}

Error EncodeProgram::no_frames() {
  // If a warning is held, for example about a partial frame, it may say why there are no frames.
  const std::string why = notices_.held_warning();
  if (!why.empty()) return {ErrorKind::input, "C63-NO-FRAMES", why + "; there is no whole frame"};
  return {ErrorKind::input,
          "C63-NO-FRAMES",
          options_.first_frame > 0 ? fmt::format("the input has no frame after the first {}", options_.first_frame)
                                   : "the input has no whole frame",
          {.file = options_.source.path == "-" ? "stdin" : options_.source.path}};
}

void EncodeProgram::open_first_source() {
  if (options_.segment) options_.source.seek_table = std::make_shared<SeekTable>();
  first_source_ = open_source(true);
  frame_count_ = first_source_->frame_count();
  live_ = first_source_->live();
  if (frame_count_ == 0) throw no_frames();
  format_ = first_source_->format();
  take_format(options_.encoder, format_);
  validate(options_.encoder);
  notices_.info(input_line(options_.source.path, format_, frame_count_));
  for (const std::string& difference : differences_from_course(options_.encoder)) {
    notices_.info("the bytes differ from the course encoder's: " + difference);
  }
  if (const auto& own = options_.encoder.coding.user_search) {
    notices_.info("vectors come from " + own->name + ": the bytes are the course encoder's only if it finds the same vectors as exact search");
  }
  if (options_.prefilter) {
    notices_.info("the bytes differ from the course encoder's: frames are smoothed first (" +
                  name(*options_.prefilter) + ")");
  }
}

/// Opens the files of a pass.
Pass EncodeProgram::open_pass() {
  const std::uint64_t max_memory = options_.encoder.execution.limits.max_memory;
  Pass pass;
  pass.coding = options_.encoder.coding;
  pass.outputs = std::make_unique<EncodeOutputs>(options_, format_);
  pass.trace = std::make_unique<TraceFile>(options_.trace, writing_of(options_), max_memory);
  return pass;
}

void EncodeProgram::encode(const SelectedBackend& backend, Pass& pass, SegmentRecorder* recorder) {
  const auto source = first_source_ ? std::move(first_source_) : open_source(false);
  EncoderSettings settings = options_.encoder;
  settings.execution.limits.max_memory -= prefilter_bytes_;
  if (pass.trace) settings.measurement.trace = pass.trace->sink();
  Encoder encoder = make_encoder(settings, backend, [this](const std::string& reason) {
    session_.log->warn("continuing on the CPU: {}", reason);
  });
  encoder.set_on_drain([this](std::int64_t frames) {
    session_.log->warn("stopping: {} that were read will still be encoded; a second signal drops them",
                       counted(frames, "frame"));
  });
  if (segment_) encoder.set_scene_starts(scene_starts_in(video_.plan, *segment_));
  notices_.begin();
  const auto progress = session_.progress(source->expected_frame_count(), format_.rate.value());
  const auto sink = [&](EncodedFrame&& frame) {
    if (segment_) frame.index += segment_->first;
    if (recorder != nullptr) recorder->add(frame, options_.encoder);
    if (pass.outputs) pass.outputs->write(frame, options_.encoder);
    if (options_.compare_cpu) pass.digests.push_back(md5(frame.bytes));
    pass.totals.add(frame, options_.encoder);
    progress->advance(frame.bytes.size());
    session_.log->debug("frame {}: {}, {} bytes", frame.index, frame.key ? "key" : "inter", frame.bytes.size());
  };
  const std::chrono::duration<double, std::milli> before = std::chrono::steady_clock::now() - started_;
  // A part of a segment is useless. So is a part of a pass that may not be kept.
  const bool keeps_part = pass.outputs && !segment_ && !options_.target.target;
  pass.totals.summary = encoder.encode(*source, sink, session_.stop, keeps_part ? session_.drop : session_.stop);
  if (std::exchange(first_pass_, false)) pass.totals.summary.start_up_ms += before.count();
  progress->finish();
}

Pass EncodeProgram::encode_and_keep(const SelectedBackend& backend) {
  Pass pass = open_pass();
  EncodeOutputs& outputs = *pass.outputs;
  std::optional<SegmentRecorder> recorder;
  if (segment_) recorder.emplace(video_, *segment_);
  try {
    encode(backend, pass, recorder ? &*recorder : nullptr);
  } catch (const Error& error) {
    if (segment_) throw;  // a part of a segment is useless
    // The frames before an error are complete, so they are kept, unless writing them was what failed.
    if (error.kind() == ErrorKind::output || outputs.frames() == 0) throw;
    outputs.commit();
    throw NotedError(error, counted(outputs.frames(), "frame") + " written");
  } catch (const std::exception&) {
    if (outputs.frames() > 0 && !segment_) outputs.commit();
    throw;
  }
  if (segment_) {
    if (pass.totals.summary.stopped) {
      session_.log->info("the segment is not complete, so nothing is written");
    } else {
      keep_segment(outputs, *recorder);
    }
  } else {
    const bool stopped = pass.totals.summary.stopped;
    if (outputs.frames() == 0 && !stopped) throw no_frames();
    if (outputs.frames() > 0) stopped ? commit_stopped_part(outputs) : outputs.commit();
  }
  pass.trace->commit(*session_.log);
  return pass;
}

void EncodeProgram::commit_stopped_part(EncodeOutputs& outputs) {
  written_ = commit_stopped(outputs, options_.output, options_.keep_partial || live_, *session_.log);
}

void EncodeProgram::spool_input() {
  spool_.emplace(options_.target.spool, *first_source_, session_.stop);
  if (spool_->frames() == 0 && !session_.stop.stop_requested()) throw no_frames();
  first_source_.reset();
  options_.source.path = spool_->path();
  options_.source.format = SourceFormat::raw;
  options_.source.width = format_.width;
  options_.source.height = format_.height;
  options_.source.rate = format_.rate;
  options_.first_frame = 0;
  options_.max_frames = 0;
  options_.prefilter.reset();  // the spooled frames are filtered already
}

void EncodeProgram::keep(Pass& pass) {
  options_.encoder.coding = pass.coding;
  pass.outputs->commit();
  pass.trace->commit(*session_.log);
}

/// Makes passes until the search ends. Each is written under temporary names, until a better one takes its place. If a
/// stop or an error ends the search, the best pass is kept if it keeps the target's limits. If none does, an older output
/// file stays.
std::optional<Pass> EncodeProgram::encode_to_target(const SelectedBackend& backend) {
  TargetPasses passes(options_, format_, *session_.log);
  const bool any_may_do = options_.target.target->is_size();
  std::optional<Pass> best;
  try {
    for (bool done = false; !done;) {
      options_.encoder.coding = passes.next();
      Pass pass = open_pass();
      encode(backend, pass);
      stopped_search_ = pass.totals.summary.stopped;
      if (stopped_search_) break;
      if (pass.outputs->frames() == 0) throw no_frames();
      done = passes.take(pass.totals, format_);
      if (passes.is_best()) best = std::move(pass);
    }
  } catch (const Error& error) {
    if (!best || !any_may_do) throw;
    keep(*best);
    throw NotedError(error, "the best earlier pass was written");
  }
  target_passes_ = passes.passes();
  if (!best || (stopped_search_ && !any_may_do)) return std::nullopt;
  keep(*best);
  stats_fault_ = passes.side_fault();
  return best;
}

void EncodeProgram::keep_segment(EncodeOutputs& outputs, SegmentRecorder& recorder) {
  const SegmentRecord record = recorder.finish();
  outputs.commit();
  write_record(options_.output, record, options_.durability);
}

std::optional<double> EncodeProgram::cpu_ms() const {
  constexpr double kPassesToTarget = 4;
  const std::optional<double> ms =
      cpu_ms_to_encode(options_.encoder.coding, segment_ ? segment_->frames : frame_count_, options_.encoder.execution.threads);
  return ms && options_.target.target ? *ms * kPassesToTarget : ms;
}

CpuComparison EncodeProgram::compare_with_cpu(const Pass& pass) {
  Pass cpu;
  encode(cpu_backend(), cpu);
  CpuComparison comparison{cpu.totals.summary, cpu.digests == pass.digests};
  if (!comparison.identical) {
    const auto [a, b] = std::mismatch(pass.digests.begin(), pass.digests.end(), cpu.digests.begin(), cpu.digests.end());
    comparison.first_difference = a - pass.digests.begin();
  }
  return comparison;
}

int EncodeProgram::run() {
  if (options_.list_devices) {
    std::string text;
    for (const std::string& line : list_devices()) text += line + "\n";
    write_stdout(text);
    return kExitDone;
  }
  settle_encode(options_, session_.common);
  written_ = options_.output;
  options_.backend.queues = is_brief() ? 1 : queues_for(options_.encoder.coding);
  options_.backend.at_once = options_.compare_cpu;
  const bool on_gpu = options_.hwaccel == "cuda";  // the GPU that decodes also encodes
  if (on_gpu && options_.backend.names == std::vector<std::string>{"auto"}) options_.backend.names = {"cuda"};
  const auto select = [this](std::optional<double> cpu_ms) {
    return select_backend(options_.backend, cpu_ms, [this](const std::string& note) { session_.log->debug(note); });
  };
  // Starting a GPU's driver takes longer than everything else before the encode, so the input is opened meanwhile. "auto"
  // decides when the length is known.
  const bool waits_for_length = decides_by_length(options_.backend);
  std::future<SelectedBackend> selecting;
  if (!waits_for_length) selecting = std::async(std::launch::async, select, std::nullopt);
  if (on_gpu) {
    selecting.wait();
    options_.source.device = open_film_device();
  }
  open_first_source();
  if (options_.segment && !prepare_segment()) return kExitDone;
  const SelectedBackend backend = waits_for_length ? select(cpu_ms()) : selecting.get();
  const std::string input = options_.source.path;
  options_.target.input = input;
  if (options_.target.target && !can_be_read_again(input)) {
    spool_input();
    if (session_.stop.stop_requested()) {
      session_.summary->info("stopped while the input was read: nothing is written");
      return kExitDone;
    }
  }
  options_.count_bits = options_.count_bits || session_.log->should_log(spdlog::level::debug);
  const auto kept = options_.target.target ? encode_to_target(backend) : std::optional(encode_and_keep(backend));
  if (!kept) {
    session_.summary->info("stopped before a pass met the target: nothing is written");
    return kExitDone;  // the caller returns the signal's exit code
  }
  EncodeReport report{.input = input, .format = format_, .settings = options_.encoder};
  report.totals = kept->totals;
  report.kinds = kept->outputs->kinds();
  report.target = options_.target.target;
  report.passes = target_passes_;
  if (options_.compare_cpu && !session_.stop.stop_requested()) {
    CpuComparison comparison = compare_with_cpu(*kept);
    if (!comparison.summary.stopped) report.cpu = std::move(comparison);
  }
  log_result(session_, options_, report, frame_count_, stopped_search_);
  const bool is_part = written_ != options_.output;
  if (!options_.json.empty()) write_json(options_.json, to_json(report), options_.durability, is_part);
  const std::optional<Error> fault = kept->outputs->side_fault();
  if (fault || stats_fault_) throw NotedError(fault ? *fault : *stats_fault_, "the stream itself is complete");
  if (report.cpu && !report.cpu->identical) {
    throw Error(ErrorKind::comparison, "C63-BACKENDS-DIFFER", "the bytes differ from the CPU's",
                {.frame = report.cpu->first_difference});
  }
  return kExitDone;
}

}  // namespace

int run_encode(const Session& session, EncodeOptions options) { return EncodeProgram(session, std::move(options)).run(); }

}  // namespace c63::tools
