// What a whole program sees of CUDA's runtime when `c63bench nvcc` compiles it for the CPU. There is one queue for all streams. Its work
// is done as late as the program permits, so what is read too early is not there yet.
#pragma once

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

typedef enum cudaError {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorNotReady = 600,
  cudaErrorLaunchFailure = 719
} cudaError_t;
enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8, cudaFuncAttributePreferredSharedMemoryCarveout = 9 };
enum : unsigned {
  cudaStreamDefault = 0,
  cudaStreamNonBlocking = 1,
  cudaEventDefault = 0,
  cudaEventBlockingSync = 1,
  cudaEventDisableTiming = 2,
  cudaHostAllocDefault = 0,
  cudaHostAllocPortable = 1,
  cudaHostAllocMapped = 2,
  cudaHostAllocWriteCombined = 4,
  cudaMemAttachGlobal = 1
};
struct C63Stream {};
struct C63Event {
  std::chrono::steady_clock::time_point time;
};
typedef C63Stream* cudaStream_t;
typedef C63Event* cudaEvent_t;
struct cudaDeviceProp {
  char name[256];
  std::size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin, sharedMemPerMultiprocessor;
  int major, minor, multiProcessorCount, warpSize, maxThreadsPerBlock, maxThreadsPerMultiProcessor, regsPerBlock, l2CacheSize;
};

/// The state of the runtime.
struct C63Runtime {
  std::deque<std::function<void()>> queue;
  std::map<const char*, std::size_t> page_locked;
  cudaError_t last = cudaSuccess;
  cudaError_t lasting = cudaSuccess;  // after a fault, nothing works any more
};
inline C63Runtime& c63_runtime() {
  static C63Runtime runtime;
  return runtime;
}
inline cudaError_t c63_result(int error) {
  C63Runtime& r = c63_runtime();
  if (r.lasting != cudaSuccess) error = r.lasting;
  if (error == cudaErrorLaunchFailure) r.lasting = cudaErrorLaunchFailure;
  if (error != cudaSuccess) r.last = (cudaError_t)error;
  return (cudaError_t)error;
}
/// Does all work that waits.
inline cudaError_t c63_finish() {
  C63Runtime& r = c63_runtime();
  while (!r.queue.empty()) {
    const std::function<void()> work = std::move(r.queue.front());
    r.queue.pop_front();
    if (r.lasting == cudaSuccess) work();
  }
  return c63_result(cudaSuccess);
}
inline cudaError_t c63_later(std::function<void()> work) {
  c63_runtime().queue.push_back(std::move(work));
  return c63_result(cudaSuccess);
}
inline bool c63_is_page_locked(const void* at) {
  const auto& all = c63_runtime().page_locked;
  const auto after = all.upper_bound((const char*)at);
  return after != all.begin() && (const char*)at < std::prev(after)->first + std::prev(after)->second;
}

// ---- Launches: kernel<<<grid, block, shared, stream>>>(...) is kernel->*C63Shape(grid, block, shared, stream)(...) ----

template <typename... T, std::size_t... I>
__attribute__((no_sanitize("thread", "undefined"))) inline void c63_apply(void (*kernel)(T...), std::tuple<std::decay_t<T>...>& arguments, std::index_sequence<I...>) {
  kernel(std::get<I>(arguments)...);
}
template <typename... A>
struct C63Bound {
  dim3 grid, block;
  std::size_t shared;
  std::tuple<A...> arguments;
};
struct C63Shape {
  dim3 grid, block;
  std::size_t shared;
  C63Shape(dim3 grid, dim3 block, std::size_t shared = 0, cudaStream_t = nullptr) : grid(grid), block(block), shared(shared) {}
  template <typename... A>
  C63Bound<std::decay_t<A>...> operator()(A&&... arguments) const {
    return {grid, block, shared, {std::forward<A>(arguments)...}};
  }
};
template <typename... T, typename... A>
void operator->*(void (*kernel)(T...), C63Bound<A...> bound) {
  static_assert(sizeof...(T) == sizeof...(A), "the kernel has another number of parameters");
  c63_later([=] {
    struct Call {
      void (*kernel)(T...);
      std::tuple<std::decay_t<T>...> arguments;
    } call{kernel, bound.arguments};
    const auto run = [](void* data) { c63_apply(((Call*)data)->kernel, ((Call*)data)->arguments, std::index_sequence_for<T...>()); };
    c63_result(c63_emulated_gpu->launch(run, &call, bound.grid, bound.block, bound.shared));
  });
}

