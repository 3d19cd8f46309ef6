// Computes the sums from which the shifts of up to kListedFrames frames follow, in one kernel. Another kernel computes
// the reference's derivatives and means once. A thread keeps those of eight samples in registers while it loops over
// the frames.
#include "cuda_me/filters/shift_common.cuh"

namespace c63::cuda::kernels {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kEach = 8;

template <typename Sample>
__global__ void __launch_bounds__(kThreads) derive_kernel(BasicPlaneView<const Sample> reference,
                                                          DerivedView<Sample> derived, Sum<Sample>* texture) {
  using S = Sum<Sample>;
  __shared__ S partials[kWarps][3];
  const std::size_t count = static_cast<std::size_t>(derived.pitch) * static_cast<std::size_t>(derived.height);
  S mine[3] = {};
  for (std::size_t i = global_thread(); i < count; i += global_threads()) {
    const int x = static_cast<int>(i % static_cast<std::size_t>(derived.pitch));
    const int y = static_cast<int>(i / static_cast<std::size_t>(derived.pitch));
    Derivatives<Sample> d{};
    if (x > 0 && x < derived.width - 1 && y > 0 && y < derived.height - 1) d = derivatives_at(reference, x, y);
    derived.g[i] = static_cast<Derived<Sample>>(d.g);
    derived.h[i] = static_cast<Derived<Sample>>(d.h);
    derived.m[i] = static_cast<Derived<Sample>>(d.m);
    const S g = d.g, h = d.h;
    mine[0] += h * h;
    mine[1] += g * h;
    mine[2] += g * g;
  }
  const int t = static_cast<int>(threadIdx.x);
  for (int k = 0; k < 3; ++k) {
    const S total = sum_of_lanes(mine[k]);
    if (t % 32 == 0) partials[t / 32][k] = total;
  }
  __syncthreads();
  if (t >= 3) return;
  S total = 0;
  for (int warp = 0; warp < kWarps; ++warp) total += partials[warp][t];
  atomic_add(texture + t, total);
}

/// Eight neighbouring values.
template <typename T>
struct alignas(8 * sizeof(T) < 16 ? 8 * sizeof(T) : 16) Eight {
  T value[kEach];
};

template <typename Sample>
__global__ void __launch_bounds__(kThreads) shift_all_kernel(DerivedView<Sample> derived,
                                                             const __grid_constant__ FrameList<Sample> frames,
                                                             Sum<Sample>* sums) {
  using Value = typename Derivatives<Sample>::Value;
  __shared__ Value partials[kWarps][kListedFrames][2];
  const int t = static_cast<int>(threadIdx.x);
  const std::size_t groups_a_row = static_cast<std::size_t>(derived.pitch) / kEach;
  const std::size_t groups = groups_a_row * static_cast<std::size_t>(derived.height - 2);
  const std::size_t group = global_thread();
  const bool active = group < groups;
  const int y = active ? 1 + static_cast<int>(group / groups_a_row) : 1;
  const int x = active ? static_cast<int>(group % groups_a_row) * kEach : 0;
  Eight<Derived<Sample>> g{}, h{}, m{};
  if (active) {
    const std::size_t at = static_cast<std::size_t>(y) * static_cast<std::size_t>(derived.pitch) + static_cast<std::size_t>(x);
    g = *reinterpret_cast<const Eight<Derived<Sample>>*>(derived.g + at);
    h = *reinterpret_cast<const Eight<Derived<Sample>>*>(derived.h + at);
    m = *reinterpret_cast<const Eight<Derived<Sample>>*>(derived.m + at);
  }
  const bool whole = frames.aligned && x + kEach <= derived.width;
#pragma unroll 4
  for (int f = 0; f < frames.count; ++f) {
    const Sample* from = frames.data[f] + y * frames.pitch[f] + x;
    Eight<Sample> s{};
    if (whole) {
      s = *reinterpret_cast<const Eight<Sample>*>(from);
    } else {
      for (int i = 0; i < kEach; ++i) s.value[i] = x + i < derived.width ? from[i] : Sample{0};
    }
    Value p = 0, q = 0;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const Value d = 5 * s.value[i] - static_cast<Value>(m.value[i]);
      p += static_cast<Value>(g.value[i]) * d;
      q += static_cast<Value>(h.value[i]) * d;
    }
    p = sum_of_lanes(p);
    q = sum_of_lanes(q);
    if (t % 32 == 0) {
      partials[t / 32][f][0] = p;
      partials[t / 32][f][1] = q;
    }
  }
  __syncthreads();
  for (int k = t; k < 2 * frames.count; k += kThreads) {
    Sum<Sample> total = 0;
#pragma unroll
    for (int warp = 0; warp < kWarps; ++warp) total += partials[warp][k / 2][k % 2];
    atomic_add(sums + k, total);
  }
}

}  // namespace

template <typename Sample>
FrameList<Sample> list_of(std::span<const BasicPlaneView<const Sample>> frames) {
  FrameList<Sample> list;
  list.count = static_cast<int>(frames.size());
  for (std::size_t k = 0; k < frames.size(); ++k) {
    list.data[k] = frames[k].data;
    list.pitch[k] = frames[k].pitch;
    constexpr std::size_t kBytes = std::min<std::size_t>(16, kEach * sizeof(Sample));
    list.aligned = list.aligned && is_aligned(frames[k].data, kBytes) &&
                   static_cast<std::size_t>(frames[k].pitch) * sizeof(Sample) % kBytes == 0;
  }
  return list;
}

template <typename Sample>
void derive(CUstream_st* stream, BasicPlaneView<const Sample> reference, const DerivedView<Sample>& derived,
            Sum<Sample>* texture) {
  const std::size_t count = static_cast<std::size_t>(derived.pitch) * static_cast<std::size_t>(derived.height);
  launch("derive", derive_kernel<Sample>,
         {dim3(static_cast<unsigned>(std::min<std::size_t>(divide_up(count, kThreads), 1024))), dim3(kThreads)}, stream,
         reference, derived, texture);
}

template <typename Sample>
void shift_all(CUstream_st* stream, const DerivedView<Sample>& derived, const FrameList<Sample>& frames,
               Sum<Sample>* sums) {
  const std::size_t groups =
      static_cast<std::size_t>(derived.pitch) / kEach * static_cast<std::size_t>(derived.height - 2);
  launch("shift_all", shift_all_kernel<Sample>,
         {dim3(static_cast<unsigned>(divide_up(groups, kThreads))), dim3(kThreads)}, stream, derived, frames, sums);
}

#define C63_INSTANTIATE(Sample)                                                                                     \
  template FrameList<Sample> list_of(std::span<const BasicPlaneView<const Sample>>);                                \
  template void derive(CUstream_st*, BasicPlaneView<const Sample>, const DerivedView<Sample>&, Sum<Sample>*);       \
  template void shift_all(CUstream_st*, const DerivedView<Sample>&, const FrameList<Sample>&, Sum<Sample>*);
C63_INSTANTIATE(std::uint8_t)
C63_INSTANTIATE(float)
#undef C63_INSTANTIATE

}  // namespace c63::cuda::kernels
