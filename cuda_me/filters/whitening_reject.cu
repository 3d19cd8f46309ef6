// Replaces samples that are outliers in time. A thread takes the history of four neighbouring bytes, or of one float.
// It sorts this history in registers by a sorting network. It sorts twice: first for the median, then for the median
// distance from the median.
#include "cuda_me/filters/filter_common.cuh"
#include "cuda_me/filters/whitening_kernels.h"

namespace c63::cuda::kernels {
namespace {

constexpr int kThreads = 128;

/// How a thread's samples are packed into words, and how two words are compared when they are sorted.
template <typename Sample>
struct Lanes;

/// Two bytes are sorted at a time: each is in one half of a word.
template <>
struct Lanes<std::uint8_t> {
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

template <>
struct Lanes<float> {
  using Group = float;
  using Word = float;
  static constexpr int kEach = 1;
  static constexpr int kWords = 1;
  static constexpr Word kMost = INFINITY;

  static __device__ Word word(Group group, int) { return group; }
  static __device__ Word lower(Word a, Word b) { return fminf(a, b); }
  static __device__ Word upper(Word a, Word b) { return fmaxf(a, b); }

  struct Cleaner {
    float median;
    float limit;

    __device__ Cleaner(const Word (&medians)[kWords], const Word (&deviations)[kWords], float threshold)
        : median(medians[0]),
          limit(threshold * fmaxf(1.4826F * deviations[0], static_cast<float>(kMinDeviation))) {}
    __device__ Group clean(Group value) const { return fabsf(value - median) > limit ? median : value; }
  };
};

/// Sorts kCount values in registers by Batcher's odd-even merge sort.
template <typename Sample, int kCount>
__device__ void sort(typename Lanes<Sample>::Word (&values)[kCount]) {
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
          values[i] = Lanes<Sample>::lower(a, b);
          values[other] = Lanes<Sample>::upper(a, b);
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

template <typename Sample>
__device__ typename Lanes<Sample>::Group load(const Sample* from, int left, bool aligned) {
  using Group = typename Lanes<Sample>::Group;
  if (aligned && left >= Lanes<Sample>::kEach) return *reinterpret_cast<const Group*>(from);
  Group group{};
  for (int i = 0; i < Lanes<Sample>::kEach && i < left; ++i) reinterpret_cast<Sample*>(&group)[i] = from[i];
  return group;
}

template <typename Sample>
__device__ void store(Sample* to, typename Lanes<Sample>::Group group, int left, bool aligned) {
  if (aligned && left >= Lanes<Sample>::kEach) {
    *reinterpret_cast<typename Lanes<Sample>::Group*>(to) = group;
  } else {
    for (int i = 0; i < Lanes<Sample>::kEach && i < left; ++i) to[i] = reinterpret_cast<const Sample*>(&group)[i];
  }
}

template <int kCount, typename Sample>
__global__ void __launch_bounds__(kThreads) reject_kernel(const __grid_constant__ FrameList<Sample> history, int width,
                                                          int height, float threshold, Sample* out) {
  using L = Lanes<Sample>;
  const std::size_t samples = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  const std::size_t groups_a_row = (static_cast<std::size_t>(width) + L::kEach - 1) / L::kEach;
  const std::size_t groups = groups_a_row * static_cast<std::size_t>(height);
  const bool out_aligned = width % L::kEach == 0;
  const int middle = (history.count - 1) / 2;
  for (std::size_t at = global_thread(); at < groups; at += global_threads()) {
    const int y = static_cast<int>(at / groups_a_row);
    const int x = static_cast<int>(at % groups_a_row) * L::kEach;
    const int left = width - x;
    typename L::Group frames[kCount];
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      if (k < history.count) frames[k] = load(history.data[k] + y * history.pitch[k] + x, left, history.aligned);
    }
    typename L::Word medians[L::kWords], deviations[L::kWords];
#pragma unroll
    for (int w = 0; w < L::kWords; ++w) {
      typename L::Word values[kCount];
#pragma unroll
      for (int k = 0; k < kCount; ++k) values[k] = k < history.count ? L::word(frames[k], w) : L::kMost;
      sort<Sample>(values);
      medians[w] = pick(values, middle);
#pragma unroll
      for (int k = 0; k < kCount; ++k) {
        // A word may hold two bytes, one in each half. The larger minus the smaller is never negative, so one
        // subtraction serves both halves.
        const auto away = L::upper(values[k], medians[w]) - L::lower(values[k], medians[w]);
        values[k] = k < history.count ? away : L::kMost;
      }
      sort<Sample>(values);
      deviations[w] = pick(values, middle);
    }
    const typename L::Cleaner cleaner(medians, deviations, threshold);
    Sample* to = out + static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x);
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      if (k < history.count) store(to + static_cast<std::size_t>(k) * samples, cleaner.clean(frames[k]), left, out_aligned);
    }
  }
}

}  // namespace

template <typename Sample>
void reject_all(CUstream_st* stream, const FrameList<Sample>& history, int width, int height, float threshold,
                Sample* out) {
  const std::size_t groups =
      divide_up(static_cast<std::size_t>(width), Lanes<Sample>::kEach) * static_cast<std::size_t>(height);
  const LaunchShape shape{dim3(static_cast<unsigned>(std::min<std::size_t>(divide_up(groups, kThreads), 65536))),
                          dim3(kThreads)};
  const auto run = [&](auto kernel) { launch("reject", kernel, shape, stream, history, width, height, threshold, out); };
  if (history.count <= 8) {
    run(reject_kernel<8, Sample>);
  } else if (history.count <= 20) {
    run(reject_kernel<20, Sample>);
  } else if (history.count <= 32) {
    run(reject_kernel<32, Sample>);
  } else {
    run(reject_kernel<64, Sample>);
  }
}

template void reject_all(CUstream_st*, const FrameList<std::uint8_t>&, int, int, float, std::uint8_t*);
template void reject_all(CUstream_st*, const FrameList<float>&, int, int, float, float*);

}  // namespace c63::cuda::kernels
