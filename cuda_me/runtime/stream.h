#pragma once

#include <cuda_runtime_api.h>

#include <utility>

#include "cuda_me/runtime/check.h"

namespace c63::cuda {

/// A point in the work of a stream. An event does not measure time by default, because recording a timed event takes
/// longer.
class Event {
 public:
  enum class Timing { off, on };

  explicit Event(Timing timing = Timing::off) : handle_(make(timing)) {}

  [[nodiscard]] cudaEvent_t get() const noexcept { return handle_.get(); }
  void record(cudaStream_t stream) const { check(cudaEventRecord(get(), stream), "cudaEventRecord"); }
  void synchronize() const { check(cudaEventSynchronize(get()), "cudaEventSynchronize"); }
  /// Returns true if all work before the last record() is done. Throws if it failed.
  [[nodiscard]] bool done() const {
    const cudaError_t status = cudaEventQuery(get());
    if (status == cudaErrorNotReady) return false;
    check(status, "cudaEventQuery");
    return true;
  }
  /// Returns the milliseconds from `start` to this event. Both must have Timing::on, must be recorded, and must be
  /// done.
  [[nodiscard]] float milliseconds_since(const Event& start) const {
    float ms = 0;
    check(cudaEventElapsedTime(&ms, start.get(), get()), "cudaEventElapsedTime");
    return ms;
  }

 private:
  static cudaEvent_t make(Timing timing) {
    cudaEvent_t event = nullptr;
    check(cudaEventCreateWithFlags(&event, timing == Timing::on ? cudaEventDefault : cudaEventDisableTiming),
          "cudaEventCreateWithFlags");
    return event;
  }
  Handle<cudaEvent_t, cudaEventDestroy> handle_;
};

/// A stream on the current device that never waits for the legacy default stream.
class Stream {
 public:
  /// If thread blocks of several streams wait for a free multiprocessor, those of high-priority streams go first.
  enum class Priority { normal, high };

  explicit Stream(Priority priority = Priority::normal) : handle_(make(priority)) {}

  [[nodiscard]] cudaStream_t get() const noexcept { return handle_.get(); }
  operator cudaStream_t() const noexcept { return handle_.get(); }
  void synchronize() const { check(cudaStreamSynchronize(get()), "cudaStreamSynchronize"); }
  void wait(const Event& event) const { check(cudaStreamWaitEvent(get(), event.get(), 0), "cudaStreamWaitEvent"); }

 private:
  static cudaStream_t make(Priority priority) {
    int lowest = 0;
    int highest = 0;
    check(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "cudaDeviceGetStreamPriorityRange");
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, priority == Priority::high ? highest : lowest),
          "cudaStreamCreateWithPriority");
    return stream;
  }
  Handle<cudaStream_t, cudaStreamDestroy> handle_;
};

/// The work of a stream, recorded as a CUDA graph. It can be launched any number of times.
class GraphExec {
 public:
  GraphExec() = default;

  /// Records the work that `work` enqueues on `stream`. If `work` throws, the recording is dropped and the error is
  /// rethrown.
  template <typename Work>
  [[nodiscard]] static GraphExec capture(cudaStream_t stream, Work&& work) {
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    cudaGraph_t graph = nullptr;
    try {
      std::forward<Work>(work)();
    } catch (...) {
      const cudaError_t ended = cudaStreamEndCapture(stream, &graph);  // fails if the capture is already invalid
      if (ended == cudaSuccess && graph != nullptr) static_cast<void>(cudaGraphDestroy(graph));
      static_cast<void>(cudaGetLastError());
      throw;
    }
    check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
    const Handle<cudaGraph_t, cudaGraphDestroy> recorded(graph);
    cudaGraphExec_t exec = nullptr;
    check(cudaGraphInstantiate(&exec, graph, 0), "cudaGraphInstantiate");
    return GraphExec(exec);
  }

  [[nodiscard]] bool empty() const noexcept { return handle_.get() == nullptr; }
  void upload(cudaStream_t stream) const { check(cudaGraphUpload(handle_.get(), stream), "cudaGraphUpload"); }
  void launch(cudaStream_t stream) const { check(cudaGraphLaunch(handle_.get(), stream), "cudaGraphLaunch"); }

 private:
  explicit GraphExec(cudaGraphExec_t exec) : handle_(exec) {}
  Handle<cudaGraphExec_t, cudaGraphExecDestroy> handle_;
};

}  // namespace c63::cuda
