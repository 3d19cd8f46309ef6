#include "mpi/cluster_job.h"

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "c63/error.h"
#include "c63/thread_pool.h"
#include "common/backends.h"
#include "common/options.h"
#include "common/outputs.h"
#include "common/report.h"
#include "common/values.h"
#include "encode/encode_program.h"
#include "segments/plan_file.h"

namespace c63::tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr int kMostSegmentsChosen = 1024;

/// The arguments that the functions below share when they prepare a rank.
struct Preparation {
  ClusterJob& job;
  const Session& session;
  Communicator& ranks;

  [[nodiscard]] EncodeOptions& options() const { return job.options.encode; }
};

/// Returns the number of threads for this rank: `asked_for`, if it is not 0. Otherwise the ranks of a machine share its CPUs
/// equally, unless each was bound to some of them.
int choose_threads(int asked_for, const Communicator& ranks) {
  if (asked_for > 0) return asked_for;
  const unsigned mine = this_machine().logical_cpus;
  const bool bound = mine < static_cast<unsigned>(::sysconf(_SC_NPROCESSORS_ONLN));
  return static_cast<int>(std::max(1U, bound ? mine : mine / static_cast<unsigned>(ranks.local_size())));
}

void choose_backend(const Preparation& p) {
  EncodeOptions& o = p.options();
  p.job.threads = choose_threads(o.encoder.execution.threads, p.ranks);
  o.encoder.execution.pool = std::make_shared<ThreadPool>(p.job.threads);
  o.encoder.execution.threads = 0;  // use the pool's threads
  o.backend.sharer = p.ranks.local_rank();
  o.backend.queues = queues_for(o.encoder.coding);
  p.job.backend = select_backend(o.backend, {}, [&](const std::string& note) { p.session.log->info("{}", note); });
}

SegmentPlan make_plan(const Preparation& p) {
  EncodeOptions reading = p.options();
  reading.source.seek_table = std::make_shared<SeekTable>();
  return plan_input(p.session, reading, *open_encode_source(reading, p.session.stop, {}).frames);
}

SegmentPlan find_plan(const Preparation& p, const FrameSource& source) {
  const EncodeOptions& o = p.options();
  const auto is_stopped = [&] { return p.session.stop.stop_requested(); };
  SegmentPlan plan = plan_from_file(
      o.segment_plan, p.job.video, source, [&] { return make_plan(p); }, is_stopped, o.durability);
  if (plan.frames == 0 && !is_stopped()) {
    throw Error(ErrorKind::input, "C63-NO-FRAMES", "the input has no whole frame", {.file = o.source.path});
  }
  return plan;
}

void make_folder(ClusterJob& job) {
  std::error_code fault;
  job.made_folder = fs::create_directories(job.folder, fault);
  if (!fault) return;
  throw Error(ErrorKind::output, "C63-WRITE-OPEN", "cannot make the folder: " + fault.message(), {.file = job.folder});
}

/// Prepares rank 0, which reports all mistakes before the work begins.
void prepare_first(const Preparation& p) {
  EncodeOptions& o = p.options();
  const auto warn = [&](const std::string& message) { p.session.log->warn("{}: {}", o.source.path, message); };
  const auto source = open_encode_source(o, p.session.stop, warn).frames;
  p.job.format = source->format();
  take_format(o.encoder, p.job.format);
  validate(o.encoder);
  p.job.video.input = identify_input(o.source.path);
  p.job.video.settings = settings_of_record(o);
  p.job.output = open_output(o);
  p.session.log->info("{}", input_line(o.source.path, p.job.format, source->frame_count()));
  for (const std::string& difference : differences_from_course(o.encoder)) {
    p.session.log->info("the bytes differ from the course encoder's: {}", difference);
  }
  choose_backend(p);
  p.job.video.plan = find_plan(p, *source);
  make_folder(p.job);
}

/// Returns what rank 0 has found out, for the other ranks.
ordered_json findings_of(const ClusterJob& job) {
  return {{"width", job.format.width},
          {"height", job.format.height},
          {"rate_numerator", job.format.rate.numerator},
          {"rate_denominator", job.format.rate.denominator},
          {"repeated_columns", job.format.repeated_columns},
          {"repeated_rows", job.format.repeated_rows},
          {"bytes", job.video.input.bytes},
          {"sample_sha256", job.video.input.sample_sha256},
          {"modified_ns", job.video.input.modified_ns},
          {"settings", job.video.settings},
          {"plan", to_json(job.video.plan)}};
}

