// The kernels of whitening: products of all pairs of frames, outliers, weights, output.
#include "cuda_me/filters/filter_common.cuh"
#include "cuda_me/filters/whitening_kernels.h"

namespace c63::cuda::kernels {

// Computes sums of products for all pairs of frames (see correlate_all()). A thread block holds the same piece of a row
// from every frame in shared memory, and each thread takes some of the pairs.
namespace {

constexpr int kCorrelateThreads = 256;

constexpr int kWords = 128;  // of a frame's piece of a row; a word has four samples
/// The distance of the pieces in shared memory, in words. It is odd, so they start in different banks.
constexpr int kStride = 129;

__device__ unsigned load_word(const std::uint8_t* from, int left, bool aligned) {
  if (aligned && left >= 4) return *reinterpret_cast<const unsigned*>(from);
  unsigned word = 0;
  for (int i = 0; i < 4 && i < left; ++i) word |= static_cast<unsigned>(from[i]) << (8 * i);
  return word;
}

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
          load_word(frames.data[frame] + y * frames.pitch[frame] + first, width - first, frames.aligned);
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

}  // namespace

void correlate_all(CUstream_st* stream, const FrameList& frames, int width, int height,
                   Sum* products) {
  constexpr std::size_t kSamples = kWords * 4;
  const std::size_t pieces = divide_up(static_cast<std::size_t>(width), kSamples) * static_cast<std::size_t>(height);
  launch(correlate_kernel, {std::min<std::size_t>(pieces, 4096), kCorrelateThreads}, stream, frames, width, height,
         products);
}

// Replaces samples that are outliers in time. A thread takes the history of four neighbouring samples. It sorts
// this history in registers by a sorting network. It sorts twice: first for the median, then for the median
// distance from the median.
namespace {

constexpr int kRejectThreads = 128;

/// How a thread's samples are packed into words, and how two words are compared when they are sorted. Two bytes are
/// sorted at a time: each is in one half of a word.
struct Lanes {
  using Group = unsigned;  ///< four samples of one frame, in the order of memory
  using Word = unsigned;   ///< two samples; words are sorted
  static constexpr int kEach = 4;
  static constexpr int kWords = 2;
  static constexpr Word kMost = 0xFFFFFFFFU;

  static __device__ Word word(Group group, int index) { return __byte_perm(group, 0, index == 0 ? 0x4140 : 0x4342); }
  static __device__ Word lower(Word a, Word b) { return __vminu2(a, b); }
  static __device__ Word upper(Word a, Word b) { return __vmaxu2(a, b); }

  /// Replaces samples by the median if they are further from it than `threshold` deviations.
  struct Cleaner {
    unsigned median = 0;
    unsigned most = 0;  ///< the largest distances that are kept, one byte each

    __device__ Cleaner(const Word (&medians)[kWords], const Word (&deviations)[kWords], float threshold) {
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        const unsigned shift = 16U * static_cast<unsigned>(i % 2);
        const float deviation = 1.4826F * static_cast<float>((deviations[i / 2] >> shift) & 0xFFFFU);
        const float limit = threshold * fmaxf(deviation, static_cast<float>(kMinDeviation));
        median |= ((medians[i / 2] >> shift) & 0xFFU) << (8 * i);
        most |= static_cast<unsigned>(fminf(limit, 255.0F)) << (8 * i);
      }
    }
    __device__ Group clean(Group group) const {
      const unsigned away = __vcmpgtu4(__vabsdiffu4(group, median), most);
      return (group & ~away) | (median & away);
    }
  };
};

/// Sorts kCount values in registers by Batcher's odd-even merge sort.
template <int kCount>
__device__ void sort(Lanes::Word (&values)[kCount]) {
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
          values[i] = Lanes::lower(a, b);
          values[other] = Lanes::upper(a, b);
        }
      }
    }
  }
}

/// Returns element `index` of an array. It selects among registers: an index that is not known at compile time would
/// force the array into memory.
template <int kCount, typename V>
__device__ V pick(const V (&values)[kCount], int index) {
  V found = values[0];
#pragma unroll
  for (int i = 1; i < kCount; ++i) found = i == index ? values[i] : found;
  return found;
}

__device__ Lanes::Group load(const std::uint8_t* from, int left, bool aligned) {
  using Group = Lanes::Group;
  if (aligned && left >= Lanes::kEach) return *reinterpret_cast<const Group*>(from);
  Group group{};
  for (int i = 0; i < Lanes::kEach && i < left; ++i) reinterpret_cast<std::uint8_t*>(&group)[i] = from[i];
  return group;
}

__device__ void store(std::uint8_t* to, Lanes::Group group, int left, bool aligned) {
  if (aligned && left >= Lanes::kEach) {
    *reinterpret_cast<Lanes::Group*>(to) = group;
  } else {
    for (int i = 0; i < Lanes::kEach && i < left; ++i) to[i] = reinterpret_cast<const std::uint8_t*>(&group)[i];
  }
}

