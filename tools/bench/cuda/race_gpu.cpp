#include "bench/cuda/race_gpu.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "bench/cuda/kernels.h"
#include "bench/race_files.h"
#include "c63/error.h"
#include "codec/geometry.h"
#include "cuda_me/runtime/check.h"
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

void DeviceJobs::add(const std::uint8_t* current, const std::uint8_t* reference, int width, int height, int range) {
  const auto blocks = static_cast<std::size_t>(width / kBlockSize) * static_cast<std::size_t>(height / kBlockSize);
  vectors_.emplace_back(blocks);
  sads_.emplace_back(blocks);
  jobs_.push_back({current, reference, width, width, width, height, range, vectors_.back().data(), sads_.back().data()});
}

void DeviceJobs::poison(cudaStream_t stream) const {
  for (const auto& v : vectors_) cuda::fill_async(v.data(), race::kPoison, v.bytes(), stream);
  for (const auto& s : sads_) cuda::fill_async(s.data(), race::kPoison, s.bytes(), stream);
}

std::vector<MotionField> DeviceJobs::results(const cuda::Stream& stream) const {
  std::vector<MotionField> fields(jobs_.size());
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    fields[i] = {jobs_[i].width / kBlockSize, jobs_[i].height / kBlockSize, std::vector<MotionVector>(vectors_[i].size()),
                 std::vector<std::uint16_t>(sads_[i].size())};
    cuda::copy_async(fields[i].vectors.data(), vectors_[i].data(), vectors_[i].size(), stream);
    cuda::copy_async(fields[i].sads.data(), sads_[i].data(), sads_[i].size(), stream);
  }
  stream.synchronize();
  return fields;
}

FreshPairs::FreshPairs(int width, int height, int range, std::size_t pairs) {
  const auto samples = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  for (std::size_t i = 0; i < pairs; ++i) {
    const std::uint8_t* const current = planes_.emplace_back(samples).data();
    add(current, planes_.emplace_back(samples).data(), width, height, range);
  }
}

void FreshPairs::refresh(std::span<const cuda::MotionJob> video, std::uint32_t seed, cudaStream_t stream) const {
  for (std::size_t i = 0; i < jobs().size(); ++i) {
    enqueue_fresh_planes(stream, video[i % video.size()], jobs()[i], seed_of_round(seed, static_cast<int>(i)));
  }
}

race::RaceCase FreshPairs::pair(std::size_t i, const cuda::Stream& stream) const {
  const cuda::MotionJob& job = jobs()[i];
  const auto samples = static_cast<std::size_t>(job.width) * static_cast<std::size_t>(job.height);
  race::RaceCase c;
  c.name = "timed " + std::to_string(job.width) + "x" + std::to_string(job.height);
  c.content = "timed";
  c.range = job.range;
  c.width = c.current_pitch = c.reference_pitch = job.width;
  c.height = job.height;
  c.current.resize(samples);
  c.reference.resize(samples);
  cuda::copy_async(c.current.data(), job.current, samples, stream);
  cuda::copy_async(c.reference.data(), job.reference, samples, stream);
  stream.synchronize();
  return c;
}

double RaceClock::time(const cuda::GraphExec& graph, const std::function<void(const cuda::Stream&)>& take_results) const {
  constexpr double kLaunch = 300e-6;  // seconds that a launch may take on the host
  double host_s = timed([&] {
    start_.record(stream_);
    graph.launch(stream_);
    stop_.record(stream_);
    stop_.synchronize();
  })();
  take_results(stream_);
  host_s += timed([] { cuda::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); })();
  const double seconds = 1e-3 * stop_.milliseconds_since(start_);
  return host_s > 2 * seconds + kLaunch ? host_s : seconds;
}

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
