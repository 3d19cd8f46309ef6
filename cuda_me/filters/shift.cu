// Computes the sums from which shifts of frames follow (ShiftSums), on a GPU, in all variants. The slowest launch a kernel
// and copy its sums for each frame. The fastest launches one kernel for up to kListedFrames frames.
#include <string>
#include <vector>

#include "c63/filter_checks.h"
#include "cuda_me/collective/reduce.cuh"
#include "cuda_me/filters/filter_common.cuh"
#include "cuda_me/filters/shift_kernels.h"

namespace c63::cuda::kernels {
namespace {

/// The number of sums of a frame, in the order of ShiftSums. On the device, u, v and w are stored times 4, and p and q
/// times 10, so that sums of bytes are integers.
inline constexpr int kShiftSums = 5;

/// The values 2g, 2h and 5m of a sample that is not on the border (g, h and m as in ShiftSums), which are integers.
struct Derivatives {
  int g, h, m;
};

[[nodiscard]] __device__ Derivatives derivatives_at(ConstPlaneView r, int x, int y) {
  const std::uint8_t* middle = r.data + y * r.pitch + x;
  const int above = middle[-r.pitch], below = middle[r.pitch], left = middle[-1], right = middle[1];
  return {below - above, right - left, static_cast<int>(*middle) + above + below + left + right};
}

// Computes the sums from which a frame's shift follows, with one kernel per frame. Every thread takes one sample that
// is not on the border, and a thread block adds the products of its threads. It stores these sums for the CPU, or adds
// them to the frame's sums by atomics.

constexpr int kStepColumns = 32;
constexpr int kStepRows = 8;
constexpr int kStepThreads = kStepColumns * kStepRows;

__global__ void __launch_bounds__(kStepThreads) shift_of_frame(ConstPlaneView reference, ConstPlaneView frame,
                                                               Sum* sums, Sum* blocks) {
  __shared__ Sum partials[kStepThreads / 32][kShiftSums];
  const int x = 1 + static_cast<int>(blockIdx.x * kStepColumns + threadIdx.x);
  const int y = 1 + static_cast<int>(blockIdx.y * kStepRows + threadIdx.y);
  Sum mine[kShiftSums] = {};
  if (x < reference.width - 1 && y < reference.height - 1) {
    const auto r = derivatives_at(reference, x, y);
    const auto d = 5 * frame.data[y * frame.pitch + x] - r.m;
    const Sum g = r.g, h = r.h;
    mine[0] = g * d;
    mine[1] = h * d;
    mine[2] = h * h;
    mine[3] = g * h;
    mine[4] = g * g;
  }
  const int t = static_cast<int>(threadIdx.y) * kStepColumns + static_cast<int>(threadIdx.x);
  for (int k = 0; k < kShiftSums; ++k) {
    const Sum total = sum_of_lanes(mine[k]);
    if (t % 32 == 0) partials[t / 32][k] = total;
  }
  __syncthreads();
  if (t >= kShiftSums) return;
  Sum total = 0;
  for (int warp = 0; warp < kStepThreads / 32; ++warp) total += partials[warp][t];
  if (blocks != nullptr) {
    blocks[(blockIdx.y * gridDim.x + blockIdx.x) * kShiftSums + static_cast<unsigned>(t)] = total;
  } else {
    atomic_add(sums + t, total);
  }
}

/// The grid that covers the samples that are not on the border.
Sides grid_of(ConstPlaneView reference) {
  return {divide_up(reference.width - 2, kStepColumns), divide_up(reference.height - 2, kStepRows)};
}

void shift_step(CUstream_st* stream, ConstPlaneView reference, ConstPlaneView frame, Sum* sums, Sum* blocks) {
  launch(shift_of_frame, {grid_of(reference), {kStepColumns, kStepRows}}, stream, reference, frame, sums, blocks);
}

// Computes the sums from which the shifts of up to kListedFrames frames follow, in one kernel. Another kernel computes
// the reference's derivatives and means once. A thread keeps those of eight samples in registers while it loops over
// the frames.

constexpr int kAllThreads = 256;
constexpr int kAllWarps = kAllThreads / 32;
constexpr int kAllEach = 8;

__global__ void __launch_bounds__(kAllThreads) derive_kernel(ConstPlaneView reference,
                                                          DerivedView derived, Sum* texture) {
  __shared__ Sum partials[kAllWarps][3];
  const std::size_t count = static_cast<std::size_t>(derived.pitch) * static_cast<std::size_t>(derived.height);
  Sum mine[3] = {};
  for (std::size_t i = global_thread(); i < count; i += global_threads()) {
    const int x = static_cast<int>(i % static_cast<std::size_t>(derived.pitch));
    const int y = static_cast<int>(i / static_cast<std::size_t>(derived.pitch));
    Derivatives d{};
    if (x > 0 && x < derived.width - 1 && y > 0 && y < derived.height - 1) d = derivatives_at(reference, x, y);
    derived.g[i] = static_cast<Derived>(d.g);
    derived.h[i] = static_cast<Derived>(d.h);
    derived.m[i] = static_cast<Derived>(d.m);
    const Sum g = d.g, h = d.h;
    mine[0] += h * h;
    mine[1] += g * h;
    mine[2] += g * g;
  }
  const int t = static_cast<int>(threadIdx.x);
  for (int k = 0; k < 3; ++k) {
    const Sum total = sum_of_lanes(mine[k]);
    if (t % 32 == 0) partials[t / 32][k] = total;
  }
  __syncthreads();
  if (t >= 3) return;
  Sum total = 0;
  for (int warp = 0; warp < kAllWarps; ++warp) total += partials[warp][t];
  atomic_add(texture + t, total);
}

/// Eight neighbouring values.
template <typename T>
struct alignas(8 * sizeof(T) < 16 ? 8 * sizeof(T) : 16) Eight {
  T value[kAllEach];
};

__global__ void __launch_bounds__(kAllThreads) shift_all_kernel(DerivedView derived,
                                                             const __grid_constant__ FrameList frames,
                                                             Sum* sums) {
  __shared__ int partials[kAllWarps][kListedFrames][2];
  const int t = static_cast<int>(threadIdx.x);
  const std::size_t groups_a_row = static_cast<std::size_t>(derived.pitch) / kAllEach;
  const std::size_t groups = groups_a_row * static_cast<std::size_t>(derived.height - 2);
  const std::size_t group = global_thread();
  const bool active = group < groups;
  const int y = active ? 1 + static_cast<int>(group / groups_a_row) : 1;
  const int x = active ? static_cast<int>(group % groups_a_row) * kAllEach : 0;
  Eight<Derived> g{}, h{}, m{};
  if (active) {
    const std::size_t at = static_cast<std::size_t>(y) * static_cast<std::size_t>(derived.pitch) + static_cast<std::size_t>(x);
    g = *reinterpret_cast<const Eight<Derived>*>(derived.g + at);
    h = *reinterpret_cast<const Eight<Derived>*>(derived.h + at);
    m = *reinterpret_cast<const Eight<Derived>*>(derived.m + at);
  }
  const bool whole = frames.aligned && x + kAllEach <= derived.width;
#pragma unroll 4
  for (int f = 0; f < frames.count; ++f) {
    const std::uint8_t* from = frames.data[f] + y * frames.pitch[f] + x;
    Eight<std::uint8_t> s{};
    if (whole) {
      s = *reinterpret_cast<const Eight<std::uint8_t>*>(from);
    } else {
      for (int i = 0; i < kAllEach; ++i) s.value[i] = x + i < derived.width ? from[i] : std::uint8_t{0};
    }
    int p = 0, q = 0;
#pragma unroll
    for (int i = 0; i < kAllEach; ++i) {
      const int d = 5 * s.value[i] - static_cast<int>(m.value[i]);
      p += static_cast<int>(g.value[i]) * d;
      q += static_cast<int>(h.value[i]) * d;
    }
    p = sum_of_lanes(p);
    q = sum_of_lanes(q);
    if (t % 32 == 0) {
      partials[t / 32][f][0] = p;
      partials[t / 32][f][1] = q;
    }
  }
  __syncthreads();
  for (int k = t; k < 2 * frames.count; k += kAllThreads) {
    Sum total = 0;
#pragma unroll
    for (int warp = 0; warp < kAllWarps; ++warp) total += partials[warp][k / 2][k % 2];
    atomic_add(sums + k, total);
  }
}

}  // namespace

FrameList list_of(std::span<const ConstPlaneView> frames) {
  FrameList list;
  list.count = static_cast<int>(frames.size());
  for (std::size_t k = 0; k < frames.size(); ++k) {
    list.data[k] = frames[k].data;
    list.pitch[k] = frames[k].pitch;
    list.aligned = list.aligned && is_aligned(frames[k].data, kAllEach) && frames[k].pitch % kAllEach == 0;
  }
  return list;
}

void derive(CUstream_st* stream, ConstPlaneView reference, const DerivedView& derived, Sum* texture) {
  const std::size_t count = static_cast<std::size_t>(derived.pitch) * static_cast<std::size_t>(derived.height);
  launch(derive_kernel, {std::min<std::size_t>(divide_up(count, kAllThreads), 1024), kAllThreads}, stream, reference,
         derived, texture);
}

void shift_all(CUstream_st* stream, const DerivedView& derived, const FrameList& frames, Sum* sums) {
  const std::size_t groups =
      static_cast<std::size_t>(derived.pitch) / kAllEach * static_cast<std::size_t>(derived.height - 2);
  launch(shift_all_kernel, {divide_up(groups, kAllThreads), kAllThreads}, stream, derived, frames, sums);
}

}  // namespace c63::cuda::kernels

