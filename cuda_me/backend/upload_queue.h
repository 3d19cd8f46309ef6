#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "cuda_me/kernels/copy_frames.h"
#include "cuda_me/runtime/memory.h"
#include "cuda_me/runtime/stream.h"

namespace c63::cuda {

/// Copies that go to the device together.
struct Upload {
  Event start{Event::Timing::on};
  Event done{Event::Timing::on};
  std::int64_t first_frame = 0;
  int frames = 0;
  std::vector<std::uint8_t*> staging;  ///< staging that is free when they have arrived

  [[nodiscard]] double milliseconds_a_frame() const { return done.milliseconds_since(start) / static_cast<double>(frames); }
};

/// Brings frames to the device: page-locked memory that they are put into (staging), and copies from there. One call
/// copies all frames that were added together. Frames that are on the device already are copied within it.
///
/// Any thread may call take_staging() and give_back(). One thread adds and starts uploads.
class UploadQueue {
 public:
  /// `staging`: frames of page-locked memory. `most_uploads`: an upload is forgotten when this many later ones have
  /// started. It must be done by then.
  UploadQueue(std::vector<std::uint8_t*> staging, std::size_t most_uploads);
  ~UploadQueue();
  UploadQueue(const UploadQueue&) = delete;
  UploadQueue& operator=(const UploadQueue&) = delete;

  /// Number of frames of staging.
  [[nodiscard]] int staging() const { return static_cast<int>(staging_count_); }
  /// Returns a free frame of staging. Waits for uploads if all are in use.
  [[nodiscard]] std::uint8_t* take_staging();
  /// Takes back a frame that was not filled.
  void give_back(std::uint8_t* staging);

  /// Adds a frame to the pending upload, and returns that upload's number. `staging` is free again when the upload has
  /// arrived. It is null if the frame's samples lie elsewhere.
  std::int64_t add_frame(std::int64_t index, std::uint8_t* staging);
  /// Frees this staging when the pending upload has arrived. The upload must have a frame already.
  void free_with_upload(std::uint8_t* staging) { upload(started_).staging.push_back(staging); }
  /// Adds a copy for that frame. `from` must not change until the upload has arrived.
  void add_copy(void* to, const void* from, std::size_t bytes) { copies_.add(to, from, bytes); }
  /// The same for a copy within the device.
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
  /// Frees the staging of uploads that have arrived. Waits for one if there is none. The mutex is held.
  void reclaim_staging();

  /// Copies within the device are short, and come before work that waits for a free place on it.
  Stream stream_{Stream::Priority::high};
  // Copies of the pending upload.
  CopyBatch copies_;
  std::vector<DeviceCopy> device_copies_;
  std::vector<Upload> uploads_;  ///< by number, modulo their count
  std::size_t staging_count_;
  std::mutex mutex_;                  ///< guards the members below, and Upload::staging
  std::vector<std::uint8_t*> free_;   ///< the last one used is taken first, because it may still be in a cache
  std::int64_t started_ = 0;          ///< uploads
  std::int64_t reclaimed_ = 0;        ///< whose staging is free again
};

}  // namespace c63::cuda
