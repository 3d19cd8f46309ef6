// FilterQueue: a stream with scratch memory. Also the functions that allocate and free device memory for callers.
#include <array>

#include "c63/cuda/devices.h"
#include "c63/cuda/filters.h"
#include "cuda_me/runtime/check.h"
#include "cuda_me/runtime/memory.h"
#include "cuda_me/runtime/stream.h"

namespace c63::cuda {
namespace {

/// Makes `device` the current one of this thread and returns it. It stays current, because the functions that take a
/// queue launch on the current device.
int usable(int device) {
  static_cast<void>(require_device(device));
  check(cudaSetDevice(device), "cudaSetDevice");
  return device;
}

}  // namespace

struct FilterQueue::State {
  explicit State(int index) : device(index), multiprocessors(require_device(index).multiprocessors) {
    fill_async(zeros.data(), 0, zeros.bytes(), stream);
  }

  int device;
  int multiprocessors;
  Stream stream;
  std::array<Stream, 4> side;
  Event forked;
  std::array<Event, 4> done;
  std::array<bool, 4> used{};
  DeviceBuffer<std::uint8_t> scratch;
  DeviceBuffer<std::uint8_t> zeros{1024};
};

FilterQueue::FilterQueue(int device) : state_(std::make_unique<State>(usable(device))) {}
FilterQueue::~FilterQueue() = default;
FilterQueue::FilterQueue(FilterQueue&&) noexcept = default;
FilterQueue& FilterQueue::operator=(FilterQueue&&) noexcept = default;

CUstream_st* FilterQueue::stream() const { return state_->stream; }
int FilterQueue::device() const { return state_->device; }
int FilterQueue::multiprocessors() const { return state_->multiprocessors; }
void FilterQueue::synchronize() const { state_->stream.synchronize(); }
void* FilterQueue::zeros() const { return state_->zeros.data(); }

void* FilterQueue::scratch(std::size_t bytes) {
  if (bytes > state_->scratch.size()) {
    synchronize();
    state_->scratch = {};
    state_->scratch = DeviceBuffer<std::uint8_t>(bytes + bytes / 2);
  }
  return state_->scratch.data();
}

CUstream_st* FilterQueue::fork(int index) {
  const auto at = static_cast<std::size_t>(index);
  if (!state_->used[at]) {
    state_->forked.record(state_->stream);
    state_->side[at].wait(state_->forked);
    state_->used[at] = true;
  }
  return state_->side[at];
}

void FilterQueue::join() {
  for (std::size_t i = 0; i < state_->side.size(); ++i) {
    if (!state_->used[i]) continue;
    state_->done[i].record(state_->side[i]);
    state_->stream.wait(state_->done[i]);
    state_->used[i] = false;
  }
}

void FilterQueue::upload(void* device, const void* host, std::size_t bytes) const {
  if (bytes == 0) return;
  copy_async(static_cast<std::uint8_t*>(device), static_cast<const std::uint8_t*>(host), bytes, stream());
}

void FilterQueue::download(void* host, const void* device, std::size_t bytes) const {
  if (bytes == 0) return;
  copy_async(static_cast<std::uint8_t*>(host), static_cast<const std::uint8_t*>(device), bytes, stream());
  synchronize();
}

namespace detail {

void* allocate(int device, std::size_t bytes) {
  const DeviceGuard guard(device);
  return bytes != 0 ? DeviceMemory::allocate(bytes) : nullptr;
}

void Release::operator()(void* memory) const noexcept { drop_error(cudaFree(memory)); }

}  // namespace detail
}  // namespace c63::cuda
