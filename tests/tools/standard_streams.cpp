#include "standard_streams.h"

#include <fcntl.h>
#include <pty.h>
#include <spawn.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <system_error>
#include <thread>

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
  switch (stream) {
    case Stream::closed:
      return {};
    case Stream::null:
      return {::open("/dev/null", O_RDWR | O_CLOEXEC)};
    case Stream::full:
      return {::open("/dev/full", O_RDWR | O_CLOEXEC)};
    case Stream::terminal: {
      termios raw{};
      ::cfmakeraw(&raw);
      Ends ends;
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
  const Ends ends = is_input ? Ends{pipe[0], pipe[1]} : Ends{pipe[1], pipe[0]};
  if (stream == Stream::non_blocking) {
    ::fcntl(ends.program, F_SETPIPE_SZ, 4096);
    ::fcntl(ends.program, F_SETFL, ::fcntl(ends.program, F_GETFL) | O_NONBLOCK);
  }
  return ends;
}

/// Reads `descriptor` to its end. At the end, a terminal gives an error instead of 0 bytes, which also ends the loop.
void collect(int descriptor, std::string& text) {
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::array<char, 65536> buffer{};
  for (ssize_t got = 0; (got = ::read(descriptor, buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  ::close(descriptor);
}

void feed(int descriptor, const std::string& input) {
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  for (std::size_t at = 0; at < input.size();) {
    const ssize_t put = ::write(descriptor, input.data() + at, input.size() - at);
    if (put <= 0) break;
    at += static_cast<std::size_t>(put);
  }
  ::close(descriptor);
}

}  // namespace

std::string name(Stream stream) {
  static constexpr std::array kNames = {"closed", "null", "full", "pipe", "non-blocking", "terminal"};
  return kNames[static_cast<std::size_t>(stream)];
}

StreamResult run_with_streams(const std::vector<std::string>& arguments, Stream in, Stream out, Stream err,
                              const std::string& input) {
  std::signal(SIGPIPE, SIG_IGN);
  const std::array<Ends, 3> streams = {open_stream(in, true), open_stream(out, false), open_stream(err, false)};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int i = 0; i < 3; ++i) {
    if (streams[i].program >= 0) {
      posix_spawn_file_actions_adddup2(&actions, streams[i].program, i);
    } else {
      posix_spawn_file_actions_addclose(&actions, i);
    }
  }
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t child = 0;
  const int fault = ::posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  for (const Ends& ends : streams) {
    if (ends.program >= 0) ::close(ends.program);
  }
  if (fault != 0) throw std::system_error(fault, std::generic_category(), arguments[0]);

  StreamResult result;
  {
    std::vector<std::jthread> threads;
    if (streams[0].ours >= 0) threads.emplace_back(feed, streams[0].ours, std::cref(input));
    if (streams[1].ours >= 0) threads.emplace_back(collect, streams[1].ours, std::ref(result.out));
    if (streams[2].ours >= 0) threads.emplace_back(collect, streams[2].ours, std::ref(result.err));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  return result;
}

}  // namespace c63::test
