#include "decode/cpu_decode_backend.h"

#include <algorithm>
#include <string>
#include <thread>
#include <utility>

#include "c63/byte_count.h"
#include "c63/error.h"

namespace c63 {
namespace {

/// The current picture and its reference stay in use until the next frame is submitted.
constexpr std::size_t kKeptPictures = 2;

/// The most decoded pictures that may wait for the caller: in bytes, in number, and in number for each thread. With
/// several small pictures for each thread, there is work to do even if some thread wakes late. More pictures would be
/// slower: if there are few, each is reused soon, while its memory is still in a cache.
constexpr std::uint64_t kWaitingBytes = std::uint64_t{16} << 20;
constexpr std::uint64_t kWaitingPictures = 64;
constexpr std::uint64_t kWaitingPicturesPerThread = 6;

/// While enough frames are left to decode, a caller that waits is only woken after this many finished frames.
constexpr std::size_t kWakeAfter = 16;

std::uint64_t picture_bytes(const DecoderSettings& settings, const Geometry& geometry) {
  return (settings.keep_prediction ? 2 : 1) * static_cast<std::uint64_t>(geometry.padded_samples());
}

}  // namespace

std::shared_ptr<ThreadPool> pool_of(const DecoderSettings& settings) {
  const ExecutionSettings& execution = settings.execution;
  if (execution.pool) return execution.pool;
  // More threads than CPUs would be slower: a thread without a CPU delays rows that other threads need.
  const int cpus = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return std::make_shared<ThreadPool>(std::min(execution.threads, cpus));
}

void show(FrameView& view, const DecodedPicture& picture, bool with_prediction) {
  for (int p = 0; p < kPlanes; ++p) {
    view.picture[p] = picture.samples.coded(p);
    if (with_prediction) view.prediction[p] = picture.prediction.coded(p);
  }
}

void require_memory(const DecoderSettings& settings, const Geometry& geometry) {
  const std::uint64_t needed = FrameTask::memory(geometry) + (kKeptPictures + 2) * picture_bytes(settings, geometry);
  if (needed > settings.execution.limits.max_memory) {
    throw Error(ErrorKind::limit, "C63-MAX-MEMORY",
                "decoding " + std::to_string(geometry.width()) + "x" + std::to_string(geometry.height()) + " takes " +
                    bytes_text(needed) + "; the limit is " + bytes_text(settings.execution.limits.max_memory) +
                    " (--max-memory)",
                {.frame = 0});
  }
}

CpuDecodeBackend::CpuDecodeBackend(const DecoderSettings& settings, std::shared_ptr<ThreadPool> pool)
    : settings_(settings), pool_(std::move(pool)), threads_(pool_->concurrency()) {
  while (static_cast<int>(workers_.size()) < threads_) {
    workers_.push_back({.trace = {settings_.trace, TraceTrack::thread, static_cast<int>(workers_.size())}});
  }
}

CpuDecodeBackend::~CpuDecodeBackend() {
  clear();
  for (Worker& worker : workers_) worker.trace.did("idle");
}

void CpuDecodeBackend::open(const Geometry& geometry, std::uint64_t max_memory, ParallelFor /*parallel_for*/) {
  require_memory(settings_, geometry);
  // A quarter of the memory limit is for coded frames. There are one and a half times as many tasks as threads, because
  // some tasks wait for rows of their reference. The pool has two pictures for each task: while the task decodes to
  // one, the frame in the other can wait for its turn.
  const std::uint64_t memory = max_memory / 4 * 3;
  const std::uint64_t picture = picture_bytes(settings_, geometry);
  const std::uint64_t frame = FrameTask::memory(geometry) + 2 * picture;
  const auto wanted = static_cast<std::uint64_t>(threads_ + (threads_ + 1) / 2);
  const std::uint64_t left = memory - std::min(memory, kKeptPictures * picture);
  const auto tasks = static_cast<std::size_t>(std::clamp<std::uint64_t>(left / frame, 1, wanted));
  const std::uint64_t most_waiting =
      std::min(kWaitingPictures, kWaitingPicturesPerThread * static_cast<std::uint64_t>(threads_));
  const std::uint64_t spare = std::min(std::min(left - std::min(left, tasks * frame), kWaitingBytes) / picture, most_waiting);
  pictures_ = PicturePool(kKeptPictures + 2 * tasks + static_cast<std::size_t>(spare));
  tasks_.clear();
  free_tasks_.clear();
  free_tasks_.reserve(tasks);
  while (tasks_.size() < tasks) free_tasks_.push_back(&tasks_.emplace_back(*this));
}

bool CpuDecodeBackend::has_room() const {
  // Each submitted frame takes a picture, and the last two pictures stay in use as well. While the caller does not want
  // the frames, only few may be submitted, so that few pictures are used. Writing to a picture's memory for the first
  // time takes longer than waking a thread.
  const bool are_wanted = outputs_.empty() || outputs_.back().wanted;
  const std::size_t most = are_wanted ? pictures_.size() : std::min(pictures_.size(), kKeptPictures + 2 * tasks_.size() + kWakeAfter);
  if (outputs_.size() + kKeptPictures >= most) return false;
  const std::lock_guard lock(mutex_);
  return coded_bytes_ < settings_.execution.limits.max_memory / 4;
}

void CpuDecodeBackend::submit(StreamFrame&& coded, std::int64_t count, bool wanted) {
  const ParsedFrame& frame = coded.parsed;
  Decoded& output = outputs_.emplace_back();
  static_cast<FrameInfo&>(output.view) = coded.info();
  output.count = count;
  output.wanted = wanted;
  if (frame.repeat) {
    output.picture = chain_.current();
    output.done = true;  // a repeat needs no decoding: it has the previous frame's picture, and is taken after it
    return;
  }
  DecodedPicture& picture = *pictures_.find_free();
  output.picture = PictureRef(&picture);
  output.pictures = chain_.next(frame.key, frame.advances_reference, picture);
  output.coded = std::move(coded);
  const std::lock_guard lock(mutex_);
  coded_bytes_ += output.coded.bytes.size();
  jobs_.push_back(&output);
  if (free_tasks_.empty()) return;
  Task& task = *free_tasks_.back();
  free_tasks_.pop_back();
  begin_next(task);
}

/// Gives the first waiting frame of jobs_ to this task and starts the task. The caller holds the mutex.
void CpuDecodeBackend::begin_next(Task& task) noexcept {
  Decoded& frame = *jobs_.front();
  jobs_.pop_front();
  task.output = &frame;
  task.coded_bytes = frame.coded.bytes.size();
  task.begin(std::move(frame.coded), std::move(frame.pictures));
  pool_->post(task);
}

bool CpuDecodeBackend::is_ready() {
  const std::lock_guard lock(mutex_);
  return outputs_.front().done;
}

const DecodeOutput& CpuDecodeBackend::front() {
  Decoded& output = outputs_.front();
  {
    std::unique_lock lock(mutex_);
    awaited_ = &output;
    finished_ = 0;
    changed_.wait(lock, [&] { return output.done; });
    awaited_ = nullptr;
  }
  if (output.fault) std::rethrow_exception(output.fault);
  show(output.view, *output.picture, settings_.keep_prediction);
  return output;
}

void CpuDecodeBackend::clear() noexcept {
  {
    std::unique_lock lock(mutex_);
    coded_bytes_ = 0;
    for (const Task& task : tasks_) coded_bytes_ += task.coded_bytes;
    jobs_.clear();
    for (Task& task : tasks_) task.cancel();
    changed_.wait(lock, [this] { return is_idle(); });
  }
  outputs_.clear();
  chain_ = {};
}

/// Marks the first unused worker (row of the trace) as busy and returns it; null if there are more threads than
/// workers.
CpuDecodeBackend::Worker* CpuDecodeBackend::begin_work() noexcept {
  const std::lock_guard lock(mutex_);
  ++running_;
  const auto free = std::ranges::find(workers_, false, &Worker::busy);
  if (free == workers_.end()) return nullptr;
  free->busy = true;
  free->trace.did("idle");
  return &*free;
}

void CpuDecodeBackend::run(Task& task) noexcept {
  Worker* const worker = begin_work();
  TraceRow nobody;
  const bool ended = task.FrameTask::run(worker != nullptr ? worker->trace : nobody);
  if (ended) {
    Decoded& output = *task.output;
    output.fault = task.fault();
    try {
      if (settings_.keep_motion && !output.fault) output.view.motion = task.motion();
    } catch (...) {
      output.fault = std::current_exception();  // not enough memory
    }
    task.end();
  }
  // The mutex is held to the end, because a waiting thread may destroy this object as soon as the mutex is released.
  const std::lock_guard lock(mutex_);
  if (worker != nullptr) worker->busy = false;
  --running_;
  if (!ended) {
    // Another thread may have gone on with the task, and ended it.
    if (is_idle()) changed_.notify_all();
    return;
  }
  task.output->done = true;
  coded_bytes_ -= std::exchange(task.coded_bytes, 0);
  if (jobs_.empty()) {
    free_tasks_.push_back(&task);  // does not allocate: it has room for all tasks
  } else {
    begin_next(task);
  }
  ++finished_;
  // Waking the thread that waits in front() takes as long as decoding a small frame. So it is not woken for a single
  // frame while enough other frames are left to decode.
  const bool is_worth_waking = jobs_.size() < tasks_.size() || finished_ >= kWakeAfter;
  if ((awaited_ != nullptr && awaited_->done && is_worth_waking) || is_idle()) changed_.notify_all();
}

}  // namespace c63
