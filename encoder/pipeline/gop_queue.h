#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "pipeline/frame_supply.h"
#include "pipeline/gop_planner.h"

namespace c63 {

/// Where a chain is in the video.
struct ChainPosition {
  int device = 0;                       ///< that the chain belongs to
  std::optional<std::int64_t> key = {};  ///< first frame of the GOP that the chain works on
  std::int64_t next = 0;                ///< frame of that GOP that comes next
  std::int64_t last = 0;                ///< the last frame of the GOP that may be looked at with it
  bool whole = false;                   ///< that is the GOP's last
  std::shared_ptr<GopPlanner> planner = {};  ///< of that GOP
};

/// Hands out whole GOPs, in order, each to one chain: frames that depend on nothing before the GOP's key frame. Where a GOP
/// ends may become known only on the way: scene cuts are looked for no further ahead than a chain needs, and so is the
/// video's end. A GOP is handed out when its key frame is there, so that input that comes slowly keeps one chain busy
/// instead of starting many. GOPs of a device that leaves are handed out again. For several threads at once.
class GopQueue {
 public:
  struct Options {
    int key_interval = 100;    ///< frames of a GOP, fewer where a scene cut ends it
    bool scene_cuts = false;
    std::int64_t first = 0;    ///< frame to start at, a key frame
    int lookahead = 0;         ///< frames of a GOP that have to be there behind one before it is encoded
    std::size_t window = 2;    ///< GOPs that may be handed out before the first of them has been delivered; 2 or more
  };
  enum class Turn {
    frame,  ///< position.next is to be encoded
    wait,   ///< for input, or for GOPs to be delivered
    none,   ///< there is nothing left for this chain
  };

  GopQueue(FrameSupply& supply, PlannerFactory planners, const Options& options)
      : supply_(supply), planners_(std::move(planners)), options_(options) {}

  /// Finds the next frame of a chain, in its GOP or in the next one that nobody has. Takes nothing: the chain that encodes it
  /// moves position.next on.
  [[nodiscard]] Turn find_next(ChainPosition& position);

  /// A device has finished frame `index`.
  void finished(int device, std::int64_t index);
  /// All frames before `index` have been delivered.
  void delivered_before(std::int64_t index);
  /// Hands GOPs that are not started yet to this device and later ones only.
  void reserve_for(int device);
  /// Devices before this one have to wait, until it is called with 0. Whoever calls it with 0 wakes them.
  void hold(int device);
  /// Hands the GOPs that the device has not finished to others. It must not ask for frames again.
  void take_back(int device);
  /// More GOPs may be handed out before the first of them has been delivered.
  void widen(std::size_t gops);

 private:
  /// A GOP that was handed out.
  struct Gop {
    std::int64_t key = 0;
    std::optional<int> device = {};  ///< that has it; nothing: it was taken back
    std::int64_t finished = 0;   ///< frames that device has finished
  };
  [[nodiscard]] Turn begin(ChainPosition& position, std::int64_t key);
  /// Where the next GOP starts that nobody has; nothing while that is not known.
  [[nodiscard]] std::optional<std::int64_t> next_key();
  /// Moves position.last on. False while it is not known whether more frames are to be looked at.
  [[nodiscard]] bool look_ahead(ChainPosition& position);

  FrameSupply& supply_;
  PlannerFactory planners_;
  Options options_;
  std::mutex mutex_;  ///< guards these; the search for scene cuts, which reads, is done under it
  std::deque<Gop> handed_out_;  ///< those not yet delivered whole, and the last one
  int first_device_ = 0;  ///< that may start GOPs
  int held_ = 0;          ///< devices before this one wait
  std::optional<std::int64_t> last_key_;
  std::int64_t searched_ = 0;  ///< no GOP starts behind last_key_ and before this frame
};

}  // namespace c63
