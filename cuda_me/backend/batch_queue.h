#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>

#include "c63/error.h"
#include "cuda_me/backend/chain.h"
#include "cuda_me/backend/frame_stages.h"
#include "cuda_me/backend/upload_queue.h"

namespace c63::cuda {

/// Gives the device its work in batches. When the device is about to run out of work, the next waiting frame of every
/// chain goes into one batch. So batches are small while the device has little work, and larger while it is busy.
///
/// Two threads use the queue. One submits frames, and launches them if the device has no work. The other takes finished
/// batches and launches waiting frames. A launch takes the host as long as reading a small frame, so one thread for
/// both would be too slow.
class BatchQueue {
 public:
  BatchQueue(std::span<Chain> chains, const UploadQueue& uploads, FrameStages& stages)
      : chains_(chains), uploads_(uploads), stages_(stages) {}

  /// Submits all frames that were added to the chains. Their uploads must have started. The frames are launched as soon
  /// as the device needs more work.
  void submit();

  /// Returns the oldest batch that is not released, if the device has finished it, else null. Also launches waiting
  /// frames. Does not wait.
  [[nodiscard]] const Batch* finished();
  /// Releases the oldest batch: its outputs may then be overwritten.
  void release();

  /// Returns `error` with the frame at which it happened set to the first frame of the batch.
  [[nodiscard]] Error at_first_frame(const Error& error, const Batch& batch) const;

 private:
  /// Launches submitted frames if the device needs more work. The caller holds the mutex.
  void launch();
  /// Fills a batch with the next frame of every chain that has one. Returns the number of the last upload that the
  /// batch needs.
  std::int64_t gather(Batch& batch) const;
  [[nodiscard]] Batch& batch(std::int64_t number) { return batches_[static_cast<std::size_t>(number % kBatchesInFlight)]; }

  std::span<Chain> chains_;
  const UploadQueue& uploads_;
  FrameStages& stages_;
  std::mutex mutex_;  ///< guards launching: the stages, and which frames of the chains are submitted and launched
  std::array<Batch, kBatchesInFlight> batches_;
  /// True if some submitted frames are not launched yet, because the device was busy.
  std::atomic<bool> waiting_ = false;
  std::atomic<std::int64_t> launched_ = 0;
  std::atomic<std::int64_t> released_ = 0;
};

}  // namespace c63::cuda
