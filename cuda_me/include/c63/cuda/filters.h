#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "c63/filters.h"
#include "c63/picture.h"

// The functions of c63/filters.h for data on a GPU, with the same names, rules and results. Views are of device memory, except
// where a comment says otherwise. Every call queues its work and returns. Each takes a variant: use `best`; the others are the
// steps towards it, kept for comparison. A call throws for wrong arguments; FilterQueue::synchronize() throws the device's
// errors.

struct CUstream_st;

namespace c63::cuda {

/// A stream on one GPU, and the scratch memory of its work. Only one thread at a time may use it. The constructor makes the GPU
/// current on its thread. It must also be current wherever the queue is used.
class FilterQueue {
 public:
  /// Throws Error (device) if that GPU cannot be used.
  explicit FilterQueue(int device = 0);
  ~FilterQueue();
  FilterQueue(FilterQueue&&) noexcept;
  FilterQueue& operator=(FilterQueue&&) noexcept;

  [[nodiscard]] CUstream_st* stream() const;
  [[nodiscard]] int device() const;
  [[nodiscard]] int multiprocessors() const;
  /// Waits for all queued work. Throws its error, if there was one.
  void synchronize() const;

  /// At least `bytes` of device memory for the next queued work. Later work may get the same memory. Growing it waits for the
  /// queue. Ask for all memory of one call at once.
  [[nodiscard]] void* scratch(std::size_t bytes);
  /// 1024 zero bytes in device memory. Work that uses them must leave them zero.
  [[nodiscard]] void* zeros() const;
  /// One of four further streams, 0..3. It waits for all work queued so far. join() makes the queue wait for all four.
  [[nodiscard]] CUstream_st* fork(int index);
  void join();

