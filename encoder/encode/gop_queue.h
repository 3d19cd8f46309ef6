#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "decide/resolved_encode.h"
#include "encode/frame_supply.h"
#include "encode/gop_planner.h"

namespace c63 {

/// What a GOP chain works on, and how far it is.
struct ChainPosition {
  std::optional<std::int64_t> key = {};  ///< first frame of the chain's GOP; empty: it has none
  std::int64_t next = 0;                ///< next frame of that GOP
  std::int64_t last = 0;                ///< last frame of the GOP that has arrived, as far as the look-ahead needs it
  bool whole = false;                   ///< true: `last` is the last frame of the GOP
  std::shared_ptr<GopPlanner> planner = {};  ///< the GOP's planner
};

/// Gives whole GOPs to chains, in order. The end of a GOP may become known late, because scene cuts and the end of the
/// video are searched no further than a chain needs (FrameSupply::search_scenes()). A GOP is given out as soon as its key frame has arrived, so its
/// frames can be coded while later ones still arrive. Several threads may use it at once.
class GopQueue {
 public:
  /// What a chain can do next.
  enum class Next {
    frame,  ///< position.next can be encoded
    wait,   ///< the chain must wait for input, or for the delivery of GOPs
    none,   ///< the chain will get no more frames
  };

  /// `first` is the first frame of the run, a key frame. At most `window` GOPs may be started before the first of them
  /// is delivered; at least 2.
  GopQueue(FrameSupply& supply, const ResolvedEncode& encode, std::int64_t first, std::size_t window)
      : supply_(supply),
        planners_(encode.planners),
        key_interval_(encode.settings.coding.key_interval),
        scene_cuts_(encode.settings.coding.scene_cuts),
        lookahead_(encode.lookahead.frames()),
        first_(first),
        window_(window) {}

  /// Finds the next frame of a chain: in its GOP, or in the next GOP that no chain has. After Next::frame, the caller
  /// encodes position.next and increments it.
  [[nodiscard]] Next find_next(ChainPosition& position);

  /// Says that all frames before frame `index` were delivered.
  void delivered_before(std::int64_t index);

 private:
  [[nodiscard]] Next begin(ChainPosition& position, std::int64_t key);
  /// Returns the first frame of the next GOP that no chain has; empty while that is not known.
  [[nodiscard]] std::optional<std::int64_t> next_key();
  /// Increases position.last to the last frame that the look-ahead needs. Returns false if some of these frames have
  /// not arrived.
  [[nodiscard]] bool look_ahead(ChainPosition& position);

  FrameSupply& supply_;
  const PlannerFactory planners_;
  const int key_interval_;  ///< frames in a GOP that no scene cut ends
  const bool scene_cuts_;
  const int lookahead_;     ///< this many following frames of the GOP must have arrived before a frame is encoded
  const std::int64_t first_;
  const std::size_t window_;
  std::mutex mutex_;  ///< guards the members below
  /// Key frames of the GOPs of which not all frames are delivered, and always of the newest GOP.
  std::deque<std::int64_t> handed_out_;
  std::optional<std::int64_t> last_key_;
  std::int64_t searched_ = 0;  ///< between last_key_ and this frame, no GOP starts
};

}  // namespace c63
