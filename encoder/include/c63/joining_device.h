#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

#include "c63/encoder.h"

namespace c63 {

/// A device whose driver takes long to start, such as a GPU. Encodes begin on other devices; this one is started when the work
/// that is left is worth it, and joins them when it is ready (Encoder::set_joining). Several encodes may share it: it is
/// started once. All functions may be called from any thread.
class JoiningDevice {
 public:
  /// From how much time left for the devices at work, in ms, this one is worth it. The defaults are a GPU's: its driver takes
  /// 230 to 380 ms to start and 60 to stop, its buffers take 30 to 100.
  struct Worth {
    double starting_ms = 800;
    double opening_ms = 150;  ///< after it was started
  };

  /// `start` does what takes long and returns the factory that opens the device. It runs at most once, on a thread of its own.
  /// What it throws, wait() and ready() throw again.
  explicit JoiningDevice(std::function<BackendFactory()> start);
  JoiningDevice(std::function<BackendFactory()> start, const Worth& worth);
  /// Waits until `start` has returned, if it runs.
  ~JoiningDevice();
  JoiningDevice(const JoiningDevice&) = delete;
  JoiningDevice& operator=(const JoiningDevice&) = delete;

  [[nodiscard]] const Worth& worth() const;
  /// Calls `start` on its thread, unless that has been done. Throws Error (limit, C63-THREADS) if no thread can be started.
  void begin();
  /// Returns whether `start` is running.
  [[nodiscard]] bool is_starting() const;
  /// Returns the factory, or nothing if `start` has not returned. Does not wait.
  [[nodiscard]] std::optional<BackendFactory> ready() const;
  /// Waits for the factory after begin(). Returns nothing if a stop is requested first.
  [[nodiscard]] std::optional<BackendFactory> wait(const std::stop_token& stop) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace c63
