#include "c63/joining_device.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "backend/backend.h"
#include "threads/start_thread.h"

namespace c63 {

struct JoiningDevice::State {
  std::function<BackendFactory()> start;
  Worth worth;

  mutable std::mutex mutex;  ///< guards what follows
  mutable std::condition_variable_any ended;
  bool begun = false;
  bool is_ended = false;
  BackendFactory factory;
  std::exception_ptr fault;

  std::jthread thread;  ///< last: it uses all of the above

  void run() {
    BackendFactory opened;
    std::exception_ptr why;
    try {
      opened = start();
    } catch (...) {
      why = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    factory = std::move(opened);
    fault = why;
    is_ended = true;
    ended.notify_all();
  }

  /// The mutex is held.
  [[nodiscard]] std::optional<BackendFactory> result() const {
    if (fault) std::rethrow_exception(fault);
    if (!is_ended) return std::nullopt;
    return factory;
  }
};

JoiningDevice::JoiningDevice(std::function<BackendFactory()> start) : JoiningDevice(std::move(start), Worth{}) {}

JoiningDevice::JoiningDevice(std::function<BackendFactory()> start, const Worth& worth) : state_(std::make_unique<State>()) {
  state_->start = std::move(start);
  state_->worth = worth;
}

JoiningDevice::~JoiningDevice() = default;

const JoiningDevice::Worth& JoiningDevice::worth() const { return state_->worth; }

void JoiningDevice::begin() {
  const std::lock_guard lock(state_->mutex);
  if (state_->begun) return;
  state_->thread = start_thread([state = state_.get()] { state->run(); });
  state_->begun = true;
}

bool JoiningDevice::is_starting() const {
  const std::lock_guard lock(state_->mutex);
  return state_->begun && !state_->is_ended;
}

std::optional<BackendFactory> JoiningDevice::ready() const {
  const std::lock_guard lock(state_->mutex);
  return state_->result();
}

std::optional<BackendFactory> JoiningDevice::wait(const std::stop_token& stop) const {
  std::unique_lock lock(state_->mutex);
  state_->ended.wait(lock, stop, [this] { return state_->is_ended; });
  return state_->result();
}

}  // namespace c63
