#include "mpi/segment_worker.h"

#include <spdlog/logger.h>

#include <string>
#include <utility>

#include "c63/encoder.h"
#include "encode/encode_program.h"
#include "io/source_parts.h"

namespace c63::tools {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

}  // namespace

std::unique_ptr<FrameSource> SegmentSource::frames_of(const Segment& segment) {
  if (!source_ || (!source_->seekable() && next_ > segment.first)) {
    source_ = open_();
    next_ = 0;
  }
  return adapt(source_, {.first = segment.first, .count = segment.frames, .has_count = true, .position = &next_});
}

SegmentWorker::SegmentWorker(const ClusterJob& job, const Session& session, Communicator& ranks)
    : job_(job), session_(session), ranks_(ranks), source_([this] { return open_source(); }) {
  load_.rank = ranks.rank();
  load_.host = ranks.host();
  load_.threads = job.threads;
}

std::unique_ptr<FrameSource> SegmentWorker::open_source() {
  EncodeSource source = open_encode_source(job_.options.encode, session_.stop, {});
  prefilter_bytes_ = source.bytes;
  return std::move(source.frames);
}

/// Opens the encoder at the first call. frames_of() must be called before, because it finds out how much memory the
/// source takes.
Encoder& SegmentWorker::open_encoder() {
  if (encoder_) return *encoder_;
  EncoderSettings settings = job_.options.encode.encoder;
  settings.execution.limits.max_memory -= prefilter_bytes_;
  settings.execution.keep_devices = true;
  return encoder_.emplace(make_encoder(settings, job_.backend, [this](const std::string& why) {
    session_.log->warn("continuing on the CPU: {}", why);
  }));
}

void SegmentWorker::encode(const Segment& segment, OutputFile& file, SegmentRecorder& recorder) {
  const auto frames = source_.frames_of(segment);
  Encoder& encoder = open_encoder();
  encoder.set_scene_starts(scene_starts_in(job_.video.plan, segment));
  double storing_s = 0;
  const auto sink = [&](EncodedFrame&& frame) {
    frame.index += segment.first;
    const auto start = Clock::now();
    recorder.add(frame, job_.options.encode.encoder);
    file.write(frame.bytes);
    storing_s += seconds_since(start);
    ++frames_;
    bytes_ += static_cast<std::int64_t>(frame.bytes.size());
  };
  last_ = encoder.encode(*frames, sink, ending_.get_token(), ending_.get_token());
  load_.reading_s += last_.load.reading * last_.elapsed_ms / 1000;
  load_.coding_s += last_.load.coding * last_.elapsed_ms / 1000;
  load_.storing_s += storing_s;
  load_.device = last_.backend;
}

void SegmentWorker::finish_segment(const Segment& segment) {
  const std::string stream = job_.stream_of(segment);
  const Durability durability = job_.options.encode.durability;
  const MeasurementSettings& measured = job_.options.encode.encoder.measurement;
  std::string reason;
  if (auto record = find_whole_segment(stream, job_.video, segment, measured, reason)) {
    ++load_.segments_found;
    frames_ += segment.frames;
    bytes_ += static_cast<std::int64_t>(record->bytes);
    segments_.push_back({stream, std::move(*record)});
    return;
  }
  OutputFile file(stream, durability);
  SegmentRecorder recorder(job_.video, segment);
  if (segment.frames > 0) encode(segment, file, recorder);
  if (ending_.stop_requested()) return;
  SegmentRecord record = recorder.finish();
  file.commit();
  write_record(stream, record, durability);
  segments_.push_back({stream, std::move(record)});
  ++load_.segments;
  load_.frames += segment.frames;
}

void SegmentWorker::publish_progress(JobCounters& counters) {
  if (const std::int64_t frames = frames_.exchange(0)) counters.add(JobCounters::frames_done, frames);
  if (const std::int64_t bytes = bytes_.exchange(0)) counters.add(JobCounters::bytes_done, bytes);
}

void SegmentWorker::show(Progress& progress, JobCounters& counters) {
  const std::int64_t frames = counters.get(JobCounters::frames_done);
  const std::int64_t bytes = counters.get(JobCounters::bytes_done);
  progress.advance(static_cast<std::uint64_t>(bytes - shown_bytes_), frames - shown_frames_);
  shown_frames_ = frames;
  shown_bytes_ = bytes;
}

/// Waits until the coding thread is done, and calls MPI regularly. MPI only answers other ranks during such calls, and
/// they need the counters in the memory of rank 0.
void SegmentWorker::wait_for(std::future<void>& coding, JobCounters& counters, Progress* progress) {
  using namespace std::chrono_literals;
  auto published = Clock::now();
  while (coding.wait_for(2ms) != std::future_status::ready) {
    int ignored = 0;
    check_mpi(::MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &ignored, MPI_STATUS_IGNORE), "MPI_Iprobe");
    if (session_.stop.stop_requested()) ending_.request_stop();
    if (Clock::now() - published < 100ms) continue;
    published = Clock::now();
    publish_progress(counters);
    if (counters.get(JobCounters::faults) > 0) ending_.request_stop();
    if (progress != nullptr) show(*progress, counters);
  }
}

void SegmentWorker::take_segments(JobCounters& counters, Progress* progress) {
  while (!ending_.stop_requested()) {
    const std::int64_t number = counters.add(JobCounters::segments_taken, 1);
    if (number >= static_cast<std::int64_t>(job_.segments.size())) return;
    const auto start = Clock::now();
    auto coding =
        std::async(std::launch::async, [&] { finish_segment(job_.segments[static_cast<std::size_t>(number)]); });
    wait_for(coding, counters, progress);
    load_.busy_s += seconds_since(start);
    try {
      coding.get();
    } catch (...) {
      fault_ = std::current_exception();
      counters.add(JobCounters::faults, 1);
      return;
    }
  }
}

void SegmentWorker::run() {
  segments_.clear();
  encoder_.reset();
  shown_frames_ = shown_bytes_ = 0;
  JobCounters counters(ranks_);
  std::unique_ptr<Progress> progress;
  if (ranks_.is_first()) progress = session_.progress(job_.video.plan.frames, job_.format.rate.value());
  take_segments(counters, progress.get());
  if (session_.stop.stop_requested()) throw Communicator::Stopped();
  publish_progress(counters);
  const auto start = Clock::now();
  ranks_.together([&] {
    if (fault_) std::rethrow_exception(fault_);
  });
  load_.waiting_s += seconds_since(start);
  if (!progress) return;
  show(*progress, counters);
  progress->finish();
}

}  // namespace c63::tools
