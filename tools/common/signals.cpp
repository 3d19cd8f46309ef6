#include "common/signals.h"

#include <pthread.h>

#include <csignal>

#include "files/leftovers.h"

namespace c63::tools {

void ignore_write_signals() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

Signals::Signals() {
  sigemptyset(&watched_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (signal == SIGHUP && before.sa_handler == SIG_IGN) continue;
    // A shell makes background jobs ignore SIGINT. Undo that, so that a SIGINT sent by `kill` works.
    std::signal(signal, SIG_DFL);
    sigaddset(&watched_, signal);
  }
  pthread_sigmask(SIG_BLOCK, &watched_, nullptr);
  watcher_ = std::thread([this] { watch(); });
}

Signals::~Signals() {
  done_ = true;
  pthread_kill(watcher_.native_handle(), SIGTERM);
  watcher_.join();
}

void Signals::watch() {
  while (true) {
    int signal = 0;
    if (sigwait(&watched_, &signal) != 0) continue;
    if (done_) return;
    if (signal == SIGQUIT || drop_.stop_requested()) exit_without_leftovers(128 + signal);
    if (received_ == 0) {
      received_ = signal;
      stop_.request_stop();
    } else {
      drop_.request_stop();
    }
  }
}

}  // namespace c63::tools
