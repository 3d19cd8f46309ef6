#include "common/signals.h"

#include <pthread.h>

#include <csignal>

#include "io/part_file.h"

namespace c63::tools {
namespace {

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

void ignore_write_signals() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

Signals::Signals() {
  // A shell that starts a job in the background has it ignore SIGINT; whoever sends one means it.
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  const sigset_t set = stop_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  watcher_ = std::thread([this] { watch(); });
}

Signals::~Signals() {
  done_ = true;
  pthread_kill(watcher_.native_handle(), SIGTERM);
  watcher_.join();
}

void Signals::watch() {
  const sigset_t set = stop_signals();
  while (true) {
    int signal = 0;
    if (sigwait(&set, &signal) != 0) continue;
    if (done_) return;
    if (received_ != 0) exit_without_part_files(128 + signal);
    received_ = signal;
    source_.request_stop();
  }
}

}  // namespace c63::tools
