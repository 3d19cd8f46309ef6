#pragma once

namespace c63 {

/// How soon a run ends before its video does. A run's level never falls.
enum class StopLevel {
  none,
  drain,   ///< nothing more is read; what was read is coded
  finish,  ///< devices are given nothing more; the frames that they have are coded
  drop,    ///< nothing more is coded; what is coded is delivered
};

}  // namespace c63
