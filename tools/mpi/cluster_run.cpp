#include "mpi/cluster_run.h"

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>
#include <utility>

#include "c63/error.h"
#include "c63/thread_arena.h"
#include "common/exit_code.h"
#include "common/machine.h"
#include "common/paths.h"
#include "common/report.h"
#include "encode_source.h"
#include "mpi/communicator.h"
#include "mpi/joined_file.h"
#include "mpi/load_report.h"
#include "mpi/segment_source.h"
#include "segments/plan_file.h"
#include "segments/segment_record.h"

namespace c63::tools {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using nlohmann::ordered_json;

constexpr std::int64_t kMostSegmentsChosen = 1024;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// How far this rank is with its segment, for the thread that talks to the others.
struct Done {
  std::atomic<std::int64_t> frames = 0;
  std::atomic<std::int64_t> bytes = 0;
};

class ClusterRun {
 public:
  ClusterRun(const Session& session, ClusterOptions options, Communicator& ranks)
      : session_(session), options_(std::move(options)), ranks_(ranks), source_([this] { return open_source(); }) {
    load_.rank = ranks.rank();
    load_.host = ranks.host();
  }

  ~ClusterRun() {
    std::error_code ignored;
    if (made_folder_) fs::remove(folder_, ignored);  // where nothing is in it
  }
  ClusterRun(const ClusterRun&) = delete;
  ClusterRun& operator=(const ClusterRun&) = delete;

  int run();

 private:
  void prepare_first();
  void prepare();
  void choose_threads();
  void choose_backend();
  [[nodiscard]] std::unique_ptr<FrameSource> open_source() const;
  [[nodiscard]] SegmentPlan make_plan() const;
  [[nodiscard]] std::string stream_of(const Segment& segment) const;
  void encode_segments();
  void encode_segment(const Segment& segment, Done& done, const std::stop_token& stop);
  void wait_for(std::future<void>& coding, Done& done, JobCounters& counters, Progress* progress,
                std::stop_source& ending);
  void tell_others(Done& done, JobCounters& counters);
  void join();
  [[nodiscard]] EncodeTotals totals(const std::vector<SegmentRecord>& records) const;
  void tell(const std::vector<RankLoad>& loads, const EncodeTotals& all) const;
  void remove_segments() const;

