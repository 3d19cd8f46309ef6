#include "compare/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <list>
#include <mutex>

#include "c63/error.h"
#include "io/descriptor.h"
#include "io/leftovers.h"

extern char** environ;

namespace c63::tools {
namespace {

double seconds(const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6; }

std::string end_of_file(const std::string& path) {
  constexpr std::size_t kKept = 2000;
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  return text.size() > kKept ? text.substr(text.size() - kKept) : text;
}

/// The start-up settings of a spawned process, freed with the object.
struct SpawnSetup {
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
  SpawnSetup() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    // This program blocks and ignores some signals. A child starts with the default handling.
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    sigset_t usual;
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    sigaddset(&usual, SIGXFSZ);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    // Its own process group, so that everything that the command starts ends with it, and a signal from the terminal
    // reaches only this program.
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnSetup() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;
};

/// A running process that leads its own group.
class ChildGroup {
 public:
  /// Starts a process by `spawn(pid)`. Throws Error (internal).
  template <typename Spawn>
  explicit ChildGroup(const Spawn& spawn) {
    std::list<pid_t> one(1);
    // The lock makes sure that every process has an entry when a signal ends this one.
    const std::lock_guard lock(leftovers().mutex);
    if (const int fault = spawn(&one.front()); fault != 0) {
      throw system_fault(ErrorKind::internal, "C63-PROCESS", "cannot start /bin/sh", fault);
    }
    entry_ = one.begin();
    leftovers().process_groups.splice(leftovers().process_groups.end(), one);
  }
  ~ChildGroup() {
    const std::lock_guard lock(leftovers().mutex);
    leftovers().process_groups.erase(entry_);
  }
  ChildGroup(const ChildGroup&) = delete;
  ChildGroup& operator=(const ChildGroup&) = delete;

  [[nodiscard]] pid_t leader() const { return *entry_; }
  void signal(int number) const { ::kill(-*entry_, number); }
  /// Waits for the leader's end. Its number is not given to another process before it is reaped.
  void wait() const {
    siginfo_t ended{};
    while (::waitid(P_PID, static_cast<id_t>(*entry_), &ended, WEXITED | WNOWAIT) != 0) {
      if (errno != EINTR) throw system_fault(ErrorKind::internal, "C63-PROCESS", "cannot wait for a process", errno);
    }
  }

 private:
  std::list<pid_t>::iterator entry_;
};

}  // namespace

ProcessResult run_process(const std::string& command, const std::string& stdin_path, const std::string& stdout_path,
                          const std::string& folder, const StopTokens& stops) {
  const std::string error_path = folder + "/stderr";
  const std::string in = stdin_path.empty() ? "/dev/null" : stdin_path;
  const std::string out = stdout_path.empty() ? "/dev/null" : stdout_path;
  SpawnSetup setup;
  posix_spawn_file_actions_addopen(&setup.actions, 0, in.c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&setup.actions, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&setup.actions, 2, error_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  std::string shell = "sh";
  std::string flag = "-c";
  std::string text = command;
  char* const arguments[] = {shell.data(), flag.data(), text.data(), nullptr};

  const auto start = std::chrono::steady_clock::now();
  pid_t child = 0;
  {
    const ChildGroup group([&](pid_t* started) {
      return posix_spawn(started, "/bin/sh", &setup.actions, &setup.attributes, arguments, environ);
    });
    child = group.leader();
    const std::stop_callback on_stop(stops.stop, [&] { group.signal(SIGTERM); });
    const std::stop_callback on_drop(stops.drop, [&] { group.signal(SIGKILL); });
    group.wait();
  }
  int status = 0;
  rusage usage{};
  while (wait4(child, &status, 0, &usage) < 0) {
    if (errno != EINTR) throw system_fault(ErrorKind::internal, "C63-PROCESS", "cannot wait for a process", errno);
  }
  ProcessResult result;
  result.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.cpu_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.error_output = end_of_file(error_path);
  return result;
}

std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace c63::tools
