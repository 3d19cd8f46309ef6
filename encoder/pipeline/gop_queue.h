#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "pipeline/frame_supply.h"
#include "pipeline/gop_planner.h"

namespace c63 {

/// The position of a chain in the video.
struct ChainPosition {
  int device = 0;                       ///< index of the chain's device
  std::optional<std::int64_t> key = {};  ///< first frame of the GOP that the chain works on
  std::int64_t next = 0;                ///< next frame of that GOP
  std::int64_t last = 0;                ///< last frame of the GOP that may be looked at for it
  bool whole = false;                   ///< `last` is the GOP's last frame
  std::shared_ptr<GopPlanner> planner = {};  ///< of that GOP
};

/// Hands out whole GOPs in order, each to one chain. The end of a GOP may become known late: scene cuts and the end of the video
/// are searched no further ahead than a chain needs. A GOP is handed out as soon as its key frame has arrived, so slow input keeps
/// one chain busy. GOPs of a device that leaves are handed out again. Several threads may use it at once.
class GopQueue {
 public:
  struct Options {
    int key_interval = 100;    ///< frames of a GOP, unless a scene cut ends it earlier
    bool scene_cuts = false;
    std::int64_t first = 0;    ///< first frame, a key frame
    int lookahead = 0;         ///< following frames of the GOP that must have arrived before a frame is encoded
    std::size_t window = 2;    ///< GOPs that may be in work before the first of them is delivered; at least 2
  };
  enum class Turn {
    frame,  ///< position.next can be encoded
    wait,   ///< for input, or for GOPs to be delivered
    none,   ///< nothing is left for this chain
  };

  GopQueue(FrameSupply& supply, PlannerFactory planners, const Options& options)
      : supply_(supply), planners_(std::move(planners)), options_(options) {}

  /// Finds the next frame of a chain, in its GOP or in the next free one. The chain that encodes the frame advances
  /// position.next itself.
  [[nodiscard]] Turn find_next(ChainPosition& position);

  /// Says that a device has finished frame `index`.
  void finished(int device, std::int64_t index);
  /// Says that all frames before `index` have been delivered.
  void delivered_before(std::int64_t index);
  /// Reserves GOPs that are not started for this device and later ones.
  void reserve_for(int device);
  /// Makes devices before this one wait until it is called with 0. That caller wakes them.
  void hold(int device);
  /// Hands the unfinished GOPs of a device to others. The device must not ask for frames again.
  void take_back(int device);
  /// Allows more GOPs to be in work before the first of them is delivered.
  void widen(std::size_t gops);

 private:
  /// A GOP that was handed out.
  struct Gop {
    std::int64_t key = 0;
    std::optional<int> device = {};  ///< the device that has it; nullopt if it was taken back
    std::int64_t finished = 0;   ///< frames that device has finished
  };
  [[nodiscard]] Turn begin(ChainPosition& position, std::int64_t key);
  /// Returns where the next free GOP starts; nullopt while that is unknown.
  [[nodiscard]] std::optional<std::int64_t> next_key();
  /// Advances position.last. Returns false while it is unknown whether more frames can be looked at.
  [[nodiscard]] bool look_ahead(ChainPosition& position);

  FrameSupply& supply_;
  PlannerFactory planners_;
  Options options_;
  std::mutex mutex_;  ///< guards the members below; held while scene cuts are searched, which reads frames
  std::deque<Gop> handed_out_;  ///< GOPs that are not delivered whole, and the last one
  int first_device_ = 0;  ///< first device that may start GOPs
  int held_ = 0;          ///< devices before this one wait
  std::optional<std::int64_t> last_key_;
  std::int64_t searched_ = 0;  ///< no GOP starts after last_key_ and before this frame
};

}  // namespace c63