/// Prepares another rank. It uses the findings of rank 0, and checks that it has the same input, the same options and the
/// same folder.
void prepare_other(const Preparation& p, const ordered_json& findings) {
  EncodeOptions& o = p.options();
  p.job.format = {.width = findings.at("width").get<int>(),
                  .height = findings.at("height").get<int>(),
                  .rate = {findings.at("rate_numerator").get<int>(), findings.at("rate_denominator").get<int>()},
                  .repeated_columns = findings.at("repeated_columns").get<int>(),
                  .repeated_rows = findings.at("repeated_rows").get<int>()};
  take_format(o.encoder, p.job.format);
  p.job.video.input = {.bytes = findings.at("bytes").get<std::uint64_t>(),
                       .sample_sha256 = findings.at("sample_sha256").get<std::string>(),
                       .modified_ns = findings.at("modified_ns").get<std::int64_t>()};
  p.job.video.settings = findings.at("settings");
  p.job.video.plan = plan_from(findings.at("plan"));
  // Each machine may have its own copy of the input.
  if (!same_content(identify_input(o.source.path), p.job.video.input)) {
    throw Error(ErrorKind::input, "C63-MPI-INPUT", "differs from the first rank's input", {.file = o.source.path});
  }
  if (settings_of_record(o) != p.job.video.settings) {
    throw Error(ErrorKind::usage, "C63-MPI-SETTINGS",
                "this rank has other options, or another version of c63, than the first rank");
  }
  if (!fs::is_directory(p.job.folder)) {
    throw Error(ErrorKind::output, "C63-MPI-FOLDER",
                "this rank cannot see the first rank's folder: it must be on storage that all ranks share",
                {.file = p.job.folder});
  }
  choose_backend(p);
}

/// Returns the number of segments: --segments, or else one per GOP, at most 1024. That is enough for slow and fast ranks to
/// end at nearly the same time.
int segment_count(const ClusterJob& job) {
  if (job.options.segments > 0) return job.options.segments;
  return count_key_frames(job.video.plan, job.options.encode.encoder.coding.key_interval, kMostSegmentsChosen);
}

}  // namespace

ClusterJob::~ClusterJob() {
  std::error_code ignored;
  if (made_folder) fs::remove(folder, ignored);
}

std::unique_ptr<OutputFile> open_output(const EncodeOptions& options) {
  return std::make_unique<OutputFile>(options.output, Writing{options.durability, true});
}

std::string ClusterJob::stream_of(const Segment& segment) const {
  return (fs::path(folder) / fmt::format("segment-{:06}-of-{:06}.c63", segment.number, segment.of)).string();
}

void add_options(CLI::App& app, ClusterOptions& o) {
  add_coding_run_options(app, o.encode);
  add_options(app, "Segments",
              {{"--segments", &o.segments, "N",
                "Number of parts that the video is divided into; each rank encodes one after another. 0: one per GOP, at "
                "most 1024. To continue a stopped run, give the same number",
                {.least = 0, .most = kMostSegments}},
               {"--segment-dir", &o.segment_folder, "DIR",
                "Folder for finished segments, on storage that all ranks share; without this option OUTPUT.segments. It is "
                "removed at the end"}});
}

void check_command_line(ClusterOptions& options, const Session& session) {
  EncodeOptions& o = options.encode;
  settle_options(o, session.common.threads);
  if (o.output == "-" || o.source.path == "-") {
    throw Error(ErrorKind::usage, "C63-MPI-PIPE", "the input and the output must be files: ranks cannot use -");
  }
  if (o.target.target && o.target.target->kind == Target::Kind::ssim_y) {
    throw Error(ErrorKind::usage, "C63-MPI-TARGET",
                "--target-ssim works only with c63enc: across ranks, rounding of the sum would change the bytes");
  }
  if (!o.target.spool.empty() || (!o.target.target && !o.target.stats.empty())) {
    throw Error(
        ErrorKind::usage, "C63-USAGE",
        "--stats needs a target (--bitrate, --size or --target-psnr); --spool is for pipes, which ranks cannot read");
  }
  o.target.input = o.source.path;
  o.encoder.measurement.psnr = o.encoder.measurement.psnr || o.target.target.has_value();
  check_distinct_files({{"the input", o.source.path}}, {{"--output", o.output},
                                                        {"--stats", o.target.stats},
                                                        {"--json", o.json},
                                                        {"--segment-plan", o.segment_plan},
                                                        {"--log-file", session.common.log.file}});
}

void prepare_job(ClusterJob& job, const Session& session, Communicator& ranks) {
  const Preparation p{job, session, ranks};
  const EncodeOptions& o = job.options.encode;
  job.folder = o.output + ".segments";
  if (!job.options.segment_folder.empty()) {
    job.folder =
        (fs::path(job.options.segment_folder) / (fs::path(o.output).filename().string() + ".segments")).string();
  }
  ranks.together([&] {
    if (ranks.is_first()) prepare_first(p);
  });
  const ordered_json findings = ordered_json::parse(ranks.broadcast(ranks.is_first() ? findings_of(job).dump() : ""));
  ranks.together([&] {
    if (!ranks.is_first()) prepare_other(p, findings);
  });
  job.options.encode.source.seek_table = std::make_shared<SeekTable>(job.video.plan.seek_table);
  job.segments = cut_into_segments(job.video.plan, o.encoder.coding.key_interval, segment_count(job));
}

}  // namespace c63::tools