  const Session& session_;
  ClusterOptions options_;
  Communicator& ranks_;
  SegmentSource source_;
  VideoFormat format_;
  SegmentedVideo video_;
  std::vector<Segment> segments_;
  std::string folder_;
  bool made_folder_ = false;
  std::unique_ptr<OutputFile> output_;  // of the first rank
  SelectedBackend backend_;
  std::vector<SegmentFile> own_;  // that this rank has coded or found
  EncodeSummary last_;            // of the segment coded last
  RankLoad load_;
  Clock::time_point started_ = Clock::now();
  Clock::time_point working_ = started_;
};

std::unique_ptr<FrameSource> ClusterRun::open_source() const {
  return open_encode_source(options_.encode, session_.stop, {}).frames;
}

SegmentPlan ClusterRun::make_plan() const {
  const auto source = open_source();
  const CodingSettings& coding = options_.encode.encoder.coding;
  const bool reads = coding.scene_cuts || !source->frame_count();
  if (reads) session_.log->info("reading the whole input for where segments may begin");
  const auto progress = session_.progress(source->frame_count(), format_.rate.value());
  return plan_segments(*source, coding, session_.stop, [&] {
    if (reads) progress->advance(0);
  });
}

/// What the first rank does before there is any work, so that what is wrong is told once.
void ClusterRun::prepare_first() {
  EncodeOptions& o = options_.encode;
  const std::string name = o.source.path;
  const auto warn = [&](const std::string& message) { session_.log->warn("{}: {}", name, message); };
  const auto source = open_encode_source(o, session_.stop, warn).frames;
  format_ = source->format();
  o.encoder.coding.width = format_.width;
  o.encoder.coding.height = format_.height;
  validate(o.encoder);
  video_.input = identify_input(o.source.path);
  video_.settings = settings_of_record(o.encoder.coding, o.first_frame, o.max_frames, o.prefilter);
  output_ = std::make_unique<OutputFile>(o.output, o.durability);
  if (output_->direct()) {
    throw Error(ErrorKind::usage, "C63-MPI-OUTPUT", "all ranks write into the output: it has to be a file",
                {.file = o.output});
  }
  session_.log->info("{}", input_line(o.source.path, format_, source->frame_count()));
  for (const std::string& difference : differences_from_course(o.encoder)) {
    session_.log->info("not the course encoder's bytes: {}", difference);
  }
  choose_backend();
  video_.plan = plan_from_file(
      o.segment_plan, video_, [this] { return make_plan(); }, [this] { return session_.stop.stop_requested(); },
      o.durability);
  if (video_.plan.frames == 0)
    throw Error(ErrorKind::input, "C63-NO-FRAMES", "there is no whole frame", {.file = o.source.path});
  std::error_code fault;
  made_folder_ = fs::create_directories(folder_, fault);
  if (fault)
    throw Error(ErrorKind::output, "C63-WRITE-OPEN", "cannot make the folder: " + fault.message(), {.file = folder_});
}

/// Has all ranks know the same video, and open what they need.
void ClusterRun::prepare() {
  EncodeOptions& o = options_.encode;
  folder_ = o.output + ".segments";
  if (!options_.segment_folder.empty()) {
    folder_ = (fs::path(options_.segment_folder) / (fs::path(o.output).filename().string() + ".segments")).string();
  }
  ranks_.together([this] {
    if (ranks_.is_first()) prepare_first();
  });
  ordered_json common;
  if (ranks_.is_first()) {
    common = {{"width", format_.width},
              {"height", format_.height},
              {"bytes", video_.input.bytes},
              {"sample_sha256", video_.input.sample_sha256},
              {"modified_ns", video_.input.modified_ns},
              {"settings", video_.settings},
              {"frames", video_.plan.frames},
              {"scene_starts", video_.plan.scene_starts}};
  }
  common = ordered_json::parse(ranks_.broadcast(common.dump()));
  ranks_.together([&] {
    if (!ranks_.is_first()) {
      o.encoder.coding.width = common.at("width").get<int>();
      o.encoder.coding.height = common.at("height").get<int>();
      video_.input = {.bytes = common.at("bytes").get<std::uint64_t>(),
                      .sample_sha256 = common.at("sample_sha256").get<std::string>(),
                      .modified_ns = common.at("modified_ns").get<std::int64_t>()};
      video_.settings = common.at("settings");
      video_.plan = {.frames = common.at("frames").get<std::int64_t>(),
                     .scene_starts = common.at("scene_starts").get<std::vector<std::int64_t>>()};
      // Each machine may have a copy of its own.
      if (!same_content(identify_input(o.source.path), video_.input)) {
        throw Error(ErrorKind::input, "C63-MPI-INPUT", "is not the first rank's input", {.file = o.source.path});
      }
      if (settings_of_record(o.encoder.coding, o.first_frame, o.max_frames, o.prefilter) != video_.settings) {
        throw Error(ErrorKind::usage, "C63-MPI-SETTINGS", "ranks have other options or another c63 than the first one");
      }
      if (!fs::is_directory(folder_)) {
        throw Error(ErrorKind::output, "C63-MPI-FOLDER", "the first rank's folder is not seen here: all ranks need it",
                    {.file = folder_});
      }
    }
    if (!ranks_.is_first()) choose_backend();
  });
  const int key_interval = o.encoder.coding.key_interval;
  int count = options_.segments;
  if (count == 0) {
    const auto gops = static_cast<std::int64_t>(key_frames_of(video_.plan, key_interval).size());
    count = static_cast<int>(std::min(gops, kMostSegmentsChosen));
  }
  segments_ = cut_into_segments(video_.plan, key_interval, count);
}

void ClusterRun::choose_backend() {
  choose_threads();
  BackendChoice& choice = options_.encode.backend;
  choice.sharer = ranks_.local_rank();
  backend_ = select_backend(choice, [this](const std::string& note) { session_.log->info("{}", note); });
}

/// Ranks of a machine divide its CPUs among them, unless each was bound to its own.
void ClusterRun::choose_threads() {
  ExecutionSettings& execution = options_.encode.encoder.execution;
  if (execution.threads == 0) {
    const unsigned mine = this_machine().logical_cpus;
    const bool bound =
        mine < std::thread::hardware_concurrency() || mine < static_cast<unsigned>(::sysconf(_SC_NPROCESSORS_ONLN));
    execution.threads =
        static_cast<int>(std::max(1U, bound ? mine : mine / static_cast<unsigned>(ranks_.local_size())));
  }
  load_.threads = execution.threads;
  execution.arena = std::make_shared<ThreadArena>(execution.threads);
}

std::string ClusterRun::stream_of(const Segment& segment) const {
  return (fs::path(folder_) / fmt::format("segment-{:06}-of-{:06}.c63", segment.number, segment.of)).string();
}

void ClusterRun::encode_segment(const Segment& segment, Done& done, const std::stop_token& stop) {
  const EncodeOptions& o = options_.encode;
  const std::string stream = stream_of(segment);
  std::string reason;
  if (auto record = find_whole_segment(stream, video_, segment, reason)) {
    own_.push_back({stream, std::move(*record)});
    ++load_.found;
    done.frames += segment.frames;
    done.bytes += static_cast<std::int64_t>(own_.back().record.bytes);
    return;
  }
  OutputFile file(stream, o.durability);
  SegmentRecorder recorder(video_, segment);
  if (segment.frames > 0) {
    const auto frames = source_.frames_of(segment);
    Encoder encoder = make_encoder(
        o.encoder, backend_, [this](const std::string& why) { session_.log->warn("going on with the CPU: {}", why); });
    encoder.set_scene_starts(scene_starts_in(video_.plan, segment));
    Clock::duration storing{};
    const auto sink = [&](EncodedFrame&& frame) {
      frame.index += segment.first;
      const auto start = Clock::now();
      recorder.add(frame, o.encoder);
      file.write(frame.bytes);
      storing += Clock::now() - start;
      ++done.frames;
      done.bytes += static_cast<std::int64_t>(frame.bytes.size());
    };
    last_ = encoder.encode(*frames, sink, stop);
    if (stop.stop_requested()) return;
    load_.reading_s += last_.load.reading * last_.elapsed_ms / 1000;
    load_.coding_s += last_.load.coding * last_.elapsed_ms / 1000;
    load_.storing_s += std::chrono::duration<double>(storing).count();
    load_.device = last_.backend;
  }
  const SegmentRecord record = recorder.finish();
  file.commit();
  write_record(stream, record, o.durability);
  own_.push_back({stream, record});
  ++load_.segments;
  load_.frames += segment.frames;
}

void ClusterRun::tell_others(Done& done, JobCounters& counters) {
  if (const std::int64_t frames = done.frames.exchange(0)) counters.add(JobCounters::frames_done, frames);
  if (const std::int64_t bytes = done.bytes.exchange(0)) counters.add(JobCounters::bytes_done, bytes);
}

/// Talks to the other ranks while a segment is coded: MPI moves only while it is called.
void ClusterRun::wait_for(std::future<void>& coding, Done& done, JobCounters& counters, Progress* progress,
                          std::stop_source& ending) {
  using namespace std::chrono_literals;
  std::int64_t frames = 0;
  std::int64_t bytes = 0;
  auto told = Clock::now();
  while (coding.wait_for(2ms) != std::future_status::ready) {
    int ignored = 0;
    check_mpi(::MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &ignored, MPI_STATUS_IGNORE), "MPI_Iprobe");
    if (session_.stop.stop_requested()) ending.request_stop();
    if (Clock::now() - told < 100ms) continue;
    told = Clock::now();
    tell_others(done, counters);
    if (counters.get(JobCounters::faults) > 0) ending.request_stop();
    if (progress == nullptr) continue;
    const std::int64_t all_frames = counters.get(JobCounters::frames_done);
    const std::int64_t all_bytes = counters.get(JobCounters::bytes_done);
    progress->advance(static_cast<std::uint64_t>(all_bytes - bytes), all_frames - frames);
    frames = all_frames;
    bytes = all_bytes;
  }
}

