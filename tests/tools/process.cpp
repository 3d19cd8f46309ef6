#include "process.h"

#include <fcntl.h>
#include <pty.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

extern char** environ;

namespace c63::test {
namespace {

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

/// The two ends of a stream: one for the program, one for the test. An end that does not exist is -1.
struct Ends {
  int program = -1;
  int ours = -1;
};

Ends open_stream(Stream stream, bool is_input) {
  Ends ends;
  switch (stream) {
    case Stream::closed:
      return ends;
    case Stream::null:
      return {::open("/dev/null", O_RDWR | O_CLOEXEC)};
    case Stream::full:
      return {::open("/dev/full", O_RDWR | O_CLOEXEC)};
    case Stream::terminal: {
      termios raw{};
      ::cfmakeraw(&raw);
      if (::openpty(&ends.ours, &ends.program, nullptr, &raw, nullptr) != 0) fail("openpty");
      ::fcntl(ends.ours, F_SETFD, FD_CLOEXEC);
      ::fcntl(ends.program, F_SETFD, FD_CLOEXEC);
      return ends;
    }
    default:
      break;
  }
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) fail("pipe2");
  ends = is_input ? Ends{pipe[0], pipe[1]} : Ends{pipe[1], pipe[0]};
  if (stream == Stream::unread) ::close(std::exchange(ends.ours, -1));
  if (stream == Stream::non_blocking) {
    ::fcntl(ends.program, F_SETPIPE_SZ, 4096);
    ::fcntl(ends.program, F_SETFL, ::fcntl(ends.program, F_GETFL) | O_NONBLOCK);
  }
  return ends;
}

}  // namespace

/// Collects an output of the program: reads it to its end, in a separate thread. At the end, a terminal gives an error
/// instead of 0 bytes.
struct Process::Collector {
  Collector(int descriptor, bool late) : thread([this, descriptor, late] { collect(descriptor, late); }) {}
  ~Collector() {
    if (thread.joinable()) thread.join();
  }

  void collect(int descriptor, bool late) {
    if (late) std::this_thread::sleep_for(std::chrono::milliseconds(5));
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

std::string name(Stream stream) {
  static constexpr std::array kNames = {"pipe", "closed", "null", "full", "unread", "non-blocking", "terminal"};
  return kNames[static_cast<std::size_t>(stream)];
}

Process::Process(const std::vector<std::string>& arguments, const Streams& streams) {
  std::signal(SIGPIPE, SIG_IGN);  // for this test program; the child gets the default again
  const Ends out = streams.out_file.empty() ? open_stream(streams.out, false) : Ends{::open(streams.out_file.c_str(), O_WRONLY | O_CLOEXEC)};
  const std::array<Ends, 3> ends = {open_stream(streams.in, true), out, open_stream(streams.err, false)};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int i = 0; i < 3; ++i) {
    if (ends[i].program >= 0) {
      posix_spawn_file_actions_adddup2(&actions, ends[i].program, i);
    } else {
      posix_spawn_file_actions_addclose(&actions, i);
    }
  }
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
  const int fault = ::posix_spawn(&pid_, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  for (const Ends& each : ends) {
    if (each.program >= 0) ::close(each.program);
  }
  if (fault != 0) throw std::system_error(fault, std::generic_category(), arguments[0]);
  input_ = ends[0].ours;
  const auto collect = [](int descriptor, Stream stream) {
    return descriptor >= 0 ? std::make_unique<Collector>(descriptor, stream == Stream::non_blocking) : nullptr;
  };
  out_ = collect(ends[1].ours, streams.out);
  err_ = collect(ends[2].ours, streams.err);
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
  if (err_) result.err = err_->finish();
  return result;
}

ProcessResult run(const std::vector<std::string>& arguments, std::string_view input, const Streams& streams) {
  Process process(arguments, streams);
  process.write(input);
  process.close_input();
  return process.wait();
}

}  // namespace c63::test
