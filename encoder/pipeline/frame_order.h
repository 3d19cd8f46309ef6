#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "c63/encoder.h"

namespace c63 {

/// A frame that is encoded, on its way to the sink.
struct FinishedFrame {
  EncodedFrame frame;
  std::chrono::steady_clock::time_point read;  ///< when it had been read
  int device = 0;                              ///< of the run, that has encoded it
};

/// Brings finished frames into display order: devices put them in as they are done, one thread takes them in order.
class FrameOrder {
 public:
  /// Frames before `next` have been taken before. At most `most_waiting` frames wait in order to be taken.
  FrameOrder(std::int64_t next, std::size_t most_waiting) : next_(next), most_waiting_(most_waiting) {}

  /// Waits while the one who takes is behind; false when there will be no more taking.
  bool wait_for_room() {
    std::unique_lock lock(mutex_);
    taken_.wait(lock, [this] { return arrived_.size() < most_waiting_ || closed_; });
    return !closed_;
  }

  /// Puts in what a device has finished, and empties `finished`.
  void put(std::vector<FinishedFrame>& finished) {
    {
      const std::lock_guard lock(mutex_);
      arrived_.insert(arrived_.end(), std::make_move_iterator(finished.begin()), std::make_move_iterator(finished.end()));
    }
    finished.clear();
    put_.notify_one();
  }

  /// Adds a device that puts frames.
  void add_producer() {
    const std::lock_guard lock(mutex_);
    ++producers_;
  }
  /// Adds one that comes late, and makes room for more frames that wait. Returns false if the run has ended.
  bool add_late_producer(std::size_t more_waiting) {
    const std::lock_guard lock(mutex_);
    if (producers_ == 0 || closed_) return false;
    ++producers_;
    most_waiting_ += more_waiting;
    return true;
  }
  /// Ends what add_producer() began.
  void remove_producer() {
    {
      const std::lock_guard lock(mutex_);
      --producers_;
    }
    put_.notify_one();
  }

  /// Takes all frames that are next, waiting for one; false when there will be none.
  bool take(std::vector<FinishedFrame>& frames) {
    frames.clear();
    while (frames.empty()) {
      {
        std::unique_lock lock(mutex_);
        put_.wait(lock, [this] { return !arrived_.empty() || producers_ == 0; });
        std::swap(taking_, arrived_);
      }
      if (taking_.empty()) return false;
      taken_.notify_all();
      for (FinishedFrame& one : taking_) sort(std::move(one), frames);
      taking_.clear();
    }
    return true;
  }

  /// Nothing will be taken any more.
  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    taken_.notify_all();
  }

 private:
  /// Appends a frame, and those that waited for it, to `frames`, or keeps it until its turn has come.
  void sort(FinishedFrame&& finished, std::vector<FinishedFrame>& frames) {
    const std::int64_t index = finished.frame.index;
    if (index < next_) return;  // another device was faster, or it was taken before a device failed
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

  // The taking thread's own, so that devices never wait while it sorts.
  std::vector<FinishedFrame> taking_;
  std::map<std::int64_t, FinishedFrame> early_;  ///< finished before a frame that comes before them
  std::int64_t next_;                            ///< frame that is to be taken next

  std::mutex mutex_;  ///< guards what follows
  std::condition_variable put_;
  std::condition_variable taken_;
  std::vector<FinishedFrame> arrived_;
  std::size_t most_waiting_;
  int producers_ = 0;
  bool closed_ = false;
};

}  // namespace c63