// ---- Memory ----

inline cudaError_t c63_allocate(void** to, std::size_t bytes, bool is_managed) {
  *to = c63_emulated_gpu->allocate(bytes, is_managed);
  return c63_result(*to != nullptr ? cudaSuccess : cudaErrorMemoryAllocation);
}
template <typename T>
cudaError_t cudaMalloc(T** to, std::size_t bytes) {
  return c63_allocate((void**)to, bytes, false);
}
template <typename T>
cudaError_t cudaMallocManaged(T** to, std::size_t bytes, unsigned = cudaMemAttachGlobal) {
  return c63_allocate((void**)to, bytes, true);
}
template <typename T>
cudaError_t cudaMallocPitch(T** to, std::size_t* pitch, std::size_t width, std::size_t height) {
  *pitch = (width + 511) / 512 * 512;
  return c63_allocate((void**)to, *pitch * height, false);
}
template <typename T>
cudaError_t cudaHostAlloc(T** to, std::size_t bytes, unsigned = cudaHostAllocDefault) {
  *to = (T*)std::malloc(bytes);
  c63_runtime().page_locked[(const char*)*to] = bytes;
  return c63_result(*to != nullptr ? cudaSuccess : cudaErrorMemoryAllocation);
}
template <typename T>
cudaError_t cudaMallocHost(T** to, std::size_t bytes, unsigned flags = cudaHostAllocDefault) {
  return cudaHostAlloc(to, bytes, flags);
}
inline cudaError_t cudaFreeHost(void* at) {
  c63_finish();
  c63_runtime().page_locked.erase((const char*)at);
  std::free(at);
  return c63_result(cudaSuccess);
}
inline cudaError_t cudaHostRegister(void* at, std::size_t bytes, unsigned = 0) {
  c63_runtime().page_locked[(const char*)at] = bytes;
  return c63_result(cudaSuccess);
}
inline cudaError_t cudaHostUnregister(void* at) {
  c63_finish();
  c63_runtime().page_locked.erase((const char*)at);
  return c63_result(cudaSuccess);
}
inline cudaError_t cudaFree(void* at) {
  c63_finish();
  return c63_result(at == nullptr ? cudaSuccess : c63_emulated_gpu->release(at));
}

/// Copies or fills `height` rows. `from` null: fills with `value`. What comes from the host is read now: it may change before the copy.
inline cudaError_t c63_transfer(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width, std::size_t height, int value,
                                cudaMemcpyKind kind, bool waits, void* caller) {
  const bool is_to_device = c63_emulated_gpu->is_device(to), is_from_device = from != nullptr && c63_emulated_gpu->is_device(from);
  const bool wants_to = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool wants_from = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (kind != cudaMemcpyDefault && (wants_to != is_to_device || (from != nullptr && wants_from != is_from_device))) return c63_result(cudaErrorInvalidValue);
  std::vector<char> bytes;
  if (from != nullptr && !is_from_device && !waits) {
    for (std::size_t y = 0; y < height; ++y) bytes.insert(bytes.end(), (const char*)from + y * from_pitch, (const char*)from + y * from_pitch + width);
  }
  c63_later([=, bytes = std::move(bytes)] {
    for (std::size_t y = 0; y < height; ++y) {
      const void* const row = from == nullptr ? nullptr : bytes.empty() ? (const char*)from + y * from_pitch : bytes.data() + y * width;
      c63_result(c63_emulated_gpu->transfer((char*)to + y * to_pitch, row, width, value, caller));
    }
  });
  const bool may_wait = is_to_device || c63_is_page_locked(to);  // other host memory has the bytes when the call returns
  return waits || !may_wait ? c63_finish() : c63_result(cudaSuccess);
}
#define C63_TRANSFER(name, parameters, ...)                                                                    \
  __attribute__((noinline)) inline cudaError_t name parameters {                                              \
    return c63_transfer(__VA_ARGS__, true, __builtin_return_address(0));                                       \
  }                                                                                                            \
  __attribute__((noinline)) inline cudaError_t name##Async C63_WITH_STREAM parameters {                        \
    return c63_transfer(__VA_ARGS__, false, __builtin_return_address(0));                                      \
  }
