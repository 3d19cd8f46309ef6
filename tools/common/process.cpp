#include "common/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <list>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "c63/error.h"
#include "io/descriptor.h"
#include "files/leftovers.h"

extern char** environ;

namespace c63::tools {
namespace {

double seconds(const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6; }

/// Returns the text of a file. Of a long text, such as a compiler's, the middle is left out.
std::string beginning_and_end(const std::string& path) {
  constexpr std::size_t kKept = 4000;  // bytes of each
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text.size() <= 2 * kKept) return text;
  const std::size_t first = text.rfind('\n', kKept);  // whole lines, if lines are not very long
  const std::size_t last = text.find('\n', text.size() - kKept);
  return text.substr(0, first == std::string::npos ? kKept : first) + "\n[...]" +
         text.substr(last == std::string::npos ? text.size() - kKept : last);
}

/// The start-up settings of a spawned process, freed with the object.
struct SpawnSetup {
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
  SpawnSetup() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    // This program blocks and ignores some signals. The child must not inherit that.
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    sigset_t usual;
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    sigaddset(&usual, SIGXFSZ);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    // The child gets its own process group. So all processes that the command starts can be ended together, and a
    // signal from the terminal reaches only this program.
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
  /// Starts a process by `spawn(pid)`, which sets the pid or returns an errno. Throws Error (internal).
  template <typename Spawn>
  explicit ChildGroup(const Spawn& spawn) {
    std::list<pid_t> one(1);
    // With the lock held, a signal that ends this program cannot come between the start of a process and its entry in
    // the list.
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
  /// Waits until the leader ends, without reaping it. So no new process can get its process id, which is also the
  /// group's id.
  void wait() const {
    siginfo_t ended{};
    while (::waitid(P_PID, static_cast<id_t>(*entry_), &ended, WEXITED | WNOWAIT) != 0) {
      if (errno != EINTR) throw system_fault(ErrorKind::internal, "C63-PROCESS", "cannot wait for a process", errno);
    }
  }

 private:
  std::list<pid_t>::iterator entry_;
};

/// Returns the processes whose parent is this one.
std::vector<pid_t> own_children() {
  std::vector<pid_t> children;
  std::error_code fault;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", fault)) {
    std::ifstream file(thread.path() / "children");
    for (pid_t child = 0; file >> child;) children.push_back(child);
  }
  return children;
}

/// Sets the limits of a shell that has just been started. The program that it starts inherits them.
void set_limits(pid_t process, const ProcessLimits& limits) {
  const auto set = [process](auto resource, std::uint64_t most) {
    if (most == 0) return;
    const rlimit limit{most, most};
    static_cast<void>(::prlimit(process, resource, &limit, nullptr));  // fails only if the process has ended
  };
  set(RLIMIT_FSIZE, limits.file_bytes);
  set(RLIMIT_NOFILE, static_cast<std::uint64_t>(limits.files));
  if (limits.seconds > 0) set(RLIMIT_CORE, 1);
}

/// Calls a function after some seconds, unless the object is destroyed before.
class Deadline {
 public:
  Deadline(double seconds, std::function<void()> act) {
    if (seconds <= 0) return;
    thread_ = std::jthread([this, seconds, act = std::move(act)](const std::stop_token& stop) {
      std::unique_lock lock(mutex_);
      const bool ended = condition_.wait_for(lock, stop, std::chrono::duration<double>(seconds),
                                             [&] { return stop.stop_requested(); });
      if (!ended) act();
    });
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any condition_;
  std::jthread thread_;
};

}  // namespace

void adopt_orphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

void end_orphans() {
  const std::lock_guard lock(leftovers().mutex);  // so no command starts meanwhile
  const std::list<pid_t>& leaders = leftovers().process_groups;
  for (bool is_done = false; !is_done;) {
    is_done = true;
    for (const pid_t child : own_children()) {
      if (std::ranges::find(leaders, child) != leaders.end()) continue;
      ::kill(child, SIGKILL);
      is_done &= ::waitpid(child, nullptr, 0) != child;  // its own children become ours now
    }
  }
}

ProcessResult run_process(const std::string& command, const std::string& stdin_path, const std::string& stdout_path,
                          const std::string& folder, const StopTokens& stops, const ProcessLimits& limits) {
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
  if (limits.ends_children) adopt_orphans();
  std::atomic<bool> timed_out = false;
  {
    const ChildGroup group([&](pid_t* started) {
      return posix_spawn(started, "/bin/sh", &setup.actions, &setup.attributes, arguments, environ);
    });
    child = group.leader();
    set_limits(child, limits);
    const Deadline deadline(limits.seconds, [&] {
      timed_out = true;
      group.signal(SIGKILL);
    });
    const std::stop_callback on_stop(stops.stop, [&] { group.signal(SIGTERM); });
    const std::stop_callback on_drop(stops.drop, [&] { group.signal(SIGKILL); });
    group.wait();
    if (limits.ends_children) {
      group.signal(SIGKILL);
      end_orphans();
    }
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
  result.timed_out = timed_out;
  result.error_output = beginning_and_end(error_path);
  return result;
}

std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace c63::tools
