// Whitening on a GPU. WhiteningEngine::whiten() launches up to five kernels, one after another: shifts, outliers,
// products of all pairs of frames, weights, output. The host waits for none of them before finish().
#include <algorithm>
#include <string>

#include "c63/error.h"
#include "c63/filter_checks.h"
#include "cuda_me/filters/filter_common.cuh"
#include "cuda_me/filters/shift_kernels.h"

namespace c63::cuda::kernels {

/// What the device reports about a whitening; 1 means true.
struct WhiteningStatus {
  int textureless = 0;
  int singular = 0;
  int textured_shift = 0;  ///< 1 if `shift` is set
  FrameShift shift;        ///< the shift of the frame
};

namespace {

/// Loads four neighbouring samples, of which `left` exist; the others are 0. `aligned` says that the address is a
/// multiple of 4.
__device__ unsigned load_four(const std::uint8_t* from, int left, bool aligned) {
  if (aligned && left >= 4) return *reinterpret_cast<const unsigned*>(from);
  unsigned four = 0;
  for (int i = 0; i < 4 && i < left; ++i) reinterpret_cast<std::uint8_t*>(&four)[i] = from[i];
  return four;
}

__device__ void store_four(std::uint8_t* to, unsigned four, int left, bool aligned) {
  if (aligned && left >= 4) {
    *reinterpret_cast<unsigned*>(to) = four;
  } else {
    for (int i = 0; i < 4 && i < left; ++i) to[i] = reinterpret_cast<const std::uint8_t*>(&four)[i];
  }
}

// Adds Σ x_k·x_l, over all samples, to products[k·count + l] for all frames k ≤ l of the list. A thread block holds the
// same piece of a row from every frame in shared memory, and each thread takes some of the pairs.

constexpr int kCorrelateThreads = 256;

constexpr int kWords = 128;  // of a frame's piece of a row; a word has four samples
/// The distance of the pieces in shared memory, in words. It is odd, so they start in different banks.
constexpr int kStride = 129;

__global__ void __launch_bounds__(kCorrelateThreads) correlate_kernel(const __grid_constant__ FrameList frames,
                                                             int width, int height, Sum* products) {
  constexpr int kSamples = kWords * 4;
  __shared__ unsigned piece[kListedFrames][kStride];
  const int n = frames.count;
  const int pieces = (width + kSamples - 1) / kSamples;
  const std::size_t all = static_cast<std::size_t>(pieces) * static_cast<std::size_t>(height);
  for (std::size_t at = blockIdx.x; at < all; at += gridDim.x) {
    const int y = static_cast<int>(at / static_cast<std::size_t>(pieces));
    const int x = static_cast<int>(at % static_cast<std::size_t>(pieces)) * kSamples;
    for (int i = static_cast<int>(threadIdx.x); i < n * kWords; i += kCorrelateThreads) {
      const int frame = i / kWords;
      const int first = x + i % kWords * 4;
      piece[frame][i % kWords] =
          load_four(frames.data[frame] + y * frames.pitch[frame] + first, width - first, frames.aligned);
    }
    __syncthreads();
    for (int pair = static_cast<int>(threadIdx.x); pair < n * (n + 1) / 2; pair += kCorrelateThreads) {
      int k = 0;
      int rest = pair;
      while (rest >= n - k) rest -= n - k++;
      const int l = k + rest;
      unsigned total = 0;
#pragma unroll 8
      for (int i = 0; i < kWords; ++i) total = __dp4a(piece[k][i], piece[l][i], total);
      atomic_add(products + k * n + l, static_cast<Sum>(total));
    }
    __syncthreads();
  }
}

void correlate(CUstream_st* stream, const FrameList& frames, int width, int height, Sum* products) {
  const std::size_t pieces = divide_up(static_cast<std::size_t>(width), kWords * 4) * static_cast<std::size_t>(height);
  launch(correlate_kernel, {std::min<std::size_t>(pieces, 4096), kCorrelateThreads}, stream, frames, width, height,
         products);
}

// Does the same as c63::reject_outliers(). The samples of picture k start at out[k · width · height], with a pitch of
// `width`. A thread takes the history of four neighbouring samples. It sorts this history in registers by a sorting
// network. It sorts twice: first for the median, then for the median distance from the median.

constexpr int kRejectThreads = 128;

// Two bytes are sorted at a time: each is in one half of a word. So the four samples of a thread are two words.

__device__ unsigned word_of(unsigned four, int index) { return __byte_perm(four, 0, index == 0 ? 0x4140 : 0x4342); }

/// Replaces samples by the median if they are further from it than `threshold` deviations.
struct Cleaner {
  unsigned median = 0;
  unsigned most = 0;  ///< the largest distances that are kept, one byte each

