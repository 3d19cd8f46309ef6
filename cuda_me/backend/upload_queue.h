#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "cuda_me/kernels/frame_kernels.h"
#include "cuda_me/runtime/memory.h"
#include "cuda_me/runtime/stream.h"

namespace c63::cuda {

/// Copies that are started together.
struct Upload {
  Event start{Event::Timing::on};
  Event done{Event::Timing::on};
  std::int64_t first_frame = 0;
  int frames = 0;
  std::vector<std::uint8_t*> staging;  ///< staging frames that become free when the copies are done

  [[nodiscard]] double milliseconds_a_frame() const { return done.milliseconds_since(start) / static_cast<double>(frames); }
};

/// Brings frames to the device. Frames are put into page-locked memory (staging) and copied from there. The copies of
/// all frames that were added together start together. Frames that are in the device's memory already are copied by the
/// device.
///
/// Any thread may call take_staging() and give_back(). One thread adds and starts uploads.
class UploadQueue {
 public:
  /// `staging` is the page-locked memory, one pointer per frame. The queue keeps the data of `most_uploads` uploads: an
  /// upload must be done before `most_uploads` later uploads have started.
  UploadQueue(std::vector<std::uint8_t*> staging, std::size_t most_uploads);
  ~UploadQueue();
  UploadQueue(const UploadQueue&) = delete;
  UploadQueue& operator=(const UploadQueue&) = delete;

  /// The number of staging frames.
  [[nodiscard]] int staging() const { return static_cast<int>(staging_count_); }
  /// Returns a free staging frame. Waits for uploads if none is free.
  [[nodiscard]] std::uint8_t* take_staging();
  /// Takes back a staging frame that no upload uses.
  void give_back(std::uint8_t* staging);

  /// Adds a frame to the pending upload and returns the upload's number. `staging` becomes free when the upload is
  /// done. It is null if the samples are not in a staging frame.
  std::int64_t add_frame(std::int64_t index, std::uint8_t* staging);
  /// Frees this staging frame when the pending upload is done. A frame must have been added to the upload before.
  void free_with_upload(std::uint8_t* staging) { upload(started_).staging.push_back(staging); }
  /// Adds a copy to the pending upload. `from` must not change until the upload is done.
  void add_copy(void* to, const void* from, std::size_t bytes) { copies_.add(to, from, bytes); }
  /// Adds a copy within the device to the pending upload.
  void add_device_copy(const DeviceCopy& copy) { device_copies_.push_back(copy); }
  /// Starts the pending upload.
  void start();

  [[nodiscard]] const Upload& upload(std::int64_t number) const {
    return uploads_[static_cast<std::size_t>(number) % uploads_.size()];
  }

 private:
  [[nodiscard]] Upload& upload(std::int64_t number) {
    return uploads_[static_cast<std::size_t>(number) % uploads_.size()];
  }
  /// Frees the staging frames of uploads that are done. If none is free, waits for the oldest upload. The caller holds
  /// the mutex.
  void reclaim_staging();

  /// High priority: copies within the device are short kernels. They must start before the thread blocks of coding that
  /// wait for a free multiprocessor.
  Stream stream_{Stream::Priority::high};
  // Copies of the pending upload.
  CopyBatch copies_;
  std::vector<DeviceCopy> device_copies_;
  std::vector<Upload> uploads_;  ///< by number modulo the vector's size
  std::size_t staging_count_;
  std::mutex mutex_;                  ///< guards the members below, and Upload::staging
  std::vector<std::uint8_t*> free_;   ///< the frame used last is taken first, because it may still be in a cache
  std::int64_t started_ = 0;          ///< number of started uploads
  std::int64_t reclaimed_ = 0;        ///< number of uploads whose staging is free again
};

}  // namespace c63::cuda
