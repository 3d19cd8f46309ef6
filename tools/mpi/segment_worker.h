#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "c63/encoder.h"
#include "common/progress.h"
#include "mpi/cluster_job.h"
#include "mpi/load_report.h"
#include "mpi/segment_source.h"
#include "segments/join.h"

namespace c63::tools {

/// One rank at work. It takes segments until none are left, and codes those that are not finished. One thread codes.
/// The caller's thread communicates with the other ranks meanwhile.
class SegmentWorker {
 public:
  SegmentWorker(const ClusterJob& job, const Session& session, Communicator& ranks);

  /// Returns when all ranks have ended. Throws what one of them threw, on all. May be called again with other settings
  /// of the job; the load adds up.
  void run();

  /// The segments that this rank has coded or found in the last run.
  [[nodiscard]] const std::vector<SegmentFile>& segments() const { return segments_; }
  [[nodiscard]] const RankLoad& load() const { return load_; }
  /// Settings of the segment that was coded last.
  [[nodiscard]] const EncodeSummary& last_summary() const { return last_; }

 private:
  [[nodiscard]] std::unique_ptr<FrameSource> open_source();
  void take_segments(JobCounters& counters, Progress* progress);
  void wait_for(std::future<void>& coding, JobCounters& counters, Progress* progress);
  void tell_others(JobCounters& counters);
  void show(Progress& progress, JobCounters& counters);
  // The loop of the coding thread.
  Encoder& open_encoder();
  void finish_segment(const Segment& segment);
  void encode(const Segment& segment, OutputFile& file, SegmentRecorder& recorder);

  const ClusterJob& job_;
  const Session& session_;
  Communicator& ranks_;
  SegmentSource source_;
  std::uint64_t prefilter_bytes_ = 0;  // its share of --max-memory; the encoder has the rest
  std::optional<Encoder> encoder_;     // of one run; it keeps its devices open from segment to segment
  std::stop_source ending_;
  std::exception_ptr fault_;
  // Finished segments that the others do not know of yet.
  std::atomic<std::int64_t> frames_ = 0;
  std::atomic<std::int64_t> bytes_ = 0;
  // The progress of all ranks.
  std::int64_t shown_frames_ = 0;
  std::int64_t shown_bytes_ = 0;
  std::vector<SegmentFile> segments_;
  RankLoad load_;
  EncodeSummary last_;
};

}  // namespace c63::tools