namespace c63::cuda {
namespace {

using kernels::kShiftSums;
using kernels::Sum;

ShiftSums sums_from(const Sum* five) {
  const auto value = [&](int k) { return static_cast<double>(five[k]); };
  return {value(0) / 10, value(1) / 10, value(2) / 4, value(3) / 4, value(4) / 4};
}

using Views = std::span<const ConstPlaneView>;

void add_blocks_on_cpu(FilterQueue& queue, ConstPlaneView reference, Views frames, std::span<ShiftSums> sums) {
  const Sides grid = kernels::grid_of(reference);
  const std::size_t count = std::size_t{grid.x} * grid.y * kShiftSums;
  auto* blocks = static_cast<Sum*>(queue.scratch(count * sizeof(Sum)));
  std::vector<Sum> host(count);
  for (std::size_t k = 0; k < frames.size(); ++k) {
    kernels::shift_step(queue.stream(), reference, frames[k], nullptr, blocks);
    queue.download(host.data(), blocks, count * sizeof(Sum));
    Sum total[kShiftSums] = {};
    for (std::size_t i = 0; i < count; ++i) total[i % kShiftSums] += host[i];
    sums[k] = sums_from(total);
  }
}

void add_by_atomics(FilterQueue& queue, ConstPlaneView reference, Views frames, std::span<ShiftSums> sums,
                    bool copy_each, bool streams) {
  const std::size_t bytes = frames.size() * kShiftSums * sizeof(Sum);
  auto* device = static_cast<Sum*>(queue.scratch(bytes));
  std::vector<Sum> host(frames.size() * kShiftSums);
  fill_async(device, 0, bytes, queue.stream());
  for (std::size_t k = 0; k < frames.size(); ++k) {
    CUstream_st* stream = streams ? queue.fork(static_cast<int>(k % 4)) : queue.stream();
    kernels::shift_step(stream, reference, frames[k], device + k * kShiftSums, nullptr);
    if (copy_each) {
      queue.download(host.data() + k * kShiftSums, device + k * kShiftSums, kShiftSums * sizeof(Sum));
    }
  }
  if (streams) queue.join();
  if (!copy_each) queue.download(host.data(), device, bytes);
  for (std::size_t k = 0; k < frames.size(); ++k) sums[k] = sums_from(&host[k * kShiftSums]);
}

void in_one_kernel(FilterQueue& queue, ConstPlaneView reference, Views frames, std::span<ShiftSums> sums) {
  const kernels::DerivedLayout layout(reference.width, reference.height);
  const std::size_t sum_bytes = (3 + 2 * frames.size()) * sizeof(Sum);
  auto* memory = static_cast<std::uint8_t*>(queue.scratch(layout.bytes() + sum_bytes));
  auto* device = reinterpret_cast<Sum*>(memory + layout.bytes());
  fill_async(device, 0, sum_bytes, queue.stream());
  const auto derived = layout.at(memory);
  kernels::derive(queue.stream(), reference, derived, device);
  for (std::size_t first = 0; first < frames.size(); first += kernels::kListedFrames) {
    const auto some = frames.subspan(first, std::min<std::size_t>(kernels::kListedFrames, frames.size() - first));
    kernels::shift_all(queue.stream(), derived, kernels::list_of(some), device + 3 + 2 * first);
  }
  std::vector<Sum> host(3 + 2 * frames.size());
  queue.download(host.data(), device, sum_bytes);
  for (std::size_t k = 0; k < frames.size(); ++k) {
    const Sum five[kShiftSums] = {host[3 + 2 * k], host[4 + 2 * k], host[0], host[1], host[2]};
    sums[k] = sums_from(five);
  }
}

}  // namespace

void shift_sums(FilterQueue& queue, ConstPlaneView reference,
                std::span<const ConstPlaneView> frames, std::span<ShiftSums> sums, ShiftVariant variant) {
  check_view(reference, "the reference");
  require(reference.width >= 3 && reference.height >= 3, "C63-SHIFT-SIZE",
          "a reference of " + shape_of(reference) + " has no interior: it must be 3x3 or larger");
  require(frames.size() <= 256, "C63-FILTER-SHAPE",
          std::to_string(frames.size()) + " frames at once: at most 256 can be compared with one reference");
  check_same_length(frames.size(), "the list of frames", sums.size(), "the sums");
  for (const auto& frame : frames) check_same_shape(frame, "the frame", reference, "the reference");
  if (frames.empty()) return;
  switch (variant) {
    case ShiftVariant::sums_on_cpu: return add_blocks_on_cpu(queue, reference, frames, sums);
    case ShiftVariant::atomics: return add_by_atomics(queue, reference, frames, sums, true, false);
    case ShiftVariant::back_to_back: return add_by_atomics(queue, reference, frames, sums, false, false);
    case ShiftVariant::four_streams: return add_by_atomics(queue, reference, frames, sums, false, true);
    default: return in_one_kernel(queue, reference, frames, sums);
  }
}

}  // namespace c63::cuda
