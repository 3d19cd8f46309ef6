#include "ffmpeg/one_ahead.h"

#include <system_error>
#include <utility>

#include "c63/error.h"

namespace c63 {

OneAhead::OneAhead(std::function<void()> work) : work_(std::move(work)) {
  try {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  } catch (const std::system_error& error) {
    throw Error(ErrorKind::limit, "C63-THREADS", "cannot start a thread to decode: " + error.code().message());
  }
}

OneAhead::~OneAhead() = default;

void OneAhead::begin() {
  const std::lock_guard lock(mutex_);
  state_ = State::begun;
  changed_.notify_all();
}

void OneAhead::end() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return state_ != State::begun; });
  state_ = State::none;
  if (fault_) std::rethrow_exception(std::exchange(fault_, nullptr));
}

void OneAhead::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return state_ == State::begun; })) {
    lock.unlock();
    std::exception_ptr fault;
    try {
      work_();
    } catch (...) {
      fault = std::current_exception();
    }
    lock.lock();
    fault_ = fault;
    state_ = State::done;
    changed_.notify_all();
  }
}

}  // namespace c63