#define C63_WITH_STREAM(...) (__VA_ARGS__, cudaStream_t = nullptr)
C63_TRANSFER(cudaMemcpy, (void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind), to, 0, from, 0, bytes, 1, 0, kind)
C63_TRANSFER(cudaMemcpy2D, (void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width, std::size_t height, cudaMemcpyKind kind),
             to, to_pitch, from, from_pitch, width, height, 0, kind)
C63_TRANSFER(cudaMemset, (void* to, int value, std::size_t bytes), to, 0, nullptr, 0, bytes, 1, value, cudaMemcpyDefault)
C63_TRANSFER(cudaMemset2D, (void* to, std::size_t pitch, int value, std::size_t width, std::size_t height), to, pitch, nullptr, 0, width, height, value, cudaMemcpyDefault)
template <typename T>
cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, std::size_t bytes, std::size_t offset = 0, cudaMemcpyKind = cudaMemcpyHostToDevice, cudaStream_t = nullptr) {
  return c63_transfer((char*)&symbol + offset, 0, from, 0, bytes, 1, 0, cudaMemcpyDefault, true, nullptr);
}
template <typename T>
cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, std::size_t bytes, std::size_t offset = 0, cudaMemcpyKind = cudaMemcpyHostToDevice) {
  return cudaMemcpyToSymbolAsync(symbol, from, bytes, offset);
}
template <typename T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, std::size_t bytes, std::size_t offset = 0, cudaMemcpyKind = cudaMemcpyDeviceToHost) {
  return c63_transfer(to, 0, (const char*)&symbol + offset, 0, bytes, 1, 0, cudaMemcpyDefault, true, nullptr);
}

// ---- Streams, events, devices ----

inline cudaError_t cudaDeviceSynchronize() { return c63_finish(); }
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return c63_finish(); }
inline cudaError_t cudaStreamQuery(cudaStream_t) { return c63_finish(); }
inline cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  *stream = new C63Stream;
  return c63_result(cudaSuccess);
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) { return cudaStreamCreate(stream); }
inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) { return cudaStreamCreate(stream); }
inline cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  c63_finish();
  delete stream;
  return c63_result(cudaSuccess);
}
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0) { return c63_result(cudaSuccess); }
inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned = cudaEventDefault) {
  *event = new C63Event;
  return c63_result(cudaSuccess);
}
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) { return cudaEventCreate(event, flags); }
inline cudaError_t cudaEventDestroy(cudaEvent_t event) {
  c63_finish();
  delete event;
  return c63_result(cudaSuccess);
}
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t = nullptr) {
  return c63_later([=] { event->time = std::chrono::steady_clock::now(); });
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return c63_finish(); }
inline cudaError_t cudaEventQuery(cudaEvent_t) { return c63_finish(); }
inline cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t stop) {
  c63_finish();
  *ms = std::chrono::duration<float, std::milli>(stop->time - start->time).count();
  return c63_result(cudaSuccess);
}
inline cudaError_t cudaGetLastError() { return std::exchange(c63_runtime().last, c63_runtime().lasting); }
inline cudaError_t cudaPeekAtLastError() { return c63_runtime().last; }
inline const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaSuccess: return "cudaSuccess";
    case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidConfiguration: return "cudaErrorInvalidConfiguration";
    case cudaErrorNotReady: return "cudaErrorNotReady";
    default: return "cudaErrorLaunchFailure";
  }
}
inline const char* cudaGetErrorString(cudaError_t error) { return cudaGetErrorName(error); }
inline cudaError_t cudaSetDevice(int device) { return c63_result(device == 0 ? cudaSuccess : cudaErrorInvalidValue); }
inline cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return c63_result(cudaSuccess);
}
inline cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return c63_result(cudaSuccess);
}
inline cudaError_t cudaDeviceReset() { return c63_finish(); }
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {"emulated", std::size_t(256) << 20, 48 << 10, kC63SharedBytes - 1024, kC63SharedBytes, 9, 0, 1, 32, 1024, 2048, 65536, 50 << 20};
  return c63_result(cudaSuccess);
}
template <typename T>
cudaError_t cudaFuncSetAttribute(T*, cudaFuncAttribute, int) {
  return c63_result(cudaSuccess);
}
