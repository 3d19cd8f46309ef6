#include "process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

extern char** environ;

namespace c63::test {
namespace {

std::array<int, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe2");
  return ends;
}

}  // namespace

/// Collects an output of the program: reads a pipe to its end, in a separate thread.
struct Process::Collector {
  explicit Collector(int descriptor) : thread([this, descriptor] { collect(descriptor); }) {}
  ~Collector() {
    if (thread.joinable()) thread.join();
  }

  void collect(int descriptor) {
    std::array<char, 65536> buffer{};
    for (bool more = true; more;) {
      const ssize_t got = ::read(descriptor, buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      more = got > 0;
      const std::scoped_lock lock(mutex);
      if (more) text.append(buffer.data(), static_cast<std::size_t>(got));
      ended = !more;
      changed.notify_all();
    }
    ::close(descriptor);
  }

  std::string finish() {
    thread.join();
    return std::move(text);
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::string text;
  bool ended = false;
  std::thread thread;  // last, because it uses the others
};

Process::Process(const std::vector<std::string>& arguments, Stdout output, const std::string& stdout_file) {
  std::signal(SIGPIPE, SIG_IGN);  // for this test program; the child gets the default again
  const auto in = make_pipe();
  const auto out = make_pipe();
  const auto err = make_pipe();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], 0);
  if (stdout_file.empty()) {
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  } else {
    posix_spawn_file_actions_addopen(&actions, 1, stdout_file.c_str(), O_WRONLY, 0);
  }
  posix_spawn_file_actions_adddup2(&actions, err[1], 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  if (output == Stdout::closed) ::close(out[0]);
  const int fault = ::posix_spawn(&pid_, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  ::close(in[0]);
  ::close(out[1]);
  ::close(err[1]);
  if (fault != 0) throw std::system_error(fault, std::generic_category(), arguments[0]);
  input_ = in[1];
  if (output == Stdout::collected) out_ = std::make_unique<Collector>(out[0]);
  err_ = std::make_unique<Collector>(err[0]);
}

Process::~Process() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    wait();
  }
}

bool Process::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(input_, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

void Process::close_input() {
  if (input_ >= 0) ::close(input_);
  input_ = -1;
}

void Process::kill(int signal) const { ::kill(pid_, signal); }

bool Process::running() const {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
}

bool Process::wait_for_error_output(std::string_view text) {
  std::unique_lock lock(err_->mutex);
  err_->changed.wait(lock, [&] { return err_->ended || err_->text.find(text) != std::string::npos; });
  return err_->text.find(text) != std::string::npos;
}

ProcessResult Process::wait() {
  int status = 0;
  rusage usage{};
  while (::wait4(pid_, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  close_input();
  ProcessResult result;
  result.peak_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  if (out_) result.out = out_->finish();
  result.err = err_->finish();
  return result;
}

ProcessResult run(const std::vector<std::string>& arguments, std::string_view input) {
  Process process(arguments);
  process.write(input);
  process.close_input();
  return process.wait();
}

}  // namespace c63::test
