#pragma once

#include <array>
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

// The functions of c63/filters.h for data on a GPU, with the same names and rules. Integer results and 1-D convolutions
// are the same, too; other results may differ by rounding. Views point to device memory, and every call queues its work
// and returns, unless a comment says otherwise. Most functions take a variant. Use `best`; the other variants are there
// for comparison. Wrong arguments make the call itself throw. Errors of the device are thrown by
// FilterQueue::synchronize().

struct CUstream_st;

namespace c63::cuda {

/// A stream on one GPU, with scratch memory for its work. Only one thread at a time may use it. The constructor makes
/// the GPU the current one of its thread. Any other thread must also make this GPU its current one before it uses the
/// queue.
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
  /// Waits for all queued work. Throws the work's error, if it failed.
  void synchronize() const;

  /// Returns at least `bytes` bytes of device memory for work that is queued next. The next call may return the same
  /// memory, so request all memory of one operation in one call. A call that needs more memory than before waits for
  /// the queued work.
  [[nodiscard]] void* scratch(std::size_t bytes);
  /// Returns 1024 bytes of device memory that are zero. Work that changes them must set them to zero again.
  [[nodiscard]] void* zeros() const;
  /// Returns one of four other streams; `index` is 0 to 3. Work on that stream waits for all work that was queued
  /// before the first fork() of this index since the last join(). After join(), the queue's own stream waits for the
  /// work on all four.
  [[nodiscard]] CUstream_st* fork(int index);
  void join();

  /// Copies to the device. After the call, pageable host memory may be changed at once. Page-locked memory may still be
  /// in use, so it must not be changed before synchronize().
  void upload(void* device, const void* host, std::size_t bytes) const;
  /// Copies to the host. Returns when the copy is complete.
  void download(void* host, const void* device, std::size_t bytes) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

namespace detail {
[[nodiscard]] void* allocate(int device, std::size_t bytes);
struct Release {
  void operator()(void* memory) const noexcept;
};
}  // namespace detail

/// Owns `size` values in device memory. They are uninitialized, or copied from `host`.
template <typename T>
class DeviceArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  DeviceArray() = default;
  DeviceArray(const FilterQueue& queue, std::size_t size)
      : data_(static_cast<T*>(detail::allocate(queue.device(), size * sizeof(T)))), size_(size) {}
  DeviceArray(const FilterQueue& queue, std::span<const T> host) : DeviceArray(queue, host.size()) {
    queue.upload(data(), host.data(), host.size_bytes());
  }

