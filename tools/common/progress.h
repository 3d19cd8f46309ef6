#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/log.h"

namespace c63::tools {

enum class ProgressMode {
  automatic,  ///< tty if standard error is a terminal, else plain
  tty,        ///< one line that overwrites itself, at most ten times a second
  plain,      ///< a line every five seconds
  json,       ///< one JSON object per line, every second and at the end
  none,
};

/// The state of a run.
struct ProgressState {
  std::int64_t frames = 0;
  std::optional<std::int64_t> total = {};  ///< empty if the total is unknown until the end
  std::uint64_t bytes = 0;                 ///< coded bytes of `frames`
  double video_fps = 25;                   ///< frame rate of the video, to convert bytes into kb/s
  double elapsed_s = 0;
};

/// Returns a line such as "[22.7%] 68/300 frames, 235.2 fps, 3380.1 kb/s, eta 0:00:01".
[[nodiscard]] std::string progress_text(const ProgressState& state);
/// Returns the state as one JSON object. Keys contain the units.
[[nodiscard]] std::string progress_json(const ProgressState& state);

/// Shows the state of a run, at the intervals of its ProgressMode.
class Progress {
 public:
  using Clock = std::function<std::chrono::steady_clock::time_point()>;

  Progress(ProgressMode mode, std::shared_ptr<Console> console, std::optional<std::int64_t> total, double video_fps,
           Clock clock = std::chrono::steady_clock::now);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Counts one or more finished frames with `bytes` coded bytes.
  void advance(std::uint64_t bytes, std::int64_t frames = 1);
  /// Removes the progress line (tty) or writes the last object (json).
  void finish();

 private:
  void show();

  ProgressMode mode_;
  std::shared_ptr<Console> console_;
  Clock clock_;
  ProgressState state_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point shown_;
  bool finished_ = false;
};

}  // namespace c63::tools
