#pragma once

namespace c63 {

/// How far a run still goes when it is stopped early. The level of a run only rises.
enum class StopLevel {
  none,
  drain,   ///< reads no more frames, and codes those that were read
  finish,  ///< gives devices no more frames, and codes those that devices already have
  drop,    ///< codes no more frames, and delivers those that are already coded
};

}  // namespace c63
