#pragma once

#include <cstdint>
#include <optional>

#include "c63/settings.h"

namespace c63 {

/// Estimates how long the CPU still needs for an encode, from its speed so far.
class TimeLeft {
 public:
  struct Work {
    std::optional<std::int64_t> frames = {};  ///< frames of the whole video; empty: unknown
    std::int64_t frame_blocks = 0;            ///< 8x8 blocks of a frame, all planes
    Preset preset = Preset::reference;
    int chains = 1;   ///< GOPs that are encoded at the same time
    int threads = 1;  ///< the CPU's threads
  };

  explicit TimeLeft(const Work& work) : work_(work) {}

  /// Returns the time left in ms, if `finished` frames took `elapsed_ms`. Both must not decrease from call to call.
  /// Until enough frames are finished, the speed of a usual CPU is assumed. If the video's length is unknown, the time
  /// left is assumed to equal the time so far.
  [[nodiscard]] double estimate(std::int64_t finished, double elapsed_ms);

 private:
  struct Mark {
    std::int64_t finished = 0;
    double elapsed_ms = 0;
  };

  Work work_;
  std::optional<Mark> begin_;  ///< where the measurement starts: when all chains have finished frames
};

}  // namespace c63