template <int kCount>
__global__ void __launch_bounds__(kRejectThreads) reject_kernel(const __grid_constant__ FrameList history, int width,
                                                          int height, float threshold, std::uint8_t* out) {
  const std::size_t samples = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  const std::size_t groups_a_row = (static_cast<std::size_t>(width) + Lanes::kEach - 1) / Lanes::kEach;
  const std::size_t groups = groups_a_row * static_cast<std::size_t>(height);
  const bool out_aligned = width % Lanes::kEach == 0;
  const int middle = (history.count - 1) / 2;
  for (std::size_t at = global_thread(); at < groups; at += global_threads()) {
    const int y = static_cast<int>(at / groups_a_row);
    const int x = static_cast<int>(at % groups_a_row) * Lanes::kEach;
    const int left = width - x;
    Lanes::Group frames[kCount];
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      if (k < history.count) frames[k] = load(history.data[k] + y * history.pitch[k] + x, left, history.aligned);
    }
    Lanes::Word medians[Lanes::kWords], deviations[Lanes::kWords];
#pragma unroll
    for (int w = 0; w < Lanes::kWords; ++w) {
      Lanes::Word values[kCount];
#pragma unroll
      for (int k = 0; k < kCount; ++k) values[k] = k < history.count ? Lanes::word(frames[k], w) : Lanes::kMost;
      sort(values);
      medians[w] = pick(values, middle);
#pragma unroll
      for (int k = 0; k < kCount; ++k) {
        // A word holds two bytes, one in each half. The larger minus the smaller is never negative, so one
        // subtraction serves both halves.
        const auto away = Lanes::upper(values[k], medians[w]) - Lanes::lower(values[k], medians[w]);
        values[k] = k < history.count ? away : Lanes::kMost;
      }
      sort(values);
      deviations[w] = pick(values, middle);
    }
    const Lanes::Cleaner cleaner(medians, deviations, threshold);
    std::uint8_t* to = out + static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x);
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      if (k < history.count) store(to + static_cast<std::size_t>(k) * samples, cleaner.clean(frames[k]), left, out_aligned);
    }
  }
}

}  // namespace

void reject_all(CUstream_st* stream, const FrameList& history, int width, int height, float threshold,
                std::uint8_t* out) {
  const std::size_t groups =
      divide_up(static_cast<std::size_t>(width), Lanes::kEach) * static_cast<std::size_t>(height);
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

// Computes the weights of the history on the device, so that nothing waits for the host. One thread block builds a
// small symmetric system of equations and solves it, in double precision.
namespace {

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

}  // namespace

void solve_weights(CUstream_st* stream, const WhiteningSettings& settings, const Sum* texture,
                   Sum* sums, Sum* products, float* weights, WhiteningStatus* status) {
  const WeightsArguments arguments{settings.memory, settings.degree, settings.epsilon,
                                   settings.method == WhiteningMethod::correlation};
  launch(weights_kernel, {1, kWeightsThreads}, stream, arguments, texture, sums, products, weights, status);
}

// Computes the output of whitening: a frame minus the weighted sum of its history. Each thread computes four samples.
namespace {

constexpr int kSubtractThreads = 256;
constexpr int kSubtractEach = 4;

template <typename T>
struct alignas(kSubtractEach * sizeof(T)) Four {
  T value[kSubtractEach];
};

__device__ Four<std::uint8_t> load_four(const std::uint8_t* from, int left, bool aligned) {
  if (aligned && left >= kSubtractEach) return *reinterpret_cast<const Four<std::uint8_t>*>(from);
  Four<std::uint8_t> four{};
  for (int i = 0; i < kSubtractEach && i < left; ++i) four.value[i] = from[i];
  return four;
}

__global__ void __launch_bounds__(kSubtractThreads) subtract_kernel(const __grid_constant__ FrameList frames,
                                                            const float* __restrict__ weights,
                                                            BasicPlaneView<float> out, bool out_aligned) {
  const std::size_t groups_a_row = (static_cast<std::size_t>(out.width) + kSubtractEach - 1) / kSubtractEach;
  const std::size_t groups = groups_a_row * static_cast<std::size_t>(out.height);
  for (std::size_t group = global_thread(); group < groups; group += global_threads()) {
    const int y = static_cast<int>(group / groups_a_row);
    const int x = static_cast<int>(group % groups_a_row) * kSubtractEach;
    const int left = out.width - x;
    float total[kSubtractEach] = {};
#pragma unroll 8
    for (int k = 1; k < frames.count; ++k) {
      const Four<std::uint8_t> s = load_four(frames.data[k] + y * frames.pitch[k] + x, left, frames.aligned);
      const float weight = weights[k - 1];
#pragma unroll
      for (int i = 0; i < kSubtractEach; ++i) total[i] += weight * static_cast<float>(s.value[i]);
    }
    const Four<std::uint8_t> s = load_four(frames.data[0] + y * frames.pitch[0] + x, left, frames.aligned);
    Four<float> result;
#pragma unroll
    for (int i = 0; i < kSubtractEach; ++i) result.value[i] = static_cast<float>(s.value[i]) - total[i];
    float* to = out.data + y * out.pitch + x;
    if (out_aligned && left >= kSubtractEach) {
      *reinterpret_cast<Four<float>*>(to) = result;
    } else {
      for (int i = 0; i < kSubtractEach && i < left; ++i) to[i] = result.value[i];
    }
  }
}

}  // namespace

void subtract_all(CUstream_st* stream, const FrameList& frames, const float* weights,
                  BasicPlaneView<float> out) {
  const std::size_t groups =
      divide_up(static_cast<std::size_t>(out.width), kSubtractEach) * static_cast<std::size_t>(out.height);
  const bool out_aligned = is_aligned(out.data, 16) && out.pitch % kSubtractEach == 0;
  launch(subtract_kernel, {std::min<std::size_t>(divide_up(groups, kSubtractThreads), 65536), kSubtractThreads}, stream,
         frames, weights, out, out_aligned);
}

}  // namespace c63::cuda::kernels
