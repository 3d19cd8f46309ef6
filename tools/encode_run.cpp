#include "encode_run.h"

#include <fmt/format.h>
#include <spdlog/logger.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "c63/error.h"
#include "common/counted.h"
#include "common/cuda_environment.h"
#include "common/digest.h"
#include "common/error_line.h"
#include "common/exit_code.h"
#include "common/median_keeper.h"
#include "common/notices.h"
#include "common/paths.h"
#include "common/report.h"
#include "common/trace_file.h"
#include "encode_outputs.h"
#include "encode_source.h"
#include "encode_target.h"
#include "segments/input_identity.h"
#include "segments/plan_file.h"
#include "segments/segment_record.h"

namespace c63::tools {
namespace {

/// One encode of the whole input.
struct Pass {
  EncodeTotals totals;
  std::vector<std::string> digests;  ///< of each frame, where asked for
};

/// The encode whose stream is kept.
struct KeptPass {
  Pass pass;
  std::optional<Error> side_fault;
  std::optional<KindBits> kinds;
};

class EncodeRun {
 public:
  EncodeRun(const Session& session, EncodeOptions options)
      : session_(session), options_(std::move(options)), notices_(session.log) {}

  int run();

 private:
  void check_command_line();
  [[nodiscard]] bool is_brief() const;
  [[nodiscard]] Error no_frames();
  void open_first_source();
  [[nodiscard]] bool prepare_segment();
  void keep_segment(EncodeOutputs& outputs, SegmentRecorder& recorder);
  void spool_input();
  [[nodiscard]] std::unique_ptr<FrameSource> open_source(bool warn);
  [[nodiscard]] Pass encode(const SelectedBackend& backend, EncodeOutputs* outputs,
                            SegmentRecorder* recorder = nullptr);
  using Judge = std::function<bool(const Pass&)>;
  /// Nothing where the judge does not take the stream; no file is left then.
  [[nodiscard]] std::optional<KeptPass> encode_and_keep(const SelectedBackend& backend, EncodeOutputs& outputs,
                                                        const Judge& takes);
  [[nodiscard]] KeptPass encode_to_target(const SelectedBackend& backend);
  [[nodiscard]] CpuComparison compare_with_cpu(const Pass& pass);
  void tell(const EncodeReport& report) const;

