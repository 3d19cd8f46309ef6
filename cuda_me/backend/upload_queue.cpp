#include "cuda_me/backend/upload_queue.h"

#include <utility>

namespace c63::cuda {

UploadQueue::UploadQueue(std::vector<std::uint8_t*> staging, std::size_t most_uploads)
    : uploads_(most_uploads), staging_count_(staging.size()), free_(std::move(staging)) {}

UploadQueue::~UploadQueue() {
  // Waits, because the device may still read the memory that is freed now.
  drop_error(cudaStreamSynchronize(stream_));
}

std::uint8_t* UploadQueue::take_staging() {
  const std::lock_guard lock(mutex_);
  reclaim_staging();
  std::uint8_t* const frame = free_.back();
  free_.pop_back();
  return frame;
}

void UploadQueue::give_back(std::uint8_t* staging) {
  const std::lock_guard lock(mutex_);
  free_.push_back(staging);
}

void UploadQueue::reclaim_staging() {
  for (; reclaimed_ < started_; ++reclaimed_) {
    Upload& oldest = upload(reclaimed_);
    if (free_.empty()) oldest.done.synchronize();
    if (!oldest.done.done()) break;
    free_.insert(free_.end(), oldest.staging.begin(), oldest.staging.end());
    oldest.staging.clear();
  }
}

std::int64_t UploadQueue::add_frame(std::int64_t index, std::uint8_t* staging) {
  Upload& current = upload(started_);
  if (copies_.empty() && device_copies_.empty()) {
    current.first_frame = index;
    current.frames = 0;
    current.start.record(stream_);
  }
  ++current.frames;
  if (staging != nullptr) current.staging.push_back(staging);
  return started_;
}

void UploadQueue::start() {
  if (!copies_.empty()) copies_.enqueue(stream_);
  copies_.clear();
  enqueue_copies(device_copies_, stream_);
  device_copies_.clear();
  upload(started_).done.record(stream_);
  const std::lock_guard lock(mutex_);
  ++started_;
  // take_staging() normally reclaims the finished uploads. But it may never be called, because frames that are already
  // on the device need no staging. So the oldest uploads are also reclaimed here, when `uploads_` is full.
  if (started_ - reclaimed_ == static_cast<std::int64_t>(uploads_.size())) reclaim_staging();
}

}  // namespace c63::cuda
