#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "bench/bench.h"
#include "c63/motion.h"
#include "cuda_me/kernels/motion.h"
#include "cuda_me/runtime/memory.h"
#include "cuda_me/runtime/stream.h"
#include "race/race_judge.h"

// What `c63bench me` knows of a GPU and of kernels from users' files.

namespace c63::bench {

/// Runs a search of the current device on the test cases, and judges its results. Before each call of the search, calls
/// `next` with the names of its cases. A CUDA error ends the judging and is part of the verdict. Then `device_lost` is
/// set, because this process can no longer use the device.
void judge_on_device(race::Judge& judge, cuda::MotionSearch& search, const cuda::Stream& stream, std::uint32_t seed,
                     int range, const std::function<void(const std::string&)>& next, bool& device_lost);

/// Searches on the device, with memory for their results.
class DeviceJobs {
 public:
  /// Adds a search of planes without gaps between rows.
  void add(const std::uint8_t* current, const std::uint8_t* reference, int width, int height, int range);
  [[nodiscard]] const std::vector<cuda::MotionJob>& jobs() const { return jobs_; }
  /// Overwrites all results with kPoison, so that no kernel can seem right by the results of an earlier one.
  void poison(cudaStream_t stream) const;
  /// Waits for the stream, and returns the results of all jobs.
  [[nodiscard]] std::vector<MotionField> results(const cuda::Stream& stream) const;

 private:
  std::vector<cuda::DeviceBuffer<MotionVector>> vectors_;
  std::vector<cuda::DeviceBuffer<std::uint16_t>> sads_;
  std::vector<cuda::MotionJob> jobs_;
};

/// Pairs of planes for a timed round of a race. Each has its own memory.
class FreshPairs : public DeviceJobs {
 public:
  FreshPairs(int width, int height, int range, std::size_t pairs);
  /// Fills the planes with those of a video, changed by the seed.
  void refresh(std::span<const cuda::MotionJob> video, std::uint32_t seed, cudaStream_t stream) const;
  /// Copies a pair to the host.
  [[nodiscard]] race::RaceCase pair(std::size_t i, const cuda::Stream& stream) const;

 private:
  std::vector<cuda::DeviceBuffer<std::uint8_t>> planes_;
};

/// A clock that searches cannot reach: events on a stream that they do not know, and the host's clock.
class RaceClock {
 public:
  /// Launches the graph on the clock's own stream. Then calls `take_results` with that stream, and waits for the whole device.
  /// Returns the seconds of the graph, or of all work if other streams have worked longer.
  [[nodiscard]] double time(const cuda::GraphExec& graph, const std::function<void(const cuda::Stream&)>& take_results) const;

 private:
  cuda::Stream stream_;
  cuda::Event start_{cuda::Event::Timing::on};
  cuda::Event stop_{cuda::Event::Timing::on};
};

/// Counts the instructions of each kind in SASS, as cuobjdump and nvdisasm print it. Each counts once, however often it
/// is executed. Returns null if there is none, else `source` and a number by kind: `word_loads` are loads from global
/// memory of two or more bytes; `spills` loads and stores of registers that do not fit; `absdiff4` VABSDIFF4, four
/// absolute differences each; `copies_ahead` asynchronous copies from global to shared memory.
[[nodiscard]] Json count_sass(const std::string& text);
[[nodiscard]] Json count_ptx(const std::string& text);

/// Returns a line for people.
[[nodiscard]] std::string text_of_counts(const Json& counts);

/// Disassembles a cubin with cuobjdump or nvdisasm from a CUDA toolkit. Empty if neither is installed or can read it.
[[nodiscard]] std::string disassemble(const std::vector<char>& cubin);

/// What limits a kernel's speed, and which step of docs/course.md to try next.
struct Advice {
  std::string bound;
  std::string next_step;
};
[[nodiscard]] Advice advise(const Json& counts, double share_of_ceiling, double occupancy, std::size_t local_bytes);

/// Clock, power and temperature of the current device during a measurement, as the program nvidia-smi tells them.
/// Without that program, nothing is known.
class GpuState {
 public:
  /// Takes a sample. Call it just after the GPU has worked: an idle GPU lowers its clock.
  void sample();

  /// Returns one line for the user. Empty if nothing is known.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] Json to_json() const;

 private:
  int samples_ = 0;
  double lowest_mhz_ = 0;
  double highest_mhz_ = 0;
  double most_mhz_ = 0;  ///< highest clock of this GPU
  double memory_mhz_ = 0;
  double most_watts_ = 0;
  double watts_limit_ = 0;
  double most_celsius_ = 0;
  std::set<std::string> throttled_by_;  ///< why clocks were lowered, in any sample
};

}  // namespace c63::bench