  __device__ Cleaner(const unsigned (&medians)[2], const unsigned (&deviations)[2], float threshold) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const unsigned shift = 16U * static_cast<unsigned>(i % 2);
      const float deviation = 1.4826F * static_cast<float>((deviations[i / 2] >> shift) & 0xFFFFU);
      const float limit = threshold * fmaxf(deviation, static_cast<float>(kMinDeviation));
      median |= ((medians[i / 2] >> shift) & 0xFFU) << (8 * i);
      most |= static_cast<unsigned>(fminf(limit, 255.0F)) << (8 * i);
    }
  }
  [[nodiscard]] __device__ unsigned clean(unsigned four) const {
    const unsigned away = __vcmpgtu4(__vabsdiffu4(four, median), most);
    return (four & ~away) | (median & away);
  }
};

/// Sorts kCount values in registers by Batcher's odd-even merge sort.
template <int kCount>
__device__ void sort(unsigned (&values)[kCount]) {
#pragma unroll
  for (int sorted = 1; sorted < kCount; sorted *= 2) {
#pragma unroll
    for (int distance = sorted; distance > 0; distance /= 2) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        const int other = i + distance;
        const int start = distance % sorted;
        const bool first_of_pair = i >= start && (i - start) / distance % 2 == 0;
        if (other < kCount && first_of_pair && i / (2 * sorted) == other / (2 * sorted)) {
          const auto a = values[i], b = values[other];
          values[i] = __vminu2(a, b);
          values[other] = __vmaxu2(a, b);
        }
      }
    }
  }
}

/// Returns element `index` of an array. It selects among registers: an index that is not known at compile time would
/// force the array into memory.
template <int kCount>
__device__ unsigned pick(const unsigned (&values)[kCount], int index) {
  unsigned found = values[0];
#pragma unroll
  for (int i = 1; i < kCount; ++i) found = i == index ? values[i] : found;
  return found;
}

template <int kCount>
__global__ void __launch_bounds__(kRejectThreads) reject_kernel(const __grid_constant__ FrameList history, int width,
                                                          int height, float threshold, std::uint8_t* out) {
  const std::size_t samples = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  const std::size_t groups_a_row = (static_cast<std::size_t>(width) + 3) / 4;
  const std::size_t groups = groups_a_row * static_cast<std::size_t>(height);
  const bool out_aligned = width % 4 == 0;
  const int middle = (history.count - 1) / 2;
  for (std::size_t at = global_thread(); at < groups; at += global_threads()) {
    const int y = static_cast<int>(at / groups_a_row);
    const int x = static_cast<int>(at % groups_a_row) * 4;
    const int left = width - x;
    unsigned frames[kCount];
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      if (k < history.count) frames[k] = load_four(history.data[k] + y * history.pitch[k] + x, left, history.aligned);
    }
    unsigned medians[2], deviations[2];
#pragma unroll
    for (int w = 0; w < 2; ++w) {
      unsigned values[kCount];
#pragma unroll
      for (int k = 0; k < kCount; ++k) values[k] = k < history.count ? word_of(frames[k], w) : 0xFFFFFFFFU;
      sort(values);
      medians[w] = pick(values, middle);
#pragma unroll
      for (int k = 0; k < kCount; ++k) {
        // A word holds two bytes, one in each half. The larger minus the smaller is never negative, so one
        // subtraction serves both halves.
        const unsigned away = __vmaxu2(values[k], medians[w]) - __vminu2(values[k], medians[w]);
        values[k] = k < history.count ? away : 0xFFFFFFFFU;
      }
      sort(values);
      deviations[w] = pick(values, middle);
    }
    const Cleaner cleaner(medians, deviations, threshold);
    std::uint8_t* to =
        out + static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x);
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      if (k < history.count)
        store_four(to + static_cast<std::size_t>(k) * samples, cleaner.clean(frames[k]), left, out_aligned);
    }
  }
}

