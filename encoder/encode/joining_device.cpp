#include "c63/joining_device.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "backend/decode_backend.h"
#include "threads/start_thread.h"

namespace c63 {

template <typename Opened>
struct LateDevice<Opened>::State {
  std::function<Opened()> start;
  Worth worth;

  mutable std::mutex mutex;  ///< guards the members below
  mutable std::condition_variable_any ended;
  bool begun = false;
  bool is_ended = false;
  std::optional<Opened> opened;
  std::exception_ptr fault;

  std::jthread thread;  ///< the last member, since it uses all others

  void run() {
    std::optional<Opened> result;
    std::exception_ptr why;
    try {
      result = start();
    } catch (...) {
      why = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    opened = std::move(result);
    fault = why;
    is_ended = true;
    ended.notify_all();
  }

  /// Returns the started device, or throws the error of the start; nullopt while it is not started. The caller holds the
  /// mutex.
  [[nodiscard]] std::optional<Opened> result() const {
    if (fault) std::rethrow_exception(fault);
    return opened;
  }
};

template <typename Opened>
LateDevice<Opened>::LateDevice(std::function<Opened()> start) : LateDevice(std::move(start), Worth{}) {}

template <typename Opened>
LateDevice<Opened>::LateDevice(std::function<Opened()> start, const Worth& worth) : state_(std::make_unique<State>()) {
  state_->start = std::move(start);
  state_->worth = worth;
}

template <typename Opened>
LateDevice<Opened>::~LateDevice() = default;

template <typename Opened>
const typename LateDevice<Opened>::Worth& LateDevice<Opened>::worth() const { return state_->worth; }

template <typename Opened>
void LateDevice<Opened>::begin() {
  const std::lock_guard lock(state_->mutex);
  if (state_->begun) return;
  state_->thread = start_thread([state = state_.get()] { state->run(); });
  state_->begun = true;
}

template <typename Opened>
bool LateDevice<Opened>::is_starting() const {
  const std::lock_guard lock(state_->mutex);
  return state_->begun && !state_->is_ended;
}

template <typename Opened>
std::optional<Opened> LateDevice<Opened>::ready() const {
  const std::lock_guard lock(state_->mutex);
  return state_->result();
}

template <typename Opened>
std::optional<Opened> LateDevice<Opened>::wait(const std::stop_token& stop) const {
  std::unique_lock lock(state_->mutex);
  state_->ended.wait(lock, stop, [this] { return state_->is_ended; });
  return state_->result();
}

template class LateDevice<BackendFactory>;
template class LateDevice<std::shared_ptr<DecodeBackend>>;
template class LateDevice<PairSearch>;

}  // namespace c63
