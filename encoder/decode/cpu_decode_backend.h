#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backend/decode_backend.h"
#include "c63/decoder.h"
#include "c63/thread_pool.h"
#include "c63/trace.h"
#include "decode/frame_task.h"
#include "decode/picture_pool.h"
#include "decode/stream_reader.h"

namespace c63 {

/// Returns the pool of the settings. If they have none, makes one with execution.threads threads, but at most one for
/// each CPU.
[[nodiscard]] std::shared_ptr<ThreadPool> pool_of(const DecoderSettings& settings);

/// Lets a view show a picture, and its prediction if `with_prediction` is true.
void show(FrameView& view, const DecodedPicture& picture, bool with_prediction);

/// Throws Error (limit) if the memory limit is too low to decode even one frame at a time.
void require_memory(const DecoderSettings& settings, const Geometry& geometry);

/// Decodes several frames of a stream at the same time on the CPU, and returns them in order. Frames are entropy
/// decoded independently, except that a frame which inherits vectors waits for the previous frame. A row is
/// reconstructed as soon as the rows that it needs of the reference are decoded. So every thread can decode another
/// frame, even within one GOP. Further frames wait to be decoded or to be taken, so threads seldom wait for the caller.
class CpuDecodeBackend final : public DecodeBackend {
 public:
  CpuDecodeBackend(const DecoderSettings& settings, std::shared_ptr<ThreadPool> pool);
  /// Drops frames that were submitted and not taken.
  ~CpuDecodeBackend() override;
  CpuDecodeBackend(const CpuDecodeBackend&) = delete;
  CpuDecodeBackend& operator=(const CpuDecodeBackend&) = delete;

  [[nodiscard]] const std::string& description() const override { return description_; }
  void open(const Geometry& geometry, std::uint64_t max_memory, ParallelFor parallel_for) override;
  [[nodiscard]] bool has_room() const override;
  void submit(StreamFrame&& coded, std::int64_t count, bool wanted) override;
  [[nodiscard]] bool empty() const override { return outputs_.empty(); }
  [[nodiscard]] bool is_ready() override;
  [[nodiscard]] const DecodeOutput& front() override;
  std::vector<std::uint8_t> pop() override {
    outputs_.pop_front();
    return {};
  }
  void clear() noexcept override;

 private:
  /// A submitted frame.
  struct Decoded : DecodeOutput {
    StreamFrame coded;         ///< empty when a task has begun to decode it
    FramePictures pictures;    ///< likewise
    PictureRef picture;
    std::exception_ptr fault;  ///< the error, if the frame could not be decoded
    bool done = false;         ///< guarded by the mutex
  };

  class Task final : public FrameTask, public ThreadPool::Task {
   public:
    explicit Task(CpuDecodeBackend& owner) : FrameTask(owner.settings_), owner_(owner) {
      ThreadPool::Task::run = [](ThreadPool::Task& task) noexcept {
        auto& self = static_cast<Task&>(task);
        self.owner_.run(self);
      };
    }
    void resume() noexcept override { owner_.pool_->post(*this); }

    Decoded* output = nullptr;
    std::uint64_t coded_bytes = 0;  ///< bytes of its coded frame; guarded by the mutex

   private:
    CpuDecodeBackend& owner_;
  };

  /// A row of the trace. A thread that decodes uses one at a time.
  struct Worker {
    TraceRow trace;
    bool busy = false;
  };

  void begin_next(Task& task) noexcept;
  void run(Task& task) noexcept;
  Worker* begin_work() noexcept;
  /// Whether no thread uses this object any more. The caller holds the mutex.
  [[nodiscard]] bool is_idle() const { return running_ == 0 && free_tasks_.size() == tasks_.size(); }

  const DecoderSettings settings_;
  std::string description_ = "cpu";
  std::shared_ptr<ThreadPool> pool_;
  int threads_;
  ReferenceChain chain_;

  std::deque<Worker> workers_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  PicturePool pictures_;
  std::deque<Task> tasks_;
  // Guarded by the mutex:
  std::vector<Task*> free_tasks_;
  std::deque<Decoded*> jobs_;       ///< frames that no task has begun, in stream order
  int running_ = 0;                 ///< threads in run()
  std::uint64_t coded_bytes_ = 0;   ///< coded bytes of all jobs and of the tasks that are running
  const Decoded* awaited_ = nullptr;
  std::size_t finished_ = 0;        ///< frames that were finished since front() began to wait

  std::deque<Decoded> outputs_;     ///< in stream order
};

}  // namespace c63