void reject(CUstream_st* stream, const FrameList& history, int width, int height, float threshold, std::uint8_t* out) {
  const std::size_t groups = divide_up(static_cast<std::size_t>(width), 4) * static_cast<std::size_t>(height);
  const LaunchShape shape{std::min<std::size_t>(divide_up(groups, kRejectThreads), 65536), kRejectThreads};
  const auto run = [&](auto kernel) { launch(kernel, shape, stream, history, width, height, threshold, out); };
  if (history.count <= 8) {
    run(reject_kernel<8>);
  } else if (history.count <= 20) {
    run(reject_kernel<20>);
  } else if (history.count <= 32) {
    run(reject_kernel<32>);
  } else {
    run(reject_kernel<64>);
  }
}

// Computes the weights of frames 1, 2, … of a list: from the sums of shift_all(), or from the products of correlate(),
// depending on the method. Also computes the shift of frame 0 from the sums. Sets sums and used products back to zero.
// If the equations have no solution, the weights are zero, and `status` says so until the host clears it. One thread
// block builds a small symmetric system of equations and solves it, in double precision.

constexpr int kMonomials = (kMaxDegree + 1) * (kMaxDegree + 2) / 2;
constexpr int kWeightsThreads = 256;

struct WeightsArguments {
  int memory;
  int degree;
  double epsilon;
  bool correlation;
};

/// Solves (A + ε · t · E) x = b, where t is the mean of A's diagonal and E the unit matrix. Rows 0 to n − 1 of `a` are
/// A. Row n is b, and becomes x. Returns false if the system is singular. All threads call it. The matrix is factored
/// as L·D·Lᵀ. Each step computes one reciprocal, eliminates one unknown from the rows below and from b, and ends with a
/// barrier.
__device__ bool solve(double (*a)[kMaxMemory + 1], int n, double epsilon) {
  const int t = static_cast<int>(threadIdx.x);
  double trace = 0;
  double largest = 0;
  for (int i = 0; i < n; ++i) {
    trace += a[i][i];
    largest = fmax(largest, a[i][i]);
  }
  const double ridge = epsilon * trace / n;
  largest += ridge;
  __syncthreads();
  if (t < n) a[t][t] += ridge;
  __syncthreads();
  for (int k = 0; k < n; ++k) {
    const double pivot = a[k][k];
    if (!(pivot > 1e-12 * largest)) return false;
    const double inverse = 1 / pivot;
    const int side = n - k;  // the rows below row k; the last one is b
    for (int i = t; i < side * side; i += kWeightsThreads) {
      const int row = k + 1 + i / side;
      const int column = k + 1 + i % side;
      if (column <= row && column < n) a[row][column] -= a[row][k] * inverse * a[column][k];
    }
    __syncthreads();
  }
  // Back substitution by one warp: computes x_k from the last to the first, and subtracts its part from the rows before
  // row k. Each lane works on two rows, and keeps their values in registers.
  if (t < 32) {
    double rest[2] = {t < n ? a[n][t] : 0, t + 32 < n ? a[n][t + 32] : 0};
    const double inverse[2] = {t < n ? 1 / a[t][t] : 0, t + 32 < n ? 1 / a[t + 32][t + 32] : 0};
    for (int k = n - 1; k >= 0; --k) {
      const double x = __shfl_sync(0xFFFFFFFFU, k < 32 ? rest[0] * inverse[0] : rest[1] * inverse[1], k % 32);
      if (t < k) rest[0] -= a[k][t] * x;
      if (t + 32 < k) rest[1] -= a[k][t + 32] * x;
    }
    if (t < n) a[n][t] = rest[0] * inverse[0];
    if (t + 32 < n) a[n][t + 32] = rest[1] * inverse[1];
  }
  __syncthreads();
  return true;
}