void ClusterRun::encode_segments() {
  JobCounters counters(ranks_);
  const auto progress = ranks_.is_first() ? session_.progress(video_.plan.frames, format_.rate.value()) : nullptr;
  std::exception_ptr fault;
  std::stop_source ending;
  Done done;
  working_ = Clock::now();
  while (!ending.stop_requested()) {
    const std::int64_t number = counters.add(JobCounters::segments_taken, 1);
    if (number >= static_cast<std::int64_t>(segments_.size())) break;
    const auto start = Clock::now();
    auto coding = std::async(std::launch::async, [&] {
      encode_segment(segments_[static_cast<std::size_t>(number)], done, ending.get_token());
    });
    wait_for(coding, done, counters, progress.get(), ending);
    load_.busy_s += seconds_since(start);
    try {
      coding.get();
    } catch (...) {
      fault = std::current_exception();
      counters.add(JobCounters::faults, 1);
      break;
    }
  }
  if (session_.stop.stop_requested()) throw Communicator::Stopped();
  tell_others(done, counters);
  const auto waiting = Clock::now();
  ranks_.together([&] {
    if (fault) std::rethrow_exception(fault);
  });
  load_.waiting_s += seconds_since(waiting);
  if (progress) progress->finish();
}

void ClusterRun::join() {
  const auto start = Clock::now();
  std::vector<std::uint64_t> sizes(segments_.size());
  for (const SegmentFile& file : own_)
    sizes[static_cast<std::size_t>(file.record.segment.number - 1)] = file.record.bytes;
  const std::vector<std::uint64_t> offsets = offsets_of(ranks_.sum(std::move(sizes)));
  const std::string part = ranks_.broadcast(output_ ? output_->part_path() : "");
  write_joined(ranks_, part, options_.encode.output, own_, offsets, options_.encode.durability);
  ranks_.together([&] {
    if (!output_) return;
    if (fs::file_size(part) != offsets.back()) {
      throw Error(ErrorKind::output, "C63-WRITE-FAILED",
                  fmt::format("the file has {} bytes, {} were written: is it on storage that all ranks share?",
                              fs::file_size(part), offsets.back()),
                  {.file = options_.encode.output});
    }
    output_->commit();
  });
  load_.writing_s = seconds_since(start);
}

