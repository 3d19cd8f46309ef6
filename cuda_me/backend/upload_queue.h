#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "cuda_me/kernels/copy_frames.h"
#include "cuda_me/runtime/memory.h"
#include "cuda_me/runtime/stream.h"

namespace c63::cuda {

/// Copies that travel to the device together.
struct Upload {
  Event start{Event::Timing::on};
  Event done{Event::Timing::on};
  std::int64_t first_frame = 0;
  int frames = 0;
  std::vector<std::uint8_t*> staging;  ///< that is free when they have arrived

  [[nodiscard]] double milliseconds_a_frame() const { return done.milliseconds_since(start) / static_cast<double>(frames); }
};

/// The way of frames to the device: page-locked memory that they are put into, and copies from there, those that are added
/// together by one call. Frames that are on the device already are copied within it.
///
/// take_staging() and give_back() are for all threads; one thread adds and starts uploads.
class UploadQueue {
 public:
  /// `staging`: frames of page-locked memory. `most_uploads`: an upload is forgotten when so many more have been started, and
  /// by then must be done.
  UploadQueue(std::vector<std::uint8_t*> staging, std::size_t most_uploads);
  ~UploadQueue();
  UploadQueue(const UploadQueue&) = delete;
  UploadQueue& operator=(const UploadQueue&) = delete;

  /// How many frames of staging there are.
  [[nodiscard]] int staging() const { return static_cast<int>(staging_count_); }
  /// A frame of it; waits for uploads where all are in use.
  [[nodiscard]] std::uint8_t* take_staging();
  /// Takes one back that nothing was put into.
  void give_back(std::uint8_t* staging);

  /// Adds a frame to the upload that is being put together, and says that upload's number. `staging` is free again when
  /// the upload has arrived; null where the frame's samples lie elsewhere.
  std::int64_t add_frame(std::int64_t index, std::uint8_t* staging);
  /// Has memory like this be free again when the upload that is being put together has arrived; it has a frame already.
  void free_with_upload(std::uint8_t* staging) { upload(started_).staging.push_back(staging); }
  /// Adds what is to be copied for it. `from` stays as it is until the upload has arrived.
  void add_copy(void* to, const void* from, std::size_t bytes) { copies_.add(to, from, bytes); }
  /// The same for what is on the device.
  void add_device_copy(const DeviceCopy& copy) { device_copies_.push_back(copy); }
  /// Starts the upload that was put together.
  void start();

  [[nodiscard]] const Upload& upload(std::int64_t number) const {
    return uploads_[static_cast<std::size_t>(number) % uploads_.size()];
  }

 private:
  [[nodiscard]] Upload& upload(std::int64_t number) {
    return uploads_[static_cast<std::size_t>(number) % uploads_.size()];
  }
  /// Frees the staging of uploads that have arrived; waits for one if there is no other. The mutex is held.
  void reclaim_staging();

  /// Copies within the device are short, and go before the work that waits for room on it.
  Stream stream_{Stream::Priority::high};
  // Of the upload that is being put together.
  CopyBatch copies_;
  std::vector<DeviceCopy> device_copies_;
  std::vector<Upload> uploads_;  ///< by number, modulo how many there are
  std::size_t staging_count_;
  std::mutex mutex_;                  ///< guards what follows, and Upload::staging
  std::vector<std::uint8_t*> free_;   ///< the last one used is taken first: it may still be in a cache
  std::int64_t started_ = 0;          ///< uploads
  std::int64_t reclaimed_ = 0;        ///< whose staging is free again
};

}  // namespace c63::cuda
