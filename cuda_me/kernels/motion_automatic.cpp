// Chooses between brute force (motion_fast.cu) and successive elimination (motion_eliminate.cu) by their measured times
// on the current video. Both find the same vectors, so the choice may change at any call.
//
// Calls are counted in rounds of kRound calls, and each round chooses anew, because the content may change. The first
// four calls of a round are timed: brute force and elimination in turn. The kernel with the shorter time per block does
// the rest of the round. No call waits until a time is known. Until then, the previous choice is used. The very first
// choice is brute force, because its time does not depend on content. Calls that a graph captures use the current
// choice.

#include <array>
#include <limits>

#include "cuda_me/kernels/motion_common.cuh"
#include "cuda_me/runtime/launch.h"
#include "cuda_me/runtime/stream.h"

namespace c63::cuda {
namespace {

class AutomaticSearch final : public MotionSearch {
 public:
  AutomaticSearch() : searches_{make_fast_search(), make_eliminate_search()} {}

  [[nodiscard]] KernelNeeds form() const override { return searches_[chosen_]->form(); }
  [[nodiscard]] int choices() const override { return static_cast<int>(searches_.size()); }

  [[nodiscard]] std::optional<int> next_choice() override {
    if (pending_ && stop_.done()) read_time();
    if (calls_ == kRound) calls_ = 0;
    if (!pending_ && calls_ < kTimed) return std::nullopt;
    if (!pending_) ++calls_;
    return static_cast<int>(chosen_);
  }

 protected:
  void launch_jobs(std::span<const MotionJob> jobs, cudaStream_t stream) override {
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    check(cudaStreamIsCapturing(stream, &capture), "cudaStreamIsCapturing");
    if (capture != cudaStreamCaptureStatusNone) return searches_[chosen_]->enqueue(jobs, stream);
    if (const auto choice = next_choice()) return chosen(*choice).enqueue(jobs, stream);
    if (calls_ == 0) best_.fill(std::numeric_limits<double>::max());
    timed_ = calls_++ % searches_.size();
    blocks_ = 0;
    for (const MotionJob& job : jobs) {
      blocks_ += static_cast<double>(job.width / kBlockSize) * static_cast<double>(job.height / kBlockSize);
    }
    start_.record(stream);
    searches_[timed_]->enqueue(jobs, stream);
    stop_.record(stream);
    pending_ = true;
  }

  MotionSearch& chosen(int choice) override { return *searches_[static_cast<std::size_t>(choice)]; }

 private:
  static constexpr std::size_t kTimed = 4;    ///< timed calls per round: two of each kernel, of which the faster counts
  static constexpr std::size_t kRound = 256;  ///< calls

  void read_time() {
    pending_ = false;
    best_[timed_] = std::min(best_[timed_], stop_.milliseconds_since(start_) / blocks_);
    if (calls_ == kTimed) chosen_ = best_[1] < best_[0] ? 1 : 0;
  }

  std::array<std::unique_ptr<MotionSearch>, 2> searches_;
  std::array<double, 2> best_{};  ///< milliseconds per block
  Event start_{Event::Timing::on};
  Event stop_{Event::Timing::on};
  bool pending_ = false;  ///< a timed call has not finished
  std::size_t calls_ = 0;
  std::size_t timed_ = 0;
  std::size_t chosen_ = 0;
  double blocks_ = 0;
};

}  // namespace

std::unique_ptr<MotionSearch> make_automatic_search() { return std::make_unique<AutomaticSearch>(); }

}  // namespace c63::cuda