/// Sums over all segments, of this run and of those before it.
EncodeTotals ClusterRun::totals(const std::vector<SegmentRecord>& records) const {
  EncodeTotals all;
  all.summary = last_;
  all.summary.frames = video_.plan.frames;
  all.summary.key_frames = 0;
  all.summary.bytes = 0;
  all.summary.elapsed_ms = seconds_since(working_) * 1000;
  all.summary.start_up_ms = std::chrono::duration<double, std::milli>(working_ - started_).count();
  std::array<std::uint64_t, 3> squared_errors{};
  std::array<double, 3> ssim{};
  std::array<std::uint64_t, 3> samples{};
  for (const SegmentRecord& record : records) {
    all.summary.key_frames += static_cast<std::int64_t>(record.key_frames.size());
    all.summary.bytes += record.bytes;
    for (std::size_t p = 0; p < 3; ++p) {
      if (record.squared_errors) {
        squared_errors[p] += (*record.squared_errors)[p];
        samples[p] += plane_bytes(format_.width, format_.height, static_cast<int>(p)) *
                      static_cast<std::uint64_t>(record.segment.frames);
      }
      if (record.mean_ssim) ssim[p] += (*record.mean_ssim)[p] * static_cast<double>(record.segment.frames);
    }
  }
  for (double& mean : ssim) mean /= static_cast<double>(video_.plan.frames);
  all.quality.add(squared_errors, samples);
  all.quality.add_ssim(ssim);
  return all;
}

