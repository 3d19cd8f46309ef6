#pragma once

namespace c63 {

/// How a run ends before its video does. The level of a run never falls.
enum class StopLevel {
  none,
  drain,   ///< reads no more frames, and codes those that were read
  finish,  ///< gives devices no more frames, and codes those that they have
  drop,    ///< codes no more frames, and delivers those that are coded
};

}  // namespace c63
