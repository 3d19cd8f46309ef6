#pragma once

#include <cstdint>
#include <optional>

#include "c63/settings.h"

namespace c63 {

/// Estimates how long the CPU still needs for an encode, from what it has done.
class TimeLeft {
 public:
  struct Work {
    std::optional<std::int64_t> frames = {};  ///< of the whole video; nothing if that is unknown
    std::int64_t frame_blocks = 0;            ///< 8x8 blocks of a frame, all planes
    Preset preset = Preset::reference;
    int chains = 1;   ///< GOPs that are encoded at the same time
    int threads = 1;  ///< of the CPU
  };

  explicit TimeLeft(const Work& work) : work_(work) {}

  /// Returns the time left in ms when `finished` frames are encoded after `elapsed_ms`. Before enough frames are finished to
  /// measure, it is what a usual CPU would need. Of input whose length is unknown, as much is taken to be left as was seen. Times passed
  /// must not decrease.
  [[nodiscard]] double estimate(std::int64_t finished, double elapsed_ms);

 private:
  struct Mark {
    std::int64_t finished = 0;
    double elapsed_ms = 0;
  };

  Work work_;
  std::optional<Mark> begin_;  ///< where measuring begins: all chains have finished frames
};

}  // namespace c63