  /// Copies to the device. For pageable memory, it returns when the memory may be changed again.
  void upload(void* device, const void* host, std::size_t bytes) const;
  /// Copies to the host. Returns when the data is there.
  void download(void* host, const void* device, std::size_t bytes) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

namespace detail {
[[nodiscard]] void* allocate(int device, std::size_t bytes);
void release(void* memory) noexcept;
}  // namespace detail

/// `size` uninitialized values in device memory.
template <typename T>
class DeviceArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  DeviceArray() = default;
  DeviceArray(const FilterQueue& queue, std::size_t size)
      : data_(static_cast<T*>(detail::allocate(queue.device(), size * sizeof(T)))), size_(size) {}
  DeviceArray(const FilterQueue& queue, std::span<const T> host) : DeviceArray(queue, host.size()) {
    queue.upload(data_, host.data(), host.size_bytes());
  }
  DeviceArray(DeviceArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~DeviceArray() { detail::release(data_); }

  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::span<T> span() const { return {data_, size_}; }
  [[nodiscard]] std::span<const T> const_span() const { return {data_, size_}; }
  [[nodiscard]] std::vector<T> download(const FilterQueue& queue) const {
    std::vector<T> host(size_);
    queue.download(host.data(), data_, size_ * sizeof(T));
    return host;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

enum class ConvolutionVariant {
  best,
  global,         ///< signal and taps from global memory
  constant_taps,  ///< taps in constant memory
  shared_tile,    ///< taps in constant memory, the signal in a shared tile with a halo
  tuned,          ///< several outputs per thread from registers, 16-byte accesses
};

/// Convolves with `taps` in host memory. Agrees with the serial form to the bit.
void convolve(FilterQueue& queue, std::span<const double> signal, std::span<const double> taps, std::span<double> out,
              ConvolutionVariant variant = ConvolutionVariant::best);
void mean_filter(FilterQueue& queue, std::span<const double> signal, int width, std::span<double> out,
                 ConvolutionVariant variant = ConvolutionVariant::best);

enum class Convolution2dVariant {
  best,
  direct,         ///< every sample from global memory: K² reads per output
  shared_tile,    ///< a tile of O² outputs reads (O+K−1)² samples
  restrict_taps,  ///< shared_tile with taps through the read-only cache
  separable,      ///< one factor after the other; only for separable kernels
};

void convolve(FilterQueue& queue, ConstPlaneView in, const ByteKernel& kernel, PlaneView out,
              Convolution2dVariant variant = Convolution2dVariant::best);
void convolve(FilterQueue& queue, BasicPlaneView<const float> in, const FloatKernel& kernel, BasicPlaneView<float> out,
              Convolution2dVariant variant = Convolution2dVariant::best);

enum class HistogramVariant {
  best,
  sections,     ///< one section of the bytes per thread, global atomics
  interleaved,  ///< neighbouring threads take neighbouring bytes, global atomics
  privatized,   ///< counts of each block in shared memory
  cub,          ///< with 32-bit counters; inputs of more than 2^30 bytes in pieces
};

void histogram(FilterQueue& queue, std::span<const std::uint8_t> bytes, const BinMap& map,
               std::span<std::uint64_t> counts, HistogramVariant variant = HistogramVariant::best);

enum class ReductionVariant {
  best,
  one_thread,
  one_block,         ///< thread 0 adds the results of the threads of one block
  atomics,           ///< many blocks, one atomic per thread
  tree_interleaved,  ///< a tree in shared memory, neighbours first: diverging warps
  tree_sequential,   ///< a tree in shared memory, halves first
  shuffles,          ///< warps reduce in registers; the last block to finish adds the blocks' results
  cub,
};

// For T = uint8, int32, float and double. The result is one value in device memory.

template <typename T>
void sum(FilterQueue& queue, std::span<const T> values, SumOf<T>* result,
         ReductionVariant variant = ReductionVariant::best);
template <typename T>
void minimum(FilterQueue& queue, std::span<const T> values, T* result, ReductionVariant variant = ReductionVariant::best);
template <typename T>
void maximum(FilterQueue& queue, std::span<const T> values, T* result, ReductionVariant variant = ReductionVariant::best);
template <typename T>
void argmin(FilterQueue& queue, std::span<const T> values, std::uint64_t* result,
            ReductionVariant variant = ReductionVariant::best);
template <typename T>
void argmax(FilterQueue& queue, std::span<const T> values, std::uint64_t* result,
            ReductionVariant variant = ReductionVariant::best);

/// Σ (a[i] − b[i])², as PSNR needs it. Both signals must have the same length.
void sum_of_squared_errors(FilterQueue& queue, std::span<const std::uint8_t> a, std::span<const std::uint8_t> b,
                           std::uint64_t* result);

enum class ScanVariant {
  best,
  hillis_steele,    ///< one block; n·log n − (n−1) additions per tile
  blelloch,         ///< one block; up and down a tree, at most 2(n−1) additions per tile
  blelloch_padded,  ///< blelloch without bank conflicts
  many_blocks,      ///< many blocks scan tiles, then their sums are scanned and added
  look_back,        ///< one pass, each tile looks back for its prefix; for 4-byte integers, otherwise cub
  rounds,           ///< one pass, blocks stay and exchange sums; for 4-byte integers on sm_90, otherwise cub
  cub,              ///< look-back by CUB
};

// For T = int32, uint32 and double. `out` may be `values`.

template <typename T>
void inclusive_scan(FilterQueue& queue, std::span<const T> values, std::span<T> out,
                    ScanVariant variant = ScanVariant::best);
template <typename T>
void exclusive_scan(FilterQueue& queue, std::span<const T> values, std::span<T> out,
                    ScanVariant variant = ScanVariant::best);

enum class ProductVariant {
  best,
  direct,         ///< one thread per output, 2K loads each
  shared_tile,    ///< tiles in shared memory: loads divided by the tile's width
  register_tile,  ///< shared_tile with 4x4 outputs per thread
};

void multiply(FilterQueue& queue, BasicPlaneView<const float> a, BasicPlaneView<const float> b, BasicPlaneView<float> c,
              ProductVariant variant = ProductVariant::best);

enum class ShiftVariant {
  best,
  sums_on_cpu,   ///< one kernel per frame; its blocks' sums are copied and added on the CPU
  atomics,       ///< one kernel per frame, added by atomics; one copy per frame
  back_to_back,  ///< one kernel per frame, one copy at the end
  four_streams,  ///< back_to_back over four streams
  one_kernel,    ///< one kernel for all frames; the reference's derivatives computed once
};

/// The sums of each frame relative to a reference, at most 256 frames. `sums` is in host memory and filled when this returns.
/// For bytes they equal the CPU's to the bit.
template <typename Sample>
void shift_sums(FilterQueue& queue, BasicPlaneView<const Sample> reference,
                std::span<const BasicPlaneView<const Sample>> frames, std::span<ShiftSums> sums,
                ShiftVariant variant = ShiftVariant::best);

/// Shifts and whitening of frames relative to one reference, with everything on the device.
template <typename Sample>
class WhiteningEngine {
 public:
  /// Reads and prepares the reference picture, which is in device memory.
  WhiteningEngine(FilterQueue& queue, BasicPlaneView<const Sample> reference, const WhiteningSettings& settings);
  ~WhiteningEngine();
  WhiteningEngine(WhiteningEngine&&) noexcept;
  WhiteningEngine& operator=(WhiteningEngine&&) noexcept;

  /// Queues the shifts of the frame and of its history (settings.memory frames), the weights, and the output. After its first
  /// run it may be recorded into a graph.
  void whiten(BasicPlaneView<const Sample> frame, std::span<const BasicPlaneView<const Sample>> history,
              BasicPlaneView<float> out);
  /// Waits. Throws as c63::whiten() does if a whiten() since the last finish() had no solution.
  void finish();
  /// After finish(): the weights of the last whiten(), in float as on the CPU, and the shift of its frame.
  [[nodiscard]] std::vector<float> weights() const;
  [[nodiscard]] std::optional<FrameShift> shift() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// c63::Whitener on a GPU. Frames and output are in host memory.
template <typename Sample>
class Whitener {
 public:
  Whitener(FilterQueue& queue, int width, int height, const WhiteningSettings& settings);

  bool push(BasicPlaneView<const Sample> frame, BasicPlaneView<float> out);

 private:
  FilterQueue* queue_;
  int width_;
  int height_;
  WhiteningSettings settings_;
  std::optional<WhiteningEngine<Sample>> engine_;
  std::deque<DeviceArray<Sample>> past_;  ///< newest last
  DeviceArray<float> out_;
};

/// The version of CUB in the `cub` variants, for example "3.0.1".
[[nodiscard]] std::string_view cub_version();

// The names of variants that programs accept and print, in order, `best` first.

template <typename Variant>
[[nodiscard]] std::span<const std::pair<std::string_view, Variant>> variant_names();

}  // namespace c63::cuda
