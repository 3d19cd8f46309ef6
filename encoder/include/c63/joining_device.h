#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

#include "c63/decoder.h"
#include "c63/encoder.h"

namespace c63 {

/// A device whose driver takes long to start, such as a GPU. Encodes and decodes begin on the CPU or on other devices; this one is
/// started when the work that is left is worth it, and takes part when it is ready (Encoder::set_joining,
/// DecoderSettings::joining). Several encodes may share it: it is started once. All functions may be called from any thread.
///
/// Opened is what there is once the driver runs: BackendFactory (JoiningDevice), or std::shared_ptr<DecodeBackend>
/// (JoiningDecoder).
template <typename Opened>
class LateDevice {
 public:
  /// From how much time left for the devices at work, in ms, this one is worth it. The defaults are a GPU's: its driver takes
  /// 230 to 380 ms to start and 60 to stop, its buffers take 30 to 100.
  struct Worth {
    double starting_ms = 800;
    double opening_ms = 150;  ///< after it was started
  };

  /// `start` does what takes long and returns what there is then. It runs at most once, on a thread of its own.
  /// What it throws, wait() and ready() throw again.
  explicit LateDevice(std::function<Opened()> start);
  LateDevice(std::function<Opened()> start, const Worth& worth);
  /// Waits until `start` has returned, if it runs.
  ~LateDevice();
  LateDevice(const LateDevice&) = delete;
  LateDevice& operator=(const LateDevice&) = delete;

  [[nodiscard]] const Worth& worth() const;
  /// Calls `start` on its thread, unless that has been done. Throws Error (limit, C63-THREADS) if no thread can be started.
  void begin();
  /// Returns whether `start` is running.
  [[nodiscard]] bool is_starting() const;
  /// Returns what `start` has returned, or nothing if `start` has not returned. Does not wait.
  [[nodiscard]] std::optional<Opened> ready() const;
  /// Waits for that after begin(). Returns nothing if a stop is requested first.
  [[nodiscard]] std::optional<Opened> wait(const std::stop_token& stop) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

extern template class LateDevice<BackendFactory>;
extern template class LateDevice<std::shared_ptr<DecodeBackend>>;

}  // namespace c63
