#include <spdlog/logger.h>

#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>

#include "c63/error.h"
#include "c63/options.h"
#include "c63/quality.h"
#include "common/errors.h"
#include "common/report.h"
#include "encode/encode_target.h"
#include "mpi/cluster_job.h"
#include "mpi/communicator.h"
#include "mpi/load_report.h"
#include "mpi/segment_worker.h"

namespace c63::tools {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using nlohmann::ordered_json;

/// What rank 0 knows at the end.
struct ClusterResult {
  std::vector<RankLoad> loads;
  std::vector<SegmentRecord> records;
  EncodeSummary summary;  ///< of rank 0 itself: of its last segment
  double start_up_s = 0;
  double elapsed_s = 0;
};

/// Writes the output from the segments of all ranks, on rank 0, in place of what an earlier pass gave.
void join(ClusterJob& job, const Session& session, const std::vector<SegmentRecord>& records) {
  job.output = open_output(job.options.encode);
  std::vector<SegmentFile> segments;
  for (const SegmentRecord& record : records) segments.push_back({job.stream_of(record.segment), record});
  order_segments(segments);
  append_segments(*job.output, segments, [&] { return session.stop.stop_requested(); });
}

/// Returns the sums over all segments, including those that earlier runs coded.
EncodeTotals totals_of(const ClusterJob& job, const ClusterResult& result) {
  EncodeTotals all;
  all.summary = result.summary;
  all.summary.frames = job.video.plan.frames;
  all.summary.key_frames = 0;
  all.summary.bytes = 0;
  all.summary.elapsed_ms = result.elapsed_s * 1000;
  all.summary.start_up_ms = result.start_up_s * 1000;
  std::array<std::uint64_t, 3> squared_errors{};
  std::array<double, 3> ssim{};
  std::array<std::uint64_t, 3> samples{};
  for (const SegmentRecord& record : result.records) {
    all.summary.key_frames += static_cast<std::int64_t>(record.key_frames.size());
    all.summary.bytes += record.bytes;
    for (std::size_t p = 0; p < 3; ++p) {
      if (record.squared_errors) {
        squared_errors[p] += (*record.squared_errors)[p];
        samples[p] += measured_samples(job.format)[p] * static_cast<std::uint64_t>(record.segment.frames);
      }
      if (record.mean_ssim) ssim[p] += (*record.mean_ssim)[p] * static_cast<double>(record.segment.frames);
    }
  }
  for (double& mean : ssim) mean /= static_cast<double>(job.video.plan.frames);
  all.quality.add(squared_errors, samples);
  all.quality.add_ssim(ssim);
  return all;
}

void report_job(const ClusterJob& job, const Session& session, const ClusterResult& result,
                const std::vector<TargetPass>& passes) {
  const EncodeOptions& o = job.options.encode;
  const EncodeTotals all = totals_of(job, result);
  int found = 0;
  ordered_json ranks = ordered_json::array();
  for (const RankLoad& load : result.loads) {
    found += load.segments_found;
    ranks.push_back(to_json(load));
  }
  session.log->info("{}", load_line(result.loads));
  if (found > 0) session.log->info("{} of {} segments were complete already", found, job.segments.size());
  session.log->info("{}", quality_line(all, o.encoder));
  session.summary->info("{}", result_line(all, job.format));
  if (o.json.empty()) return;
  EncodeReport report{.input = o.source.path, .format = job.format, .settings = o.encoder};
  report.totals = all;
  report.target = o.target.target;
  report.passes = passes;
  ordered_json json = to_json(report);
  json["program"] = "c63mpi";
  json["segments"] = job.segments.size();
  json["segments_found"] = found;
  json["imbalance"] = imbalance_of(result.loads);
  json["ranks"] = ranks;
  write_json(o.json, json, o.durability);
}

void remove_segments(const ClusterJob& job) {
  // If the folder cannot be removed, that is no error: the output is complete.
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(job.folder, ignored)) {
    if (entry.path().filename().string().starts_with("segment-")) fs::remove(entry.path(), ignored);
  }
  fs::remove(job.folder, ignored);
}

/// Collects on rank 0 what each rank has done.
void gather(ClusterResult& result, Communicator& ranks, const RankLoad& load, const std::vector<SegmentFile>& own) {
  result.loads.clear();
  result.records.clear();
  ordered_json json = {{"load", to_json(load)}, {"segments", ordered_json::array()}};
  for (const SegmentFile& file : own) json["segments"].push_back(to_json(file.record));
  for (const std::string& text : ranks.gather(json.dump())) {
    const ordered_json one = ordered_json::parse(text);
    for_each_field(result.loads.emplace_back(), [&](const char* key, auto& value) { one.at("load").at(key).get_to(value); });
    for (const ordered_json& record : one.at("segments")) result.records.push_back(record_from(record));
  }
}

