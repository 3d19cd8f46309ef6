// Computes the sums from which shifts of frames follow (ShiftSums), on a GPU. The slowest variants launch a kernel and
// copy its sums for each frame. The fastest launches one kernel for up to kListedFrames frames.
#include <string>
#include <vector>

#include "c63/cuda/filters.h"
#include "c63/filter_checks.h"
#include "cuda_me/filters/whitening_buffers.h"
#include "cuda_me/filters/whitening_kernels.h"
#include "cuda_me/runtime/memory.h"

namespace c63::cuda {
namespace {

using kernels::kShiftSums;
using kernels::Sum;

template <typename Sample>
ShiftSums sums_from(const Sum<Sample>* five) {
  const auto value = [&](int k) { return static_cast<double>(five[k]); };
  return {value(0) / 10, value(1) / 10, value(2) / 4, value(3) / 4, value(4) / 4};
}

template <typename Sample>
using Views = std::span<const BasicPlaneView<const Sample>>;

template <typename Sample>
void add_blocks_on_cpu(FilterQueue& queue, BasicPlaneView<const Sample> reference, Views<Sample> frames,
                       std::span<ShiftSums> sums) {
  const std::size_t count = kernels::shift_step_blocks(reference.width, reference.height) * kShiftSums;
  auto* blocks = static_cast<Sum<Sample>*>(queue.scratch(count * sizeof(Sum<Sample>)));
  std::vector<Sum<Sample>> host(count);
  for (std::size_t k = 0; k < frames.size(); ++k) {
    kernels::shift_step<Sample>(queue.stream(), reference, frames[k], nullptr, blocks);
    queue.download(host.data(), blocks, count * sizeof(Sum<Sample>));
    Sum<Sample> total[kShiftSums] = {};
    for (std::size_t i = 0; i < count; ++i) total[i % kShiftSums] += host[i];
    sums[k] = sums_from<Sample>(total);
  }
}

template <typename Sample>
void add_by_atomics(FilterQueue& queue, BasicPlaneView<const Sample> reference, Views<Sample> frames,
                    std::span<ShiftSums> sums, bool copy_each, bool streams) {
  const std::size_t bytes = frames.size() * kShiftSums * sizeof(Sum<Sample>);
  auto* device = static_cast<Sum<Sample>*>(queue.scratch(bytes));
  std::vector<Sum<Sample>> host(frames.size() * kShiftSums);
  fill_async(device, 0, bytes, queue.stream());
  for (std::size_t k = 0; k < frames.size(); ++k) {
    CUstream_st* stream = streams ? queue.fork(static_cast<int>(k % 4)) : queue.stream();
    kernels::shift_step<Sample>(stream, reference, frames[k], device + k * kShiftSums, nullptr);
    if (copy_each) {
      queue.download(host.data() + k * kShiftSums, device + k * kShiftSums, kShiftSums * sizeof(Sum<Sample>));
    }
  }
  if (streams) queue.join();
  if (!copy_each) queue.download(host.data(), device, bytes);
  for (std::size_t k = 0; k < frames.size(); ++k) sums[k] = sums_from<Sample>(&host[k * kShiftSums]);
}

template <typename Sample>
void in_one_kernel(FilterQueue& queue, BasicPlaneView<const Sample> reference, Views<Sample> frames,
                   std::span<ShiftSums> sums) {
  const kernels::DerivedLayout<Sample> layout(reference.width, reference.height);
  const std::size_t sum_bytes = (3 + 2 * frames.size()) * sizeof(Sum<Sample>);
  auto* memory = static_cast<std::uint8_t*>(queue.scratch(layout.bytes() + sum_bytes));
  auto* device = reinterpret_cast<Sum<Sample>*>(memory + layout.bytes());
  fill_async(device, 0, sum_bytes, queue.stream());
  const auto derived = layout.at(memory);
  kernels::derive<Sample>(queue.stream(), reference, derived, device);
  for (std::size_t first = 0; first < frames.size(); first += kernels::kListedFrames) {
    const auto some = frames.subspan(first, std::min<std::size_t>(kernels::kListedFrames, frames.size() - first));
    kernels::shift_all(queue.stream(), derived, kernels::list_of<Sample>(some), device + 3 + 2 * first);
  }
  std::vector<Sum<Sample>> host(3 + 2 * frames.size());
  queue.download(host.data(), device, sum_bytes);
  for (std::size_t k = 0; k < frames.size(); ++k) {
    const Sum<Sample> five[kShiftSums] = {host[3 + 2 * k], host[4 + 2 * k], host[0], host[1], host[2]};
    sums[k] = sums_from<Sample>(five);
  }
}

}  // namespace

template <>
std::span<const std::pair<std::string_view, ShiftVariant>> variant_names() {
  using enum ShiftVariant;
  static constexpr std::pair<std::string_view, ShiftVariant> kNames[] = {
      {"best", best}, {"sums-on-cpu", sums_on_cpu}, {"atomics", atomics}, {"back-to-back", back_to_back},
      {"four-streams", four_streams}, {"one-kernel", one_kernel}};
  return kNames;
}

template <typename Sample>
void shift_sums(FilterQueue& queue, BasicPlaneView<const Sample> reference,
                std::span<const BasicPlaneView<const Sample>> frames, std::span<ShiftSums> sums, ShiftVariant variant) {
  check_view(reference, "the reference");
  require(reference.width >= 3 && reference.height >= 3, "C63-SHIFT-SIZE",
          "a reference of " + shape_of(reference) + " has no interior: it must be 3x3 or larger");
  require(frames.size() <= 256, "C63-FILTER-SHAPE",
          std::to_string(frames.size()) + " frames at once: at most 256 can be compared with one reference");
  check_same_length(frames.size(), "the list of frames", sums.size(), "the sums");
  for (const auto& frame : frames) check_same_shape(frame, "the frame", reference, "the reference");
  if (frames.empty()) return;
  switch (variant) {
    case ShiftVariant::sums_on_cpu: return add_blocks_on_cpu<Sample>(queue, reference, frames, sums);
    case ShiftVariant::atomics: return add_by_atomics<Sample>(queue, reference, frames, sums, true, false);
    case ShiftVariant::back_to_back: return add_by_atomics<Sample>(queue, reference, frames, sums, false, false);
    case ShiftVariant::four_streams: return add_by_atomics<Sample>(queue, reference, frames, sums, false, true);
    default: return in_one_kernel<Sample>(queue, reference, frames, sums);
  }
}

#define C63_INSTANTIATE(Sample)                                                                            \
  template void shift_sums<Sample>(FilterQueue&, BasicPlaneView<const Sample>,                             \
                                   std::span<const BasicPlaneView<const Sample>>, std::span<ShiftSums>, ShiftVariant);
C63_INSTANTIATE(std::uint8_t)
C63_INSTANTIATE(float)
#undef C63_INSTANTIATE

}  // namespace c63::cuda