__global__ void __launch_bounds__(kWeightsThreads) weights_kernel(WeightsArguments arguments, const Sum* texture,
                                                           Sum* sums, Sum* products, float* weights,
                                                           WhiteningStatus* status) {
  __shared__ double a[kMaxMemory + 1][kMaxMemory + 1];
  __shared__ double phi[kListedFrames][kMonomials];
  const int t = static_cast<int>(threadIdx.x);
  const int frames = arguments.memory + 1;
  const double u = static_cast<double>(texture[0]) / 4;
  const double v = static_cast<double>(texture[1]) / 4;
  const double w = static_cast<double>(texture[2]) / 4;
  const double determinant = u * w - v * v;
  const bool textured = determinant > 1e-9 * u * w;
  for (int f = t; f < frames; f += kWeightsThreads) {
    const double p = static_cast<double>(sums[2 * f]) / 10;
    const double q = static_cast<double>(sums[2 * f + 1]) / 10;
    sums[2 * f] = 0;
    sums[2 * f + 1] = 0;
    const double dx = textured ? (q * w - p * v) / determinant : 0;
    const double dy = textured ? (p * u - q * v) / determinant : 0;
    if (f == 0) {
      status->textured_shift = textured;
      status->shift = {dx, dy};
    }
    int at = 0;
    for (int total = 0; total <= arguments.degree; ++total) {
      for (int i = 0; i <= total; ++i) {
        double value = 1;
        for (int k = 0; k < total - i; ++k) value *= dx;
        for (int k = 0; k < i; ++k) value *= dy;
        phi[f][at++] = value;
      }
    }
  }
  __syncthreads();

  bool solved = true;
  if (arguments.correlation) {
    const int n = arguments.memory;
    for (int i = t; i < (n + 1) * n; i += kWeightsThreads) {
      const int row = i / n, column = i % n;
      const int k = row == n ? 0 : min(row, column) + 1, l = row == n ? column + 1 : max(row, column) + 1;
      a[row][column] = static_cast<double>(products[k * frames + l]);
    }
    __syncthreads();
    for (int i = t; i < frames * frames; i += kWeightsThreads) products[i] = 0;
    solved = solve(a, n, arguments.epsilon);
    if (t < n) weights[t] = solved ? static_cast<float>(a[n][t]) : 0.0F;
  } else {
    const int n = (arguments.degree + 1) * (arguments.degree + 2) / 2;
    for (int i = t; i < (n + 1) * n; i += kWeightsThreads) {
      const int row = i / n, column = i % n;
      double total = 0;
      for (int k = 1; k < frames; ++k) total += phi[k][row == n ? 0 : row] * phi[k][column];
      a[row][column] = row == n ? phi[0][column] : total;
    }
    __syncthreads();
    solved = textured && solve(a, n, arguments.epsilon);
    if (t < arguments.memory) {
      double weight = 0;
      if (solved) {
        for (int i = 0; i < n; ++i) weight += phi[t + 1][i] * a[n][i];
      }
      weights[t] = static_cast<float>(weight);
    }
    if (t == 0 && !textured) status->textureless = 1;
    solved = solved || !textured;
  }
  if (t == 0 && !solved) status->singular = 1;
}

// Computes the output of whitening: out = frame 0 − Σ weights[k − 1] · frame k. Each thread computes four samples.

constexpr int kSubtractThreads = 256;

/// Returns sample `i` of four.
__device__ float sample_of(unsigned four, int i) { return static_cast<float>(four >> (8 * i) & 255U); }