  [[nodiscard]] T* data() const { return data_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::span<T> span() const { return {data(), size_}; }
  [[nodiscard]] std::span<const T> const_span() const { return {data(), size_}; }
  [[nodiscard]] std::vector<T> download(const FilterQueue& queue) const {
    std::vector<T> host(size_);
    queue.download(host.data(), data(), size_ * sizeof(T));
    return host;
  }

 private:
  std::unique_ptr<T, detail::Release> data_;
  std::size_t size_ = 0;
};

/// The names by which programs accept and print the values of an enum of variants, in their order.
template <typename Variant>
inline constexpr std::array<std::string_view, 0> kVariantNames;

/// Returns all values of an enum of variants with their names. The first is `best`.
template <typename Variant>
[[nodiscard]] constexpr auto variant_names() {
  std::array<std::pair<std::string_view, Variant>, kVariantNames<Variant>.size()> all;
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = {kVariantNames<Variant>[i], static_cast<Variant>(i)};
  return all;
}

enum class ConvolutionVariant {
  best,
  global,         ///< input values and taps (the kernel's factors) from global memory
  constant_taps,  ///< taps in constant memory
  /// Taps in constant memory. Each thread block loads its part of the signal (the input values) into shared memory. The
  /// part also has the values on both sides that its outputs need.
  shared_tile,
  /// Several outputs per thread from values in registers, 16-byte loads and stores. For 3 to 11 taps and 16-byte aligned
  /// data; otherwise shared_tile.
  tuned,
};
template <>
inline constexpr std::array kVariantNames<ConvolutionVariant> = std::to_array<std::string_view>(
    {"best", "global", "constant-taps", "shared-tile", "tuned"});

/// Convolves with `taps` from host memory. The result equals that of c63::convolve() bit for bit.
void convolve(FilterQueue& queue, std::span<const double> signal, std::span<const double> taps, std::span<double> out,
              ConvolutionVariant variant = ConvolutionVariant::best);
void mean_filter(FilterQueue& queue, std::span<const double> signal, int width, std::span<double> out,
                 ConvolutionVariant variant = ConvolutionVariant::best);

enum class Convolution2dVariant {
  best,
  direct,         ///< every sample from global memory: K² reads per output, with K x K taps
  shared_tile,    ///< a tile of O² outputs loads (O+K−1)² samples into shared memory
  restrict_taps,  ///< shared_tile, with taps read through the read-only cache
  separable,      ///< first the column factor, then the row factor; only for separable kernels
};
template <>
inline constexpr std::array kVariantNames<Convolution2dVariant> = std::to_array<std::string_view>(
    {"best", "direct", "shared-tile", "restrict-taps", "separable"});

void convolve(FilterQueue& queue, ConstPlaneView in, const ByteKernel& kernel, PlaneView out,
              Convolution2dVariant variant = Convolution2dVariant::best);
void convolve(FilterQueue& queue, BasicPlaneView<const float> in, const FloatKernel& kernel, BasicPlaneView<float> out,
              Convolution2dVariant variant = Convolution2dVariant::best);

enum class HistogramVariant {
  best,
  sections,     ///< each thread counts one section of the bytes, by global atomics
  interleaved,  ///< neighbouring threads count neighbouring bytes, by global atomics
  privatized,   ///< each thread block counts in shared memory
  cub,          ///< CUB, with 32-bit counters; inputs of more than 2^30 bytes in pieces
};
template <>
inline constexpr std::array kVariantNames<HistogramVariant> = std::to_array<std::string_view>(
    {"best", "sections", "interleaved", "privatized", "cub"});

void histogram(FilterQueue& queue, std::span<const std::uint8_t> bytes, const BinMap& map,
               std::span<std::uint64_t> counts, HistogramVariant variant = HistogramVariant::best);

enum class ReductionVariant {
  best,
  one_thread,
  one_block,         ///< one thread block; thread 0 combines the results of all threads
  atomics,           ///< many thread blocks; each thread combines its result with the total by an atomic
  tree_interleaved,  ///< a tree in shared memory that combines neighbours first, so warps diverge
  tree_sequential,   ///< a tree in shared memory that combines halves first
  shuffles,          ///< warps reduce in registers; the last thread block to finish combines all results
  cub,
};
template <>
inline constexpr std::array kVariantNames<ReductionVariant> = std::to_array<std::string_view>(
    {"best", "one-thread", "one-block", "atomics", "tree-interleaved", "tree-sequential", "shuffles", "cub"});

// The reductions below exist for T = uint8, int32, float and double. Each result is one value in device memory.

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

/// Computes Σ (a[i] − b[i])², which PSNR needs. `a` and `b` must have the same length. `result` is one value in device
/// memory.
void sum_of_squared_errors(FilterQueue& queue, std::span<const std::uint8_t> a, std::span<const std::uint8_t> b,
                           std::uint64_t* result);

enum class ScanVariant {
  best,
  // A tile is a run of values that a thread block scans together. n is the number of its values.
  hillis_steele,    ///< one thread block; n·log n − (n−1) additions per tile
  blelloch,         ///< one thread block; up and down a tree, at most 2(n−1) additions per tile
  blelloch_padded,  ///< blelloch without bank conflicts
  many_blocks,      ///< many thread blocks scan tiles, then their sums are scanned and added
  look_back,        ///< one pass; a tile adds up the sums of earlier tiles; for 4-byte integers, otherwise cub
  /// One pass; thread blocks stay on their multiprocessors and exchange sums. For 16-byte aligned 4-byte integers on
  /// cards with bulk copies and 192 KiB of shared memory, such as sm_90, otherwise cub.
  rounds,
  cub,              ///< CUB, which also adds up the sums of earlier tiles
};
template <>
inline constexpr std::array kVariantNames<ScanVariant> = std::to_array<std::string_view>(
    {"best", "hillis-steele", "blelloch", "blelloch-padded", "many-blocks", "look-back", "rounds", "cub"});

// The scans below exist for T = int32, uint32 and double. `out` may be the same memory as `values`.

template <typename T>
void inclusive_scan(FilterQueue& queue, std::span<const T> values, std::span<T> out,
                    ScanVariant variant = ScanVariant::best);
template <typename T>
void exclusive_scan(FilterQueue& queue, std::span<const T> values, std::span<T> out,
                    ScanVariant variant = ScanVariant::best);

enum class ProductVariant {
  best,
  direct,         ///< one thread per output, with two loads for each of its products
  shared_tile,    ///< tiles in shared memory; loads are divided by the tile's width
  register_tile,  ///< shared_tile with 4x4 outputs per thread
};
template <>
inline constexpr std::array kVariantNames<ProductVariant> = std::to_array<std::string_view>(
    {"best", "direct", "shared-tile", "register-tile"});

void multiply(FilterQueue& queue, BasicPlaneView<const float> a, BasicPlaneView<const float> b, BasicPlaneView<float> c,
              ProductVariant variant = ProductVariant::best);

enum class ShiftVariant {
  best,
  sums_on_cpu,   ///< one kernel per frame; the sums of its thread blocks are copied to the CPU and added there
  atomics,       ///< one kernel per frame; sums are added by atomics and copied after each frame
  back_to_back,  ///< one kernel per frame; one copy for all frames at the end
  four_streams,  ///< back_to_back, on four streams
  one_kernel,    ///< one kernel for up to 65 frames; the reference's derivatives are computed once
};
template <>
inline constexpr std::array kVariantNames<ShiftVariant> = std::to_array<std::string_view>(
    {"best", "sums-on-cpu", "atomics", "back-to-back", "four-streams", "one-kernel"});

/// Computes the ShiftSums of each frame relative to a reference, for at most 256 frames. `sums` is in host memory, and
/// is filled when the call returns. The sums equal the CPU's bit for bit.
void shift_sums(FilterQueue& queue, ConstPlaneView reference, std::span<const ConstPlaneView> frames,
                std::span<ShiftSums> sums, ShiftVariant variant = ShiftVariant::best);

/// Measures the shifts of frames against one reference picture, and whitens the frames (c63/filters.h). All pictures
/// are in device memory.
class WhiteningEngine {
 public:
  /// Reads and prepares the reference picture from device memory.
  WhiteningEngine(FilterQueue& queue, ConstPlaneView reference, const WhiteningSettings& settings);
  ~WhiteningEngine();
  WhiteningEngine(WhiteningEngine&&) noexcept;
  WhiteningEngine& operator=(WhiteningEngine&&) noexcept;

