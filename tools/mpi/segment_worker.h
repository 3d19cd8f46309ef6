#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "c63/encoder.h"
#include "c63/frame_source.h"
#include "common/progress.h"
#include "mpi/cluster_job.h"
#include "mpi/load_report.h"
#include "segments/join.h"

namespace c63::tools {

/// Opens the whole video. Called again if the source must be read from the start.
using OpenSource = std::function<std::unique_ptr<FrameSource>()>;

/// Reads the segments of one video, one after another. A seekable source is opened once. Any other source is opened
/// again if a segment begins before its next unread frame. Otherwise the frames between two segments are skipped.
class SegmentSource {
 public:
  explicit SegmentSource(OpenSource open) : open_(std::move(open)) {}

  /// Returns a source with the frames of a segment, numbered from 0. Only one such source may exist at a time, and it
  /// must not outlive this object.
  [[nodiscard]] std::unique_ptr<FrameSource> frames_of(const Segment& segment);

 private:
  OpenSource open_;
  std::shared_ptr<FrameSource> source_;
  std::int64_t next_ = 0;  ///< number of the next frame, if the source is not seekable
};

/// The work of one rank. It takes segments until none are left, and codes those that are not complete already. One
/// thread codes, while the caller's thread communicates with the other ranks.
class SegmentWorker {
 public:
  SegmentWorker(const ClusterJob& job, const Session& session, Communicator& ranks);

  /// Returns when all ranks are done. If one rank throws, all ranks throw its error. May be called again after the
  /// job's settings changed; load() then counts all runs.
  void run();

  /// Returns the segments that this rank has coded in the last run, or has found complete.
  [[nodiscard]] const std::vector<SegmentFile>& segments() const { return segments_; }
  [[nodiscard]] const RankLoad& load() const { return load_; }
  /// Returns the summary of the segment that was coded last.
  [[nodiscard]] const EncodeSummary& last_summary() const { return last_; }

 private:
  [[nodiscard]] std::unique_ptr<FrameSource> open_source();
  void take_segments(JobCounters& counters, Progress* progress);
  void wait_for(std::future<void>& coding, JobCounters& counters, Progress* progress);
  void publish_progress(JobCounters& counters);
  void show(Progress& progress, JobCounters& counters);
  // These run on the coding thread.
  Encoder& open_encoder();
  void finish_segment(const Segment& segment);
  void encode(const Segment& segment, OutputFile& file, SegmentRecorder& recorder);

  const ClusterJob& job_;
  const Session& session_;
  Communicator& ranks_;
  SegmentSource source_;
  std::uint64_t prefilter_bytes_ = 0;  // part of --max-memory that the prefilter uses; the encoder may use the rest
  std::optional<Encoder> encoder_;     // kept for all segments of a run, so that its devices stay open
  std::stop_source ending_;
  std::exception_ptr fault_;
  // Frames and bytes coded here that are not yet added to the job's counters.
  std::atomic<std::int64_t> frames_ = 0;
  std::atomic<std::int64_t> bytes_ = 0;
  // The progress of all ranks, as last shown.
  std::int64_t shown_frames_ = 0;
  std::int64_t shown_bytes_ = 0;
  std::vector<SegmentFile> segments_;
  RankLoad load_;
  EncodeSummary last_;
};

}  // namespace c63::tools
