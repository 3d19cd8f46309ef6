#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "encode/frame_supply.h"
#include "encode/gop_planner.h"

namespace c63 {

/// What a GOP chain works on, and how far it is.
struct ChainPosition {
  int device = 0;                       ///< index of the chain's device
  std::optional<std::int64_t> key = {};  ///< first frame of the chain's GOP; empty: it has none
  std::int64_t next = 0;                ///< next frame of that GOP
  std::int64_t last = 0;                ///< last frame of the GOP that has arrived, as far as the look-ahead needs it
  bool whole = false;                   ///< true: `last` is the last frame of the GOP
  std::shared_ptr<GopPlanner> planner = {};  ///< the GOP's planner
};

/// Gives whole GOPs to chains, in order. The end of a GOP may become known late, because scene cuts and the end of the
/// video are searched no further than a chain needs. A GOP is given out as soon as its key frame has arrived, so its
/// frames can be coded while later ones still arrive. GOPs of a device that leaves the run are given out again. Several
/// threads may use it at once.
class GopQueue {
 public:
  struct Options {
    int key_interval = 100;    ///< frames in a GOP that no scene cut ends
    bool scene_cuts = false;
    std::int64_t first = 0;    ///< first frame of the run; a key frame
    int lookahead = 0;         ///< this many following frames of the GOP must have arrived before a frame is encoded
    std::size_t window = 2;    ///< the most GOPs that may be started before the first of them is delivered; at least 2
  };
  /// What a chain can do next.
  enum class Turn {
    frame,  ///< position.next can be encoded
    wait,   ///< the chain must wait for input, for the delivery of GOPs, or for hold(0)
    none,   ///< the chain will get no more frames
  };

  GopQueue(FrameSupply& supply, PlannerFactory planners, const Options& options)
      : supply_(supply), planners_(std::move(planners)), options_(options) {}

  /// Finds the next frame of a chain: in its GOP, or in the next GOP that no chain has. After Turn::frame, the caller
  /// encodes position.next and increments it.
  [[nodiscard]] Turn find_next(ChainPosition& position);

  /// Says that a device has finished frame `index`.
  void finished(int device, std::int64_t index);
  /// Says that all frames before frame `index` were delivered.
  void delivered_before(std::int64_t index);
  /// From now on, only `device` and devices with higher numbers may start GOPs.
  void reserve_for(int device);
  /// Makes devices with lower numbers than `device` wait, until hold(0) is called. The caller of hold(0) must wake
  /// them.
  void hold(int device);
  /// Lets other devices encode the unfinished GOPs of a device. The device must not call find_next() any more.
  void take_back(int device);
  /// Increases Options::window by `gops`.
  void widen(std::size_t gops);

 private:
  /// A GOP that was given to a chain.
  struct Gop {
    std::int64_t key = 0;
    std::optional<int> device = {};  ///< the device that encodes it; empty: it was taken back
    std::int64_t finished = 0;   ///< frames that this device has finished
  };
  [[nodiscard]] Turn begin(ChainPosition& position, std::int64_t key);
  /// Returns the first frame of the next GOP that no chain has; empty while that is not known.
  [[nodiscard]] std::optional<std::int64_t> next_key();
  /// Increases position.last to the last frame that the look-ahead needs. Returns false if some of these frames have
  /// not arrived.
  [[nodiscard]] bool look_ahead(ChainPosition& position);

  FrameSupply& supply_;
  PlannerFactory planners_;
  Options options_;
  std::mutex mutex_;  ///< guards the members below; held during the search for scene cuts, which reads frames
  std::deque<Gop> handed_out_;  ///< GOPs of which not all frames are delivered, and always the newest GOP
  int first_device_ = 0;  ///< devices with lower numbers may not start GOPs
  int held_ = 0;          ///< devices with lower numbers must wait
  std::optional<std::int64_t> last_key_;
  std::int64_t searched_ = 0;  ///< between last_key_ and this frame, no GOP starts
};

}  // namespace c63
