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

/// The work of the device, batch by batch. When the device is about to run dry, all waiting frames become one batch. So
/// batches are small while the device is idle, and grow while it is busy.
///
/// Used by two threads. One submits frames. The other takes finished batches and, while the device works, launches
/// more. Launching takes the host as long as reading a small frame, so each job has a thread.
class BatchQueue {
 public:
  BatchQueue(std::span<Chain> chains, const UploadQueue& uploads, FrameStages& stages)
      : chains_(chains), uploads_(uploads), stages_(stages) {}

  /// Hands over the frames that were added to the chains, whose uploads have started. The device gets them as soon as
  /// it needs more work.
  void submit();

  /// Returns the oldest batch if the device has finished it, else null. Also launches waiting frames. Returns at once.
  [[nodiscard]] const Batch* finished();
  /// Says that a batch's outputs have been taken and may be overwritten.
  void release();

  /// The error, with the first frame of the batch that caused it.
  [[nodiscard]] Error at_first_frame(const Error& error, const Batch& batch) const;

 private:
  /// Launches submitted frames if the device needs more work. The mutex is held.
  void launch();
  /// Fills a batch with the next frame of every chain that has one. Returns the upload that brings the last of them.
  std::int64_t gather(Batch& batch) const;
  [[nodiscard]] Batch& batch(std::int64_t number) { return batches_[static_cast<std::size_t>(number % kBatchesInFlight)]; }

  std::span<Chain> chains_;
  const UploadQueue& uploads_;
  FrameStages& stages_;
  std::mutex mutex_;  ///< guards launching: the stages, and which frames of the chains are submitted and launched
  std::array<Batch, kBatchesInFlight> batches_;
  std::atomic<bool> waiting_ = false;  ///< frames were submitted while the device was busy
  std::atomic<std::int64_t> launched_ = 0;
  std::atomic<std::int64_t> released_ = 0;
};

}  // namespace c63::cuda
