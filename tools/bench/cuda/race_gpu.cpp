#include "bench/cuda/race_gpu.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "c63/error.h"
#include "cuda_me/runtime/memory.h"

namespace c63::bench {
namespace {

using race::RaceCase;

constexpr std::size_t kGuard = 4096;  ///< bytes on each side of a plane or a result

/// A plane or a result on the device, with kGuard known bytes on both sides.
class Guarded {
 public:
  explicit Guarded(std::size_t bytes) : bytes_(bytes), device_(bytes + 2 * kGuard), host_(bytes + 2 * kGuard) {}

  [[nodiscard]] std::uint8_t* data() const { return device_.data() + kGuard; }

  void upload(std::span<const std::uint8_t> bytes, std::uint8_t around, cudaStream_t stream) {
    std::fill(host_.begin(), host_.end(), around);
    std::ranges::copy(bytes, host_.begin() + kGuard);
    cuda::copy_async(device_.data(), host_.data(), host_.size(), stream);
  }
  /// Copies the content to `bytes`. Returns true if the bytes on both sides are still `around`.
  bool download(std::vector<std::uint8_t>& bytes, std::uint8_t around, const cuda::Stream& stream) {
    cuda::copy_async(host_.data(), device_.data(), host_.size(), stream);
    stream.synchronize();
    bytes.assign(host_.begin() + kGuard, host_.begin() + static_cast<std::ptrdiff_t>(kGuard + bytes_));
    const auto untouched = [around](auto first, auto last) {
      return std::all_of(first, last, [around](std::uint8_t b) { return b == around; });
    };
    return untouched(host_.begin(), host_.begin() + kGuard) &&
           untouched(host_.begin() + static_cast<std::ptrdiff_t>(kGuard + bytes_), host_.end());
  }

 private:
  std::size_t bytes_;
  cuda::DeviceBuffer<std::uint8_t> device_;
  std::vector<std::uint8_t> host_;
};

/// The device memory for a test case, filled for a search.
struct CaseMemory {
  CaseMemory(const RaceCase& c, const race::CaseLayout& layout, cudaStream_t stream)
      : current(c.current.size()),
        reference(c.reference.size()),
        vectors(c.blocks() * sizeof(MotionVector)),
        sads(c.blocks() * sizeof(std::uint16_t)) {
    current.upload(c.current, layout.around, stream);
    reference.upload(c.reference, layout.around, stream);
    vectors.upload(std::vector<std::uint8_t>(c.blocks() * sizeof(MotionVector), layout.poison), layout.poison, stream);
    sads.upload(std::vector<std::uint8_t>(c.blocks() * sizeof(std::uint16_t), layout.poison), layout.poison, stream);
  }
  Guarded current;
  Guarded reference;
  Guarded vectors;
  Guarded sads;
};

/// Searches all cases in one call.
std::vector<race::SearchedCase> search_cases(cuda::MotionSearch& search, const cuda::Stream& stream,
                                             std::span<const RaceCase> cases, const race::CaseLayout& layout) {
  std::vector<CaseMemory> memory;
  std::vector<cuda::MotionJob> jobs;
  for (const RaceCase& c : cases) {
    const CaseMemory& m = memory.emplace_back(c, layout, stream);
    jobs.push_back({m.current.data(), m.reference.data(), c.current_pitch, c.reference_pitch, c.width, c.height,
                    c.range, reinterpret_cast<MotionVector*>(m.vectors.data()),
                    reinterpret_cast<std::uint16_t*>(m.sads.data())});
  }
  search.enqueue(jobs, stream);
  stream.synchronize();
  std::vector<race::SearchedCase> found;
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const RaceCase& c = cases[i];
    CaseMemory& m = memory[i];
    race::SearchedCase& one =
        found.emplace_back(race::SearchedCase{race::SearchResults::poisoned(c.blocks(), layout.poison)});
    one.past_results |= !m.vectors.download(bytes, layout.poison, stream);
    std::ranges::copy(bytes, reinterpret_cast<std::uint8_t*>(one.results.vectors.data()));
    one.past_results |= !m.sads.download(bytes, layout.poison, stream);
    std::ranges::copy(bytes, reinterpret_cast<std::uint8_t*>(one.results.sads.data()));
    one.wrote_planes |= !m.current.download(bytes, layout.around, stream) || bytes != c.current;
    one.wrote_planes |= !m.reference.download(bytes, layout.around, stream) || bytes != c.reference;
  }
  return found;
}

}  // namespace

void judge_on_device(race::Judge& judge, cuda::MotionSearch& search, const cuda::Stream& stream, std::uint32_t seed,
                     int range, const std::function<void(const std::string&)>& next, bool& device_lost) {
  constexpr std::array<std::size_t, 8> kCalls = {3, 3, 1, 1, 2, 5, 1, 8};
  constexpr int kSearchesAgain = 4;
  std::string what;
  try {
    judge.judge([&](std::span<const RaceCase> cases,
                    const race::CaseLayout& layout) { return search_cases(search, stream, cases, layout); },
                seed, range, kCalls, kSearchesAgain, [&](const std::string& cases) { next(what = cases); });
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::device) throw;
    device_lost = true;
    const bool memory =
        error.message().find("illegal") != std::string::npos || error.message().find("misaligned") != std::string::npos;
    judge.stopped(
        what + ": " + error.message(),
        memory ? MotionSuspicion{"illegal-access",
                                 "it reads or writes memory that is not its own: addresses past a plane, an array or "
                                 "shared memory",
                                 1}
               : MotionSuspicion{
                     "launch-failed",
                     "its launch is refused or fails: the shape of thread blocks, shared memory or registers", 1});
  }
}

}  // namespace c63::bench