  const Session& session_;
  EncodeOptions options_;
  VideoFormat format_;
  Notices notices_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  std::uint64_t prefilter_bytes_ = 0;  // of --max-memory; the encoder has the rest
  SegmentedVideo video_;               // of segment_
  std::optional<Segment> segment_;     // where --segment asks for one
  bool first_pass_ = true;             // whose start-up is the program's
  std::optional<Spool> spool_;
  std::vector<TargetPass> target_passes_;
  std::optional<CappedPass> capped_pass_;  // what a pass is encoded with where GOPs are capped
  std::unique_ptr<FrameSource> first_source_;  // what told the format; the first pass reads it
};

void EncodeRun::check_command_line() {
  EncodeOptions& o = options_;
  settle_options(o, session_.common.threads);
  if (o.segment && o.output == "-") {
    throw Error(ErrorKind::usage, "C63-SEGMENT-OUTPUT", "a segment is written to a file, with its record beside it");
  }
  if (o.segment && o.target.target) {
    throw Error(ErrorKind::usage, "C63-SEGMENT-TARGET",
                "a target is of the whole video, and --segment encodes a part of it");
  }
  if (!o.segment && !o.segment_plan.empty()) {
    throw Error(ErrorKind::usage, "C63-USAGE", "--segment-plan goes with --segment");
  }
  if (o.source.path == "-" && (o.repeat > 1 || o.warmup > 0 || o.compare_cpu)) {
    throw Error(ErrorKind::usage, "C63-USAGE",
                "--repeat, --warmup and --compare-cpu read the input more than once, which stdin cannot be");
  }
  if (o.target.target && (o.repeat > 1 || o.warmup > 0)) {
    throw Error(ErrorKind::usage, "C63-USAGE", "--repeat and --warmup measure one quality, and a target tries several");
  }
  if (!o.target.target && (!o.target.stats.empty() || !o.target.spool.empty())) {
    throw Error(ErrorKind::usage, "C63-USAGE",
                "--stats and --spool are for a target: --bitrate, --size, --target-psnr or --target-ssim");
  }
  check_target_options(o.target);
  if (o.target.target && o.target.spool.empty() && !can_be_read_again(o.source.path)) {
    throw Error(
        ErrorKind::usage, "C63-TARGET-INPUT",
        "a target takes several passes, and this input cannot be read twice: give a file, or a folder to keep it in "
        "(--spool)",
        {.file = o.source.path == "-" ? "stdin" : o.source.path});
  }
  check_distinct_files({{"the input", o.source.path}},
                       {{"--output", o.output},
                        {"--recon", o.reconstruction},
                        {"--pred", o.prediction},
                        {"--csv", o.csv},
                        {"--json", o.json},
                        {"--stats-yuview", o.yuview},
                        {"--trace", o.trace},
                        {"--stats", o.target.stats},
                        {"--segment-plan", o.segment_plan},
                        {"the segment's record", o.segment ? record_path(o.output) : ""},
                        {"--log-file", session_.common.log.file}});
  check_apart_from_log({"--output", o.output});
  o.encoder.measurement.keep_reconstruction = o.verify || !o.reconstruction.empty();
  o.encoder.measurement.keep_prediction = !o.prediction.empty();
  o.encoder.measurement.keep_motion = !o.yuview.empty();
  if (o.target.target) {
    o.encoder.measurement.psnr = true;
    o.encoder.measurement.ssim = o.encoder.measurement.ssim || o.target.target->kind == Target::Kind::ssim_y;
  }
}

/// Whether the one run is over in less time than a GPU takes to open what a long one gains by: known before the input
/// is.
bool EncodeRun::is_brief() const {
  constexpr std::uintmax_t kMost = 256U << 20;
  std::error_code fault;
  const std::uintmax_t bytes = std::filesystem::file_size(options_.source.path, fault);  // a pipe has none
  return !fault && bytes <= kMost && options_.repeat == 1 && options_.warmup == 0;
}

std::unique_ptr<FrameSource> EncodeRun::open_source(bool warn) {
  const std::string name = options_.source.path == "-" ? "stdin" : options_.source.path;
  const auto tell = [this, name](const std::string& message) {
    // A stop request cuts a pipe anywhere; that is no fault of the input.
    if (!session_.stop.stop_requested()) notices_.warn(name + ": " + message);
  };
  EncodeSource source =
      open_encode_source(options_, session_.stop, warn ? tell : std::function<void(const std::string&)>());
  prefilter_bytes_ = source.bytes;
  if (!segment_) return std::move(source.frames);
  return clip_frames(std::move(source.frames), segment_->first, segment_->frames);
}

/// Finds out which frames are the segment's. False where it is there already.
bool EncodeRun::prepare_segment() {
  const CodingSettings& coding = options_.encoder.coding;
  video_.input = identify_input(options_.source.path);
  video_.settings = settings_of_record(coding, options_.first_frame, options_.max_frames, options_.prefilter);
  const auto make = [&] {
    const bool reads = coding.scene_cuts || !first_source_->frame_count();
    if (reads) notices_.begin();
    if (reads) session_.log->info("reading the whole input for where segments may begin");
    const auto progress = session_.progress(first_source_->frame_count(), format_.rate.value());
    SegmentPlan plan = plan_segments(*first_source_, coding, session_.stop, [&] {
      if (reads) progress->advance(0);
    });
    plan.seek_table = *options_.source.seek_table;
    return plan;
  };
  const auto is_stopped = [&] { return session_.stop.stop_requested(); };
  video_.plan = plan_from_file(options_.segment_plan, video_, make, is_stopped, options_.durability);
  if (is_stopped()) return false;
  if (video_.plan.frames == 0) throw no_frames();
  segment_ = cut_into_segments(video_.plan, coding.key_interval,
                               options_.segment->second)[static_cast<std::size_t>(options_.segment->first - 1)];
  const std::string what =
      segment_->frames == 0 ? fmt::format("segment {} of {}: no frames", segment_->number, segment_->of)
                            : fmt::format("segment {} of {}: frames {} to {} of {}", segment_->number, segment_->of,
                                          segment_->first, segment_->first + segment_->frames - 1, video_.plan.frames);
  const bool beside = !options_.reconstruction.empty() || !options_.prediction.empty() || !options_.csv.empty() ||
                      !options_.json.empty() || !options_.yuview.empty() || !options_.trace.empty();
  // What is there is not measured again: the next thing is to join it.
  constexpr MeasurementSettings measured{.psnr = false};
  std::string reason;
  if (!beside && find_whole_segment(options_.output, video_, *segment_, measured, reason)) {
    session_.summary->info("{}: there already, whole", what);
    return false;
  }
  notices_.info(what);
  session_.log->debug("coded now: {}", beside ? "files beside it are asked for" : reason);
  options_.source.seek_table = std::make_shared<SeekTable>(video_.plan.seek_table);
  first_source_ = open_source(!video_.plan.seek_table.sums.empty());  // of a table that does not fit, it warns
  return true;
}

Error EncodeRun::no_frames() {
  // A partial frame may tell why.
  const std::string why = notices_.held_warning();
  if (!why.empty()) return {ErrorKind::input, "C63-NO-FRAMES", why + ", and there is no other"};
  return {ErrorKind::input,
          "C63-NO-FRAMES",
          options_.first_frame > 0 ? fmt::format("no frame after the first {}", options_.first_frame)
                                   : "there is no whole frame",
          {.file = options_.source.path == "-" ? "stdin" : options_.source.path}};
}

void EncodeRun::open_first_source() {
  if (options_.segment) options_.source.seek_table = std::make_shared<SeekTable>();
  first_source_ = open_source(true);
  if (first_source_->frame_count() == 0) throw no_frames();
  format_ = first_source_->format();
  options_.encoder.coding.width = format_.width;
  options_.encoder.coding.height = format_.height;
  validate(options_.encoder);
  notices_.info(input_line(options_.source.path, format_, first_source_->frame_count()));
  for (const std::string& difference : differences_from_course(options_.encoder)) {
    notices_.info("not the course encoder's bytes: " + difference);
  }
  if (options_.prefilter) {
    notices_.info("not the course encoder's bytes: frames are smoothed first (" + name(*options_.prefilter) + ")");
  }
}

Pass EncodeRun::encode(const SelectedBackend& backend, EncodeOutputs* outputs, SegmentRecorder* recorder) {
  const auto source = first_source_ ? std::move(first_source_) : open_source(false);
  EncoderSettings settings = options_.encoder;
  settings.execution.limits.max_memory -= prefilter_bytes_;
  Encoder encoder = make_encoder(settings, backend, [this](const std::string& reason) {
    session_.log->warn("going on with the CPU: {}", reason);
  });
  if (capped_pass_) encoder.set_planner(planner_of(*capped_pass_));
  if (segment_) encoder.set_scene_starts(scene_starts_in(video_.plan, *segment_));
  notices_.begin();
  const auto progress = session_.progress(source->frame_count(), format_.rate.value());
  Pass pass;
  const auto sink = [&](EncodedFrame&& frame) {
    if (segment_) frame.index += segment_->first;
    if (recorder != nullptr) recorder->add(frame, options_.encoder);
    if (outputs != nullptr) outputs->write(frame, options_.encoder);
    if (options_.compare_cpu) pass.digests.push_back(md5(frame.bytes));
    pass.totals.add(frame, options_.encoder);
    progress->advance(frame.bytes.size());
    session_.log->debug("frame {}: {}, {} bytes", frame.index, frame.key ? "key" : "inter", frame.bytes.size());
  };
  const std::chrono::duration<double, std::milli> before = std::chrono::steady_clock::now() - started_;
  pass.totals.summary = encoder.encode(*source, sink, session_.stop);
  if (std::exchange(first_pass_, false)) pass.totals.summary.start_up_ms += before.count();
  // One pass may be too short for a GPU that all of them together are worth.
  const bool more_follow = options_.target.target || options_.repeat > 1 || options_.warmup > 0;
  if (backend.joining && more_follow && pass.totals.summary.elapsed_ms > backend.joining->worth().opening_ms) {
    backend.joining->begin();
  }
  progress->finish();
  return pass;
}

std::optional<KeptPass> EncodeRun::encode_and_keep(const SelectedBackend& backend, EncodeOutputs& outputs,
                                                   const Judge& takes) {
  // Only the run whose files are kept is traced.
  TraceFile trace(options_.trace, options_.durability);
  options_.encoder.measurement.trace = trace.sink();
  std::optional<SegmentRecorder> recorder;
  if (segment_) recorder.emplace(video_, *segment_);
  Pass pass;
  try {
    pass = encode(backend, &outputs, recorder ? &*recorder : nullptr);
  } catch (const Error& error) {
    if (segment_) throw;  // a part of one is of no use
    // Frames before a fault are whole and worth keeping, except where writing them is what failed.
    if (error.kind() == ErrorKind::output || outputs.frames() == 0) throw;
    outputs.commit();
    throw NotedError(error, counted(outputs.frames(), "frame") + " written");
  } catch (const std::exception&) {
    if (outputs.frames() > 0 && !segment_) outputs.commit();
    throw;
  }
  options_.encoder.measurement.trace = nullptr;
  if (segment_) {
    if (pass.totals.summary.stopped) {
      session_.log->info("the segment is not complete: nothing of it is kept");
    } else {
      keep_segment(outputs, *recorder);
    }
  } else {
    if (outputs.frames() == 0 && !pass.totals.summary.stopped) throw no_frames();
    // What a stop request has left is valid, and all there is.
    if (!pass.totals.summary.stopped && !takes(pass)) return std::nullopt;
    if (outputs.frames() > 0) outputs.commit();
  }
  trace.commit(*session_.log);
  return KeptPass{std::move(pass), outputs.side_fault(), outputs.kinds()};
}

void EncodeRun::spool_input() {
  spool_.emplace(options_.target.spool, *first_source_);
  first_source_.reset();
  options_.source.path = spool_->path();
  options_.source.format = SourceFormat::raw;
  options_.source.width = format_.width;
  options_.source.height = format_.height;
  options_.source.rate = format_.rate;
  options_.first_frame = 0;
  options_.max_frames = 0;
  options_.prefilter.reset();  // these frames are smoothed
}

KeptPass EncodeRun::encode_to_target(const SelectedBackend& backend) {
  TargetPasses passes(options_, *session_.log);
  const auto take = [&](const Pass& pass) {
    const bool done = passes.take(pass.totals, format_);
    target_passes_ = passes.passes();
    return done;
  };
  const auto prepare = [&] {
    options_.encoder.coding = passes.next();
    if (const auto* const own = passes.own_qualities()) capped_pass_ = {passes.next(), *own};
  };
  const bool direct = is_written_directly(options_.output);
  std::optional<EncodeOutputs> outputs;
  // What goes to a pipe cannot be taken back: passes for nothing find out how, and then it is written.
  for (bool found = false; direct && !found;) {
    if (!outputs) outputs.emplace(options_, format_);  // what cannot be written is known before anything is encoded
    prepare();
    const Pass pass = encode(backend, nullptr);
    found = pass.totals.summary.stopped || take(pass);
  }
  for (;;) {
    if (!direct) {
      outputs.emplace(options_, format_);
      prepare();
    }
    if (auto kept =
            encode_and_keep(backend, *outputs, direct ? Judge([](const Pass&) { return true; }) : Judge(take))) {
      return std::move(*kept);
    }
  }
}

void EncodeRun::keep_segment(EncodeOutputs& outputs, SegmentRecorder& recorder) {
  const SegmentRecord record = recorder.finish();
  outputs.commit();
  write_record(options_.output, record, options_.durability);
}

CpuComparison EncodeRun::compare_with_cpu(const Pass& pass) {
  const Pass cpu = encode(cpu_backend(), nullptr);
  CpuComparison comparison{cpu.totals.summary, cpu.digests == pass.digests};
  if (!comparison.identical) {
    const auto [a, b] = std::mismatch(pass.digests.begin(), pass.digests.end(), cpu.digests.begin(), cpu.digests.end());
    comparison.first_difference = a - pass.digests.begin();
  }
  return comparison;
}

void EncodeRun::tell(const EncodeReport& report) const {
  spdlog::logger& log = *session_.log;
  const EncodeTotals& totals = report.totals;
  log.info("{}", settings_line(totals.summary, options_.encoder));
  if (totals.summary.devices.size() > 1) log.info("{}", devices_line(totals.summary));
  log.info("{}", quality_line(totals, options_.encoder));
  if (options_.encoder.measurement.global_motion) log.info("{}", global_motion_line(totals.global_motion));
  log.info("{}", stages_line(totals));
  log.info("{}", limit_line(totals.summary));
  if (totals.summary.lanes == 1) log.info("{}", latency_line(totals));
  if (report.kinds) log.info("{}", kinds_line(*report.kinds));
  if (options_.timing) {
    for (const std::string& line : timing_table(totals)) log.info("{}", line);
  }
  if (options_.verify) log.info("verified: every frame decodes to the encoder's reconstruction");
  if (report.runs_frames_per_s.size() > 1) log.info("{}", runs_line(report.runs_frames_per_s));
  if (report.cpu) log.info("{}", comparison_line(totals, *report.cpu));
  session_.summary->info("{}", result_line(totals, format_));
}

int EncodeRun::run() {
  if (options_.list_devices) {
    std::string text;
    for (const std::string& line : list_devices()) text += line + "\n";
    write_stdout(text);
    return kExitDone;
  }
  check_command_line();
  options_.backend.queues = is_brief() ? 1 : queues_for(options_.encoder.coding);
  options_.backend.at_once = options_.compare_cpu;
  // A GPU's driver takes longer to start than anything here; the input is opened beside it.
  auto selecting = std::async(std::launch::async, [this] {
    return select_backend(options_.backend, [this](const std::string& note) { notices_.info(note); });
  });
  open_first_source();
  if (options_.segment && !prepare_segment()) return kExitDone;
  const SelectedBackend backend = selecting.get();
  const std::string input = options_.source.path;
  options_.target.input = input;
  if (options_.target.target && !can_be_read_again(input)) spool_input();
  std::vector<double> runs_frames_per_s;
  MedianKeeper<Pass> passes(static_cast<std::size_t>(options_.repeat));
  const auto add = [&](Pass&& pass) {
    runs_frames_per_s.push_back(frames_per_second(pass.totals.summary));
    passes.add(runs_frames_per_s.back(), std::move(pass));
  };
  std::optional<Error> side_fault;
  std::optional<KindBits> kinds;
  options_.count_bits = options_.count_bits || session_.log->should_log(spdlog::level::debug);
  {
    std::optional<KeptPass> kept;
    if (options_.target.target) {
      kept = encode_to_target(backend);
    } else {
      EncodeOutputs outputs(options_, format_);
      for (int i = 0; i < options_.warmup && !session_.stop.stop_requested(); ++i) (void)encode(backend, nullptr);
      kept = encode_and_keep(backend, outputs, [](const Pass&) { return true; });
    }
    add(std::move(kept->pass));
    side_fault = std::move(kept->side_fault);
    kinds = kept->kinds;
  }
  while (static_cast<int>(runs_frames_per_s.size()) < options_.repeat && !session_.stop.stop_requested()) {
    Pass pass = encode(backend, nullptr);
    if (!pass.totals.summary.stopped) add(std::move(pass));
  }
  const Pass& median = passes.median();
  EncodeReport report{.input = input, .format = format_, .settings = options_.encoder};
  report.totals = median.totals;
  report.kinds = kinds;
  report.target = options_.target.target;
  report.passes = target_passes_;
  report.gop_cap = options_.target.gop_cap;
  if (capped_pass_) report.own_qualities = capped_pass_->gops;
  report.runs_frames_per_s = std::move(runs_frames_per_s);
  if (options_.compare_cpu && !session_.stop.stop_requested()) {
    CpuComparison comparison = compare_with_cpu(median);
    if (!comparison.summary.stopped) report.cpu = std::move(comparison);
  }
  tell(report);
  if (!options_.json.empty()) write_json(options_.json, to_json(report), options_.durability);
  if (side_fault) throw NotedError(*side_fault, "the stream itself is complete");
  if (report.cpu && !report.cpu->identical) {
    throw Error(ErrorKind::comparison, "C63-BACKENDS-DIFFER", "the bytes differ from the CPU's",
                {.frame = report.cpu->first_difference});
  }
  return kExitDone;
}

}  // namespace

int run_encode(const Session& session, EncodeOptions options) { return EncodeRun(session, std::move(options)).run(); }

}  // namespace c63::tools
