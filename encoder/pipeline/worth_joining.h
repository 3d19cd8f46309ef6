#pragma once

#include <cstdint>
#include <optional>

#include "c63/settings.h"

namespace c63 {

/// Estimates how long the CPU still needs for an encode, by its speed so far.
class TimeLeft {
 public:
  struct Work {
    std::optional<std::int64_t> frames = {};  ///< of the whole video, if known
    std::int64_t frame_blocks = 0;            ///< 8x8 blocks of a frame, all planes
    Preset preset = Preset::reference;
    int chains = 1;   ///< GOPs that are encoded at the same time
    int threads = 1;  ///< of the CPU
  };

  explicit TimeLeft(const Work& work) : work_(work) {}

  /// Returns the time left in ms after `finished` frames in `elapsed_ms`, which must not decrease from call to call. Before enough
  /// frames are finished, a usual CPU's speed is assumed. If the length of the input is unknown, as much is left as was seen.
  [[nodiscard]] double estimate(std::int64_t finished, double elapsed_ms);

 private:
  struct Mark {
    std::int64_t finished = 0;
    double elapsed_ms = 0;
  };

  Work work_;
  std::optional<Mark> begin_;  ///< start of the measurement: all chains have finished frames
};

}  // namespace c63
