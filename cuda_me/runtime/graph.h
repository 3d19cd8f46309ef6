#pragma once

#include <cuda_runtime_api.h>

#include <utility>

#include "cuda_me/runtime/check.h"
#include "cuda_me/runtime/handle.h"

namespace c63::cuda {

/// The work of a stream, recorded as a CUDA graph. To launch it, make a GraphExec.
class Graph {
 public:
  Graph() = default;

  /// Records the work that `work` enqueues on `stream`. If `work` throws, the recording is dropped and the error is
  /// rethrown.
  template <typename Work>
  [[nodiscard]] static Graph capture(cudaStream_t stream, Work&& work) {
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
    return Graph(graph);
  }

  [[nodiscard]] cudaGraph_t get() const noexcept { return handle_.get(); }

 private:
  explicit Graph(cudaGraph_t graph) : handle_(graph) {}
  Handle<cudaGraph_t, cudaGraphDestroy> handle_;
};

/// A graph that can be launched any number of times.
class GraphExec {
 public:
  GraphExec() = default;
  explicit GraphExec(const Graph& graph) : handle_(make(graph)) {}

  [[nodiscard]] bool empty() const noexcept { return handle_.get() == nullptr; }
  void upload(cudaStream_t stream) const { check(cudaGraphUpload(handle_.get(), stream), "cudaGraphUpload"); }
  void launch(cudaStream_t stream) const { check(cudaGraphLaunch(handle_.get(), stream), "cudaGraphLaunch"); }

 private:
  static cudaGraphExec_t make(const Graph& graph) {
    cudaGraphExec_t exec = nullptr;
    check(cudaGraphInstantiate(&exec, graph.get(), 0), "cudaGraphInstantiate");
    return exec;
  }
  Handle<cudaGraphExec_t, cudaGraphExecDestroy> handle_;
};

}  // namespace c63::cuda