__global__ void __launch_bounds__(kSubtractThreads) subtract_kernel(const __grid_constant__ FrameList frames,
                                                            const float* __restrict__ weights,
                                                            BasicPlaneView<float> out, bool out_aligned) {
  const std::size_t groups_a_row = (static_cast<std::size_t>(out.width) + 3) / 4;
  const std::size_t groups = groups_a_row * static_cast<std::size_t>(out.height);
  for (std::size_t group = global_thread(); group < groups; group += global_threads()) {
    const int y = static_cast<int>(group / groups_a_row);
    const int x = static_cast<int>(group % groups_a_row) * 4;
    const int left = out.width - x;
    float total[4] = {};
#pragma unroll 8
    for (int k = 1; k < frames.count; ++k) {
      const unsigned s = load_four(frames.data[k] + y * frames.pitch[k] + x, left, frames.aligned);
      const float weight = weights[k - 1];
#pragma unroll
      for (int i = 0; i < 4; ++i) total[i] += weight * sample_of(s, i);
    }
    const unsigned s = load_four(frames.data[0] + y * frames.pitch[0] + x, left, frames.aligned);
    float result[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) result[i] = sample_of(s, i) - total[i];
    float* to = out.data + y * out.pitch + x;
    if (out_aligned && left >= 4) {
      *reinterpret_cast<float4*>(to) = {result[0], result[1], result[2], result[3]};
    } else {
      for (int i = 0; i < 4 && i < left; ++i) to[i] = result[i];
    }
  }
}

}  // namespace
}  // namespace c63::cuda::kernels

namespace c63::cuda {

using kernels::Sum;
using kernels::WhiteningStatus;

struct WhiteningEngine::State {
  State(FilterQueue& q, ConstPlaneView reference, const WhiteningSettings& s)
      : queue(&q),
        settings(s),
        width(reference.width),
        height(reference.height),
        has_interior(width >= 3 && height >= 3),
        layout(width, height),
        memory(layout.bytes()),
        sums(3 + 2 * kernels::kListedFrames),
        products(static_cast<std::size_t>(kernels::kListedFrames) * kernels::kListedFrames),
        weights(kMaxMemory),
        status(1) {
    fill_async(sums.data(), 0, sums.bytes(), queue->stream());
    fill_async(products.data(), 0, products.bytes(), queue->stream());
    fill_async(status.data(), 0, status.bytes(), queue->stream());
    if (settings.reject) {
      cleaned = DeviceBuffer<std::uint8_t>(static_cast<std::size_t>(settings.memory) * static_cast<std::size_t>(width) *
                                           static_cast<std::size_t>(height));
    }
    if (has_interior) kernels::derive(queue->stream(), reference, layout.at(memory.data()), sums.data());
  }

