#include "bench/cuda/race_gpu.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "c63/error.h"
#include "cuda_me/runtime/memory.h"

namespace c63::bench {
namespace {

using race::SearchResults;
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

/// The device memory for a test case.
struct CaseMemory {
  explicit CaseMemory(const RaceCase& c)
      : current(c.current.size()),
        reference(c.reference.size()),
        vectors(c.blocks() * sizeof(MotionVector)),
        sads(c.blocks() * sizeof(std::uint16_t)) {}
  Guarded current;
  Guarded reference;
  Guarded vectors;
  Guarded sads;
};

/// Whether any call has overwritten what it must not for one test case: bytes outside its results; its input planes, or the
/// bytes on both sides of these.
struct Overwritten {
  bool past_results = false;
  bool wrote_planes = false;
};

class Batch {
 public:
  explicit Batch(std::span<RaceCase> cases) : cases_(cases) {
    for (const RaceCase& c : cases) memory_.emplace_back(c);
  }

  /// Searches all cases of the batch in one call, and notes in `harm` what it has overwritten. Before the search, results and
  /// their surroundings are filled with `poison`, and the bytes around the planes with `around`.
  std::vector<SearchResults> search(cuda::MotionSearch& search, const cuda::Stream& stream, std::uint8_t poison,
                            std::uint8_t around, std::vector<Overwritten>& overwritten) {
    std::vector<cuda::MotionJob> jobs;
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      const RaceCase& c = cases_[i];
      CaseMemory& m = memory_[i];
      m.current.upload(c.current, around, stream);
      m.reference.upload(c.reference, around, stream);
      m.vectors.upload(std::vector<std::uint8_t>(c.blocks() * sizeof(MotionVector), poison), poison, stream);
      m.sads.upload(std::vector<std::uint8_t>(c.blocks() * sizeof(std::uint16_t), poison), poison, stream);
      jobs.push_back({m.current.data(), m.reference.data(), c.current_pitch, c.reference_pitch, c.width, c.height,
                      c.range, reinterpret_cast<MotionVector*>(m.vectors.data()),
                      reinterpret_cast<std::uint16_t*>(m.sads.data())});
    }
    search.enqueue(jobs, stream);
    stream.synchronize();
    std::vector<SearchResults> found;
    std::vector<std::uint8_t> bytes;
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      const RaceCase& c = cases_[i];
      CaseMemory& m = memory_[i];
      SearchResults results = SearchResults::poisoned(c.blocks(), poison);
      overwritten[i].past_results |= !m.vectors.download(bytes, poison, stream);
      std::copy(bytes.begin(), bytes.end(), reinterpret_cast<std::uint8_t*>(results.vectors.data()));
      overwritten[i].past_results |= !m.sads.download(bytes, poison, stream);
      std::copy(bytes.begin(), bytes.end(), reinterpret_cast<std::uint8_t*>(results.sads.data()));
      overwritten[i].wrote_planes |= !m.current.download(bytes, around, stream) || bytes != c.current;
      overwritten[i].wrote_planes |= !m.reference.download(bytes, around, stream) || bytes != c.reference;
      found.push_back(std::move(results));
    }
    return found;
  }

 private:
  std::span<RaceCase> cases_;
  std::vector<CaseMemory> memory_;
};

void judge_batch(race::Judge& judge, cuda::MotionSearch& search, const cuda::Stream& stream, std::span<RaceCase> cases,
                 std::uint32_t seed) {
  constexpr int kSearchesAgain = 4;  // repeated, because a data race shows only sometimes
  Batch batch(cases);
  std::vector<Overwritten> overwritten(cases.size());
  const std::vector<SearchResults> first = batch.search(search, stream, race::kPoison, 0x33, overwritten);
  std::vector<SearchResults> again = batch.search(search, stream, race::kOtherPoison, 0x33, overwritten);
  for (int i = 1; i < kSearchesAgain; ++i) {
    std::vector<SearchResults> once_more = batch.search(search, stream, race::kOtherPoison, 0x33, overwritten);
    for (std::size_t c = 0; c < cases.size(); ++c) {
      if (again[c] == first[c]) again[c] = std::move(once_more[c]);
    }
  }
  std::vector<RaceCase> before(cases.begin(), cases.end());
  for (RaceCase& c : cases) c.change_padding(seed);
  const std::vector<SearchResults> other = batch.search(search, stream, race::kPoison, 0xC7, overwritten);
  for (std::size_t c = 0; c < cases.size(); ++c) {
    judge.add(before[c], {first[c], again[c], other[c]});
    if (overwritten[c].past_results) {
      judge.broke(
          before[c], "it writes past its results",
          {"writes-outside",
           "memory around the results changes: a block number that is too large, or the wrong number of columns", 1});
    }
    if (overwritten[c].wrote_planes) {
      judge.broke(before[c], "it writes into its planes, or around them",
                  {"writes-planes", "the planes change: they must not be written to", 1});
    }
  }
}

}  // namespace

void judge_on_device(race::Judge& judge, cuda::MotionSearch& search, const cuda::Stream& stream, std::uint32_t seed,
                     int range, const std::function<void(const std::string&)>& tell, bool& device_lost) {
  std::vector<RaceCase> cases = race::race_cases(seed, range);
  constexpr std::array<std::size_t, 8> kBatches = {3, 3, 1, 1, 2, 5, 1, 8};
  std::size_t at = 0;
  for (std::size_t i = 0; at < cases.size() && !judge.has_enough(); ++i) {
    const std::size_t count = std::min(kBatches[i % kBatches.size()], cases.size() - at);
    const std::span batch = std::span(cases).subspan(at, count);
    const std::string what =
        batch.front().name +
        (count > 1 ? " and " + std::to_string(count - 1) + " more planes in one call" : std::string());
    tell(what);
    try {
      judge_batch(judge, search, stream, batch, seed + 1);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::device) throw;
      device_lost = true;
      const bool memory = error.message().find("illegal") != std::string::npos ||
                          error.message().find("misaligned") != std::string::npos;
      judge.stopped(
          what + ": " + error.message(),
          memory ? MotionSuspicion{"illegal-access",
                                   "it reads or writes memory that is not its own: addresses past a plane, an array or "
                                   "shared memory",
                                   1}
                 : MotionSuspicion{
                       "launch-failed",
                       "its launch is refused or fails: the shape of thread blocks, shared memory or registers", 1});
      return;
    }
    at += count;
  }
}

}  // namespace c63::bench