void ClusterRun::tell(const std::vector<RankLoad>& loads, const EncodeTotals& all) const {
  const EncodeOptions& o = options_.encode;
  int found = 0;
  ordered_json ranks = ordered_json::array();
  for (const RankLoad& load : loads) {
    found += load.found;
    ranks.push_back(to_json(load));
  }
  session_.log->info("{}", load_line(loads));
  if (found > 0) session_.log->info("{} of {} segments were there already", found, segments_.size());
  session_.log->info("{}", quality_line(all, o.encoder));
  session_.summary->info("{}", result_line(all, format_));
  if (o.json.empty()) return;
  ordered_json json =
      to_json(EncodeReport{.input = o.source.path, .format = format_, .settings = o.encoder, .totals = all});
  json["program"] = "c63mpi";
  json["segments"] = segments_.size();
  json["segments_found"] = found;
  json["imbalance"] = imbalance_of(loads);
  json["ranks"] = ranks;
  write_json(o.json, json, o.durability);
}

void ClusterRun::remove_segments() const {
  // What cannot be removed is in nobody's way: the output is complete.
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder_, ignored)) {
    if (entry.path().filename().string().starts_with("segment-")) fs::remove(entry.path(), ignored);
  }
  fs::remove(folder_, ignored);
}

int ClusterRun::run() {
  prepare();
  encode_segments();
  join();
  ordered_json own = {{"load", to_json(load_)}, {"segments", ordered_json::array()}};
  for (const SegmentFile& file : own_) own["segments"].push_back(to_json(file.record));
  const std::vector<std::string> texts = ranks_.gather(own.dump());
  ranks_.together([&] {
    if (!ranks_.is_first()) return;
    std::vector<RankLoad> loads;
    std::vector<SegmentRecord> records;
    for (const std::string& text : texts) {
      const ordered_json json = ordered_json::parse(text);
      loads.push_back(load_from(json.at("load")));
      for (const ordered_json& record : json.at("segments")) records.push_back(record_from(record));
    }
    tell(loads, totals(records));
    remove_segments();
  });
  return kExitDone;
}

/// Throws Error (usage) for what no rank has to look at a file for.
void check_command_line(ClusterOptions& options, const Session& session) {
  EncodeOptions& o = options.encode;
  settle_options(o, session.common.threads);
  if (o.output == "-" || o.source.path == "-") {
    throw Error(ErrorKind::usage, "C63-MPI-PIPE", "ranks read from a file and write to one: - is neither");
  }
  check_distinct_files({{"the input", o.source.path}}, {{"--output", o.output},
                                                        {"--json", o.json},
                                                        {"--segment-plan", o.segment_plan},
                                                        {"--log-file", session.common.log.file}});
}

}  // namespace

int run_cluster(const Session& session, ClusterOptions options) {
  check_command_line(options, session);
  Communicator ranks(session.stop);
  try {
    return ClusterRun(session, std::move(options), ranks).run();
  } catch (const Communicator::Stopped&) {
    session.log->info("stopped: finished segments are kept, the same command goes on from there");
    return kExitDone;  // the signal's exit code comes from the caller
  }
}

}  // namespace c63::tools