/// The passes towards a target; one pass if there is no target. Rank 0 chooses the settings of each pass, and all ranks
/// code with them. Rank 0 keeps the best pass.
class Passes {
 public:
  Passes(ClusterJob& job, const Session& session, Communicator& ranks) : job_(job), session_(session), ranks_(ranks) {
    if (!job.options.encode.target.target) return;
    ranks.together([&] {
      if (ranks.is_first()) passes_.emplace(job.options.encode, job.format, *session.log);
    });
    set_next();
  }

  /// Takes a pass, and joins it if it is the best so far. Returns true if it was the last. Sets the job's settings to those
  /// of the next pass, or of the best.
  [[nodiscard]] bool take(const ClusterResult& result) {
    bool done = true;
    ranks_.together([&] {
      if (!ranks_.is_first()) return;
      try {
        done = !passes_ || passes_->take(totals_of(job_, result), job_.format);
      } catch (const Error&) {
        remove_segments(job_);  // the target cannot be met, so its segments are useless for another run
        throw;
      }
      if (passes_ && !passes_->is_best()) return;
      join(job_, session_, result.records);
      best_ = result.records;
    });
    if (!job_.options.encode.target.target) return true;
    done = !ranks_.broadcast(done ? "done" : "").empty();
    set_next();
    return done;
  }

  /// The segments of the best pass, on rank 0.
  [[nodiscard]] const std::vector<SegmentRecord>& best() const { return best_; }

  [[nodiscard]] std::vector<TargetPass> passes() const {
    return passes_ ? passes_->passes() : std::vector<TargetPass>();
  }
  /// Returns the error that kept the statistics file from being written, if any.
  [[nodiscard]] std::optional<Error> side_fault() const { return passes_ ? passes_->side_fault() : std::nullopt; }

 private:
  /// Calls visit(value) for every option that changes the bytes of a stream.
  static void for_each_changing(EncoderSettings& settings, const auto& visit) {
    for_each_option(settings, [&](const OptionInfo& option, auto& value) {
      static_assert(std::is_trivially_copyable_v<std::decay_t<decltype(value)>>);
      if (option.changes_bytes()) visit(value);
    });
  }

  void set_next() {
    EncodeOptions& o = job_.options.encode;
    if (passes_) o.encoder.coding = passes_->next();
    // Sent as raw bytes: prepare_job() has checked that all ranks run the same build. Each rank has its own search already.
    std::string bytes;
    for_each_changing(o.encoder, [&](auto& value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof value); });
    bytes = ranks_.broadcast(bytes);
    const char* next = bytes.data();
    for_each_changing(o.encoder, [&](auto& value) {
      std::memcpy(&value, next, sizeof value);
      next += sizeof value;
    });
    job_.video.settings = settings_of_record(o);
  }

  ClusterJob& job_;
  const Session& session_;
  Communicator& ranks_;
  std::optional<TargetPasses> passes_;  // on rank 0 only
  std::vector<SegmentRecord> best_;
};

void run(ClusterJob& job, const Session& session, Communicator& ranks, Clock::time_point started) {
  const auto seconds = [](Clock::duration time) { return std::chrono::duration<double>(time).count(); };
  prepare_job(job, session, ranks);
  const auto working = Clock::now();
  Passes passes(job, session, ranks);
  SegmentWorker worker(job, session, ranks);
  ClusterResult result;
  result.start_up_s = seconds(working - started);
  do {
    worker.run();
    result.summary = worker.last_summary();
    gather(result, ranks, worker.load(), worker.segments());
  } while (!passes.take(result));
  result.records = passes.best();
  ranks.together([&] {
    if (ranks.is_first() && !session.stop.stop_requested()) job.output->commit();
  });
  result.elapsed_s = seconds(Clock::now() - working);
  ranks.together([&] {
    if (!ranks.is_first()) return;
    report_job(job, session, result, passes.passes());
    remove_segments(job);
    if (const auto fault = passes.side_fault()) {
      throw Error(fault->kind(), fault->id(), fault->message() + "; the stream itself is complete", fault->place());
    }
  });
}

}  // namespace

int run_cluster(const Session& session, ClusterOptions options) {
  const auto started = Clock::now();
  check_command_line(options, session);
  Communicator ranks(session.stop);
  ClusterJob job;
  job.options = std::move(options);
  try {
    run(job, session, ranks, started);
  } catch (const Communicator::Stopped&) {
    // The caller returns the signal's exit code.
    session.log->info("stopped: finished segments are kept; the same command continues from there");
  }
  return kExitDone;
}

}  // namespace c63::tools
