#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>

#include "c63/decoder.h"
#include "c63/encoder.h"
#include "c63/motion_search.h"

namespace c63 {

/// Searches the motion of pairs of planes in host memory, as estimate_motion() does.
using PairSearch = std::function<void(std::span<const MotionPair>, const MotionResults&)>;

/// A device whose driver takes long to start, such as a GPU. Encodes and decodes begin on the CPU or on other devices.
/// If enough work is left (see Worth), this device is started. It joins when it is ready (Encoder::set_joining,
/// DecoderSettings::joining). Several encodes and decodes may share it; it is started once. Any thread may call all
/// functions.
///
/// `Opened` is what starting the driver gives: BackendFactory (JoiningDevice), std::shared_ptr<DecodeBackend>
/// (JoiningDecoder), or PairSearch (a device that searches motion).
template <typename Opened>
class LateDevice {
 public:
  /// The remaining work must be worth the time to start or open the device. It is worth it if the devices at work would
  /// need at least this many ms for the work. The defaults suit a GPU: its driver takes 230 to 380 ms to start and 60
  /// ms to stop, and its buffers take 30 to 100 ms.
  struct Worth {
    double starting_ms = 800;  ///< if the driver is not yet started
    double opening_ms = 150;   ///< if the driver is already started
  };

  /// `start` starts the driver and returns what it gives. It runs at most once, on its own thread. If it throws, wait()
  /// and ready() throw its exception again.
  explicit LateDevice(std::function<Opened()> start);
  LateDevice(std::function<Opened()> start, const Worth& worth);
  /// Waits for `start` if it is running.
  ~LateDevice();
  LateDevice(const LateDevice&) = delete;
  LateDevice& operator=(const LateDevice&) = delete;

  [[nodiscard]] const Worth& worth() const;
  /// Calls `start` on its own thread, the first time only. Throws Error (limit, C63-THREADS) if no thread can be started.
  void begin();
  /// Returns true if `start` is running.
  [[nodiscard]] bool is_starting() const;
  /// Returns the result of `start`, or nothing if `start` has not returned. Does not wait.
  [[nodiscard]] std::optional<Opened> ready() const;
  /// Waits for the result of `start` and returns it. Call begin() first. Returns nothing if a stop is requested first.
  [[nodiscard]] std::optional<Opened> wait(const std::stop_token& stop) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

extern template class LateDevice<BackendFactory>;
extern template class LateDevice<std::shared_ptr<DecodeBackend>>;
extern template class LateDevice<PairSearch>;

}  // namespace c63
