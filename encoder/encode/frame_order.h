#pragma once

#include <condition_variable>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "backend/backend.h"

namespace c63 {

/// Puts finished frames in display order. Devices add frames in any order; one thread takes them in display order.
class FrameOrder {
 public:
  /// `next` is the first frame to be taken. At most `most_waiting` frames should wait to be taken.
  FrameOrder(std::int64_t next, std::size_t most_waiting) : next_(next), most_waiting_(most_waiting) {}

  /// Waits while `most_waiting` or more frames wait to be taken. Returns false after close().
  bool wait_for_room() {
    std::unique_lock lock(mutex_);
    taken_.wait(lock, [this] { return arrived_.size() < most_waiting_ || closed_; });
    return !closed_;
  }

  /// Adds frames that a device has finished, and empties `finished`. Does not wait for room.
  void put(std::vector<CodedFrame>& finished) {
    {
      const std::lock_guard lock(mutex_);
      arrived_.insert(arrived_.end(), std::make_move_iterator(finished.begin()), std::make_move_iterator(finished.end()));
    }
    finished.clear();
    put_.notify_one();
  }

  /// Adds a device, which will put frames.
  void add_producer() {
    const std::lock_guard lock(mutex_);
    ++producers_;
  }
  /// Removes a device, which will put no more frames.
  void remove_producer() {
    {
      const std::lock_guard lock(mutex_);
      --producers_;
    }
    put_.notify_one();
  }

  /// Waits for the next frame. Then takes it and all finished frames that follow it without a gap. Returns false after
  /// the last frame.
  bool take(std::vector<CodedFrame>& frames) {
    frames.clear();
    while (frames.empty()) {
      {
        std::unique_lock lock(mutex_);
        put_.wait(lock, [this] { return !arrived_.empty() || producers_ == 0; });
        std::swap(taking_, arrived_);
      }
      if (taking_.empty()) return false;
      taken_.notify_all();
      for (CodedFrame& one : taking_) sort(std::move(one), frames);
      taking_.clear();
    }
    return true;
  }

  /// Returns the next frame to take. The thread that takes frames calls this.
  [[nodiscard]] std::int64_t next() const { return next_; }

  /// Tells devices that no more frames will be taken.
  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    taken_.notify_all();
  }

 private:
  /// Appends a frame, and those that waited for it, to `frames`. If earlier frames are missing, keeps the frame.
  void sort(CodedFrame&& finished, std::vector<CodedFrame>& frames) {
    const std::int64_t index = finished.frame.index;
    // Drops a frame that an earlier run took, before its device failed.
    if (index < next_) return;
    if (index > next_) {
      early_.emplace(index, std::move(finished));
      return;
    }
    frames.push_back(std::move(finished));
    ++next_;
    for (auto it = early_.begin(); it != early_.end() && it->first == next_; it = early_.erase(it), ++next_) {
      frames.push_back(std::move(it->second));
    }
  }

  // The next three members are only used by the thread that takes frames, so devices do not wait while it sorts.
  std::vector<CodedFrame> taking_;
  std::map<std::int64_t, CodedFrame> early_;  ///< frames that are finished before earlier ones
  std::int64_t next_;                            ///< the next frame to take

  std::mutex mutex_;  ///< guards the members below
  std::condition_variable put_;
  std::condition_variable taken_;
  std::vector<CodedFrame> arrived_;
  std::size_t most_waiting_;
  int producers_ = 0;
  bool closed_ = false;
};

}  // namespace c63