  FilterQueue* queue;
  WhiteningSettings settings;
  int width;
  int height;
  bool has_interior;
  kernels::DerivedLayout layout;
  DeviceBuffer<std::uint8_t> memory;
  DeviceBuffer<Sum> sums;  ///< u, v and w of the reference, then p and q of each frame (ShiftSums)
  DeviceBuffer<Sum> products;
  DeviceBuffer<float> weights;
  DeviceBuffer<WhiteningStatus> status;
  DeviceBuffer<std::uint8_t> cleaned;
  WhiteningStatus last;
};

WhiteningEngine::WhiteningEngine(FilterQueue& queue, ConstPlaneView reference, const WhiteningSettings& settings) {
  check_whitening(settings);
  check_view(reference, "the reference");
  require(reference.width > 0 && reference.height > 0, "C63-FILTER-SHAPE",
          "invalid picture size " + shape_of(reference));
  state_ = std::make_unique<State>(queue, reference, settings);
}
WhiteningEngine::~WhiteningEngine() = default;
WhiteningEngine::WhiteningEngine(WhiteningEngine&&) noexcept = default;
WhiteningEngine& WhiteningEngine::operator=(WhiteningEngine&&) noexcept = default;

void WhiteningEngine::whiten(ConstPlaneView frame, std::span<const ConstPlaneView> history, BasicPlaneView<float> out) {
  State& s = *state_;
  check_memory(s.settings.memory, history.size());
  check_same_shape(frame, "the frame", out, "the output");
  std::vector<ConstPlaneView> all = {frame};
  all.insert(all.end(), history.begin(), history.end());
  for (const auto& view : all) {
    check_view(view, "the frame");
    require(view.width == s.width && view.height == s.height, "C63-FILTER-SHAPE",
            "the frame is " + shape_of(view) + ", the reference " + std::to_string(s.width) + "x" +
                std::to_string(s.height));
  }
  CUstream_st* stream = s.queue->stream();
  if (s.has_interior) {
    kernels::shift_all(stream, s.layout.at(s.memory.data()), kernels::list_of(all), s.sums.data() + 3);
  }
  if (s.settings.reject) {
    const std::size_t samples = static_cast<std::size_t>(s.width) * static_cast<std::size_t>(s.height);
    kernels::reject(stream, kernels::list_of(history), s.width, s.height, static_cast<float>(*s.settings.reject),
                    s.cleaned.data());
    for (std::size_t k = 0; k < history.size(); ++k) {
      all[k + 1] = {s.cleaned.data() + k * samples, s.width, s.height, s.width};
    }
  }
  const auto list = kernels::list_of(all);
  if (s.settings.method == WhiteningMethod::correlation) {
    kernels::correlate(stream, list, s.width, s.height, s.products.data());
  }
  const kernels::WeightsArguments arguments{s.settings.memory, s.settings.degree, s.settings.epsilon,
                                            s.settings.method == WhiteningMethod::correlation};
  launch(kernels::weights_kernel, {1, kernels::kWeightsThreads}, stream, arguments, s.sums.data(), s.sums.data() + 3,
         s.products.data(), s.weights.data(), s.status.data());
  const std::size_t groups = divide_up(static_cast<std::size_t>(s.width), 4) * static_cast<std::size_t>(s.height);
  launch(kernels::subtract_kernel,
         {std::min<std::size_t>(divide_up(groups, kernels::kSubtractThreads), 65536), kernels::kSubtractThreads},
         stream, list, s.weights.data(), out, kernels::is_aligned(out.data, 16) && out.pitch % 4 == 0);
}

void WhiteningEngine::finish() {
  State& s = *state_;
  s.queue->download(&s.last, s.status.data(), sizeof s.last);
  if (s.last.textureless == 0 && s.last.singular == 0) return;
  fill_async(s.status.data(), 0, s.status.bytes(), s.queue->stream());
  check_texture(s.last.textureless == 0);
  throw Error(ErrorKind::input, "C63-WHITEN-SINGULAR",
              "the " + std::to_string(s.settings.memory) +
                  " history frames depend on each other: the system has no unique solution; set epsilon above 0");
}

std::vector<float> WhiteningEngine::weights() const {
  std::vector<float> host(static_cast<std::size_t>(state_->settings.memory));
  state_->queue->download(host.data(), state_->weights.data(), host.size() * sizeof(float));
  return host;
}

std::optional<FrameShift> WhiteningEngine::shift() const {
  if (state_->last.textured_shift == 0) return std::nullopt;
  return state_->last.shift;
}

Whitener::Whitener(FilterQueue& queue, int width, int height, const WhiteningSettings& settings)
    : queue_(&queue), width_(width), height_(height), settings_(settings) {
  check_whitening(settings);
  require(width > 0 && height > 0, "C63-FILTER-SHAPE",
          "invalid picture size " + std::to_string(width) + "x" + std::to_string(height));
  out_ = DeviceArray<float>(queue, static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
}

bool Whitener::push(ConstPlaneView frame, BasicPlaneView<float> out) {
  check_frame_size(frame, width_, height_);
  const bool full = past_.size() == static_cast<std::size_t>(settings_.memory);
  std::vector<std::uint8_t> rows;
  for (int y = 0; y < height_; ++y) rows.insert(rows.end(), frame.row(y), frame.row(y) + width_);
  DeviceArray<std::uint8_t> newest(*queue_, std::span<const std::uint8_t>(rows));
  const auto view_of = [&](const DeviceArray<std::uint8_t>& array) {
    return ConstPlaneView{array.data(), width_, height_, width_};
  };
  if (!engine_) engine_.emplace(*queue_, view_of(newest), settings_);
  if (full) {
    std::vector<ConstPlaneView> history;
    for (const auto& past : past_) history.push_back(view_of(past));
    engine_->whiten(view_of(newest), history, {out_.data(), width_, height_, width_});
    engine_->finish();
    const std::vector<float> host = out_.download(*queue_);
    for (int y = 0; y < height_; ++y) std::copy_n(host.data() + std::ptrdiff_t{y} * width_, width_, out.row(y));
    past_.pop_front();
  }
  past_.push_back(std::move(newest));
  return full;
}

}  // namespace c63::cuda
