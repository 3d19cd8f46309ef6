#include "bench/cuda/stage_traffic.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cuda_me/runtime/memory.h"

namespace c63::bench {
namespace {

constexpr double kCostBytes = kDcLevels * sizeof(Cost);
constexpr double kDcBytes = kDcLevels * sizeof(std::int16_t);
constexpr double kCoefficientBytes = kBlockSamples * sizeof(std::int16_t);

template <typename T>
std::vector<T> download(const T* from, std::size_t count, const cuda::Stream& stream) {
  std::vector<T> values(count);
  cuda::copy_async(values.data(), from, count, stream);
  stream.synchronize();
  return values;
}

}  // namespace

DecidedCounts count_decided(const cuda::FrameLayout& layout, const cuda::RateFrame* on_device, const cuda::Stream& stream) {
  const cuda::RateFrame frame = download(on_device, 1, stream).front();
  const auto blocks = static_cast<std::size_t>(layout.blocks);
  const auto slots = static_cast<std::size_t>(frame.slots);
  const auto counts = download(frame.scratch.counts, blocks, stream);
  const auto candidates = download(frame.scratch.candidates, blocks * slots, stream);
  const auto summaries = download(frame.scratch.summaries, blocks * slots, stream);
  DecidedCounts decided{.blocks = static_cast<double>(blocks),
                        .slots = static_cast<double>(slots),
                        .found = static_cast<double>(std::max(1, frame.rate.found_vectors))};
  for (std::size_t block = 0; block < blocks; ++block) {
    for (std::size_t slot = 0; slot < counts[block]; ++slot) {
      const std::size_t i = block * slots + slot;
      ++decided.candidates;
      decided.predicted += cuda::vector_of_candidate(candidates[i]) != kNoVector ? 1 : 0;
      decided.with_ac += summaries[i].kept != 0 ? 1 : 0;
    }
  }
  return decided;
}

double least_bytes(std::string_view stage, const cuda::FrameLayout& layout, const DecidedCounts& n) {
  const auto picture = static_cast<double>(layout.picture_bytes);
  constexpr double kVector = sizeof(MotionVector);
  constexpr double kFoundCost = sizeof(std::uint16_t);
  constexpr double kPacked = sizeof(cuda::PackedCandidate);
  constexpr double kSummary = sizeof(cuda::CandidateSummary);
  constexpr double kMasks = sizeof(cuda::AcMasks);
  if (stage == "weights") return 0;  // no preset makes weights on the device
  if (stage == "repeat error") return 2 * picture;
  if (stage == "search") return 2 * picture + n.blocks * (n.found * kVector + kFoundCost);
  if (stage == "choose vectors") return n.blocks * (2 * kVector + kFoundCost);
  if (stage == "list candidates") return n.blocks * (n.found * kVector + 1) + n.candidates * kPacked;
  if (stage == "transform candidates") {
    return picture + n.predicted * kBlockSamples + n.candidates * (kPacked + kSummary) + n.with_ac * kCoefficientBytes;
  }
  if (stage == "choose levels") {
    return n.candidates * (kSummary + kDcBytes + 1 + kMasks) + n.with_ac * kCoefficientBytes + n.blocks * n.slots * kCostBytes;
  }
  if (stage == "beam") {
    return n.blocks * n.slots * kCostBytes + n.candidates * (kDcBytes + kPacked) +
           n.blocks * (sizeof(cuda::ChosenCandidate) + kVector + 1);
  }
  if (stage == "code choices") {
    return 3 * picture + n.blocks * (sizeof(cuda::ChosenCandidate) + kVector + kMasks + sizeof(std::uint16_t));
  }
  return 0;
}

}  // namespace c63::bench
