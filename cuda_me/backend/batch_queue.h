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

/// What the device has to do, batch by batch. Frames that wait when the device is about to run dry are taken as one batch, so
/// batches are small while the device is idle and grow as it falls behind.
///
/// For two threads: one that submits frames, one that takes what is done and, while the device works, gives it more to do:
/// launching takes the host as long as reading a small frame, so that each has a thread.
class BatchQueue {
 public:
  BatchQueue(std::span<Chain> chains, const UploadQueue& uploads, FrameStages& stages)
      : chains_(chains), uploads_(uploads), stages_(stages) {}

  /// Hands over the frames that were added to the chains, whose uploads have been started: the device gets them as soon as it
  /// needs more to do.
  void submit();

  /// The oldest batch, if the device has done it; null otherwise. Also gives the device what waits for it. Returns at once.
  [[nodiscard]] const Batch* finished();
  /// That batch's outputs have been taken: they may be written again.
  void release();

  /// The error, with the first frame of the batch that it comes from.
  [[nodiscard]] Error at_first_frame(const Error& error, const Batch& batch) const;

 private:
  /// Puts submitted frames on the device's streams, if it needs more to do. The mutex is held.
  void launch();
  /// Fills a batch with the next frame of every chain that has one; says which upload brings the last of them.
  std::int64_t gather(Batch& batch) const;
  [[nodiscard]] Batch& batch(std::int64_t number) { return batches_[static_cast<std::size_t>(number % kBatchesInFlight)]; }

  std::span<Chain> chains_;
  const UploadQueue& uploads_;
  FrameStages& stages_;
  std::mutex mutex_;  ///< guards launching: the stages, and which frames of the chains are submitted and launched
  std::array<Batch, kBatchesInFlight> batches_;
  std::atomic<bool> waiting_ = false;  ///< frames were submitted while the device had something to do
  std::atomic<std::int64_t> launched_ = 0;
  std::atomic<std::int64_t> released_ = 0;
};

}  // namespace c63::cuda