  /// Queues the shifts of the frame and of its history (settings.memory frames), the weights, and the output. A graph
  /// may capture this call, but not the first one.
  void whiten(ConstPlaneView frame, std::span<const ConstPlaneView> history, BasicPlaneView<float> out);
  /// Waits for all queued work. If a whiten() since the last finish() had no solution, throws the same Error as
  /// c63::whiten().
  void finish();
  /// The weights of the last whiten(), in float as on the CPU, and the shift of its frame. The shift is empty if the
  /// reference has no texture. Valid only after finish().
  [[nodiscard]] std::vector<float> weights() const;
  [[nodiscard]] std::optional<FrameShift> shift() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Does the same as c63::Whitener for bytes, on a GPU. Frames and output are in host memory.
class Whitener {
 public:
  Whitener(FilterQueue& queue, int width, int height, const WhiteningSettings& settings);

  bool push(ConstPlaneView frame, BasicPlaneView<float> out);

 private:
  FilterQueue* queue_;
  int width_;
  int height_;
  WhiteningSettings settings_;
  std::optional<WhiteningEngine> engine_;
  std::deque<DeviceArray<std::uint8_t>> past_;  ///< the history, newest frame last
  DeviceArray<float> out_;
};

/// The version of CUB that the `cub` variants use, for example "3.0.1".
[[nodiscard]] std::string_view cub_version();

}  // namespace c63::cuda
