#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "c63/decoder.h"
#include "c63/thread_arena.h"
#include "c63/trace.h"
#include "pipeline/frame_task.h"
#include "pipeline/picture_pool.h"
#include "pipeline/stream_reader.h"
#include "threads/work_threads.h"

namespace c63 {

/// The arena that settings ask for: the caller's, or one of its own.
[[nodiscard]] std::shared_ptr<ThreadArena> arena_of(const DecoderSettings& settings);

/// What is known of a frame before it is decoded.
[[nodiscard]] FrameInfo info_of(const StreamFrame& coded);

/// Throws Error (limit) where not even one frame at a time fits the memory limit.
void require_memory(const DecoderSettings& settings, const Geometry& geometry);

/// Decodes the frames of a stream side by side and gives them back in order. Frames are entropy decoded independently of one
/// another, and restored row by row behind the rows of their reference, so as many are in work as there are threads, of one
/// GOP or of several. More wait before and after that, so that threads seldom wait for the one that submits and takes.
class FramePipeline {
 public:
  /// A frame as it comes out, or a run of repeats of one.
  struct Output {
    FrameInfo info;            ///< of the first one
    std::int64_t count = 1;
    bool wanted = true;
    PictureRef picture;
    std::array<MotionField, kPlanes> motion;  ///< empty unless kept
    std::exception_ptr fault;                 ///< why there is no picture
    bool done = false;                        ///< with the mutex of the pipeline
  };

  FramePipeline(const DecoderSettings& settings, std::shared_ptr<ThreadArena> arena);
  /// Frames that were submitted and not taken are dropped.
  ~FramePipeline();
  FramePipeline(const FramePipeline&) = delete;
  FramePipeline& operator=(const FramePipeline&) = delete;

  /// Gets ready for pictures of one size, once. Throws Error (limit) where that needs more memory than is allowed.
  void open(const Geometry& geometry);
  [[nodiscard]] bool is_open() const { return work_.has_value(); }

  /// Whether submit() may be called.
  [[nodiscard]] bool has_room() const;
  /// `coded` is the frame that follows the last one submitted, or a key frame; `count` is more than one for a run of
  /// repeats.
  void submit(StreamFrame&& coded, std::int64_t count, bool wanted);

  [[nodiscard]] bool empty() const { return outputs_.empty(); }
  /// Whether the first frame is decoded, or has a fault.
  [[nodiscard]] bool is_ready() const;
  /// The first frame of those submitted, which are not empty. Waits for it, and throws its fault.
  [[nodiscard]] const Output& front();
  void pop() { outputs_.pop_front(); }

  /// Drops what was submitted and not taken. A key frame is next.
  void clear() noexcept;

 private:
  class Task final : public FrameTask {
   public:
    explicit Task(FramePipeline& owner) : FrameTask(owner.settings_), owner_(owner) {}
    void resume() noexcept override { owner_.post(*this); }

    Output* output = nullptr;
    std::uint64_t coded_bytes = 0;  ///< of its frame; with the mutex

   private:
    FramePipeline& owner_;
  };

  /// A frame that no task has begun.
  struct Job {
    StreamFrame coded;
    FramePictures pictures;
    Output* output = nullptr;
  };

  /// A thread at work, as a trace shows it.
  struct Worker {
    TraceRow trace;
    bool busy = false;
  };

  void begin_next(Task& task) noexcept;
  void post(Task& task) noexcept;
  void run(Task& task) noexcept;
  void finish(Task& task) noexcept;
  Worker* begin_work() noexcept;

  const DecoderSettings settings_;
  std::shared_ptr<ThreadArena> arena_;
  int threads_;
  ReferenceChain chain_;

  std::deque<Worker> workers_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  PicturePool pool_;
  std::deque<Task> tasks_;
  // With the mutex:
  std::vector<Task*> free_tasks_;
  std::deque<Job> jobs_;            ///< begun in order, so the frame before one of them was begun before it
  std::uint64_t coded_bytes_ = 0;   ///< of jobs, and of tasks at work
  const Output* awaited_ = nullptr;

  std::deque<Output> outputs_;      ///< in order of the stream
  std::optional<WorkThreads> work_;  ///< last: its threads use all of the above
};

}  // namespace c63
