#include "compare/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "c63/error.h"
#include "io/descriptor.h"

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

/// What a spawned process starts with, freed with the object.
struct SpawnSetup {
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
  SpawnSetup() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    // This program blocks and ignores signals of its own; a child starts with the usual ones.
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    sigset_t usual;
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    sigaddset(&usual, SIGXFSZ);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSetup() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;
};

}  // namespace

ProcessResult run_process(const std::string& command, const std::string& stdin_path, const std::string& stdout_path,
                          const std::string& folder) {
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
  const int fault = posix_spawn(&child, "/bin/sh", &setup.actions, &setup.attributes, arguments, environ);
  if (fault != 0) {
    throw system_fault(ErrorKind::internal, "C63-PROCESS", "cannot start /bin/sh", fault);
  }
  int status = 0;
  rusage usage{};
  while (wait4(child, &status, 0, &usage) < 0) {
    if (errno != EINTR) throw Error(ErrorKind::internal, "C63-PROCESS", std::string("wait4: ") + std::strerror(errno));
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

WorkFolder::WorkFolder() {
  std::error_code no_folder;
  path_ = (std::filesystem::temp_directory_path(no_folder) / "c63cmp-XXXXXX").string();
  if (no_folder) {
    throw Error(ErrorKind::output, "C63-WRITE-OPEN",
                "no folder for temporary files (TMPDIR, /tmp): " + no_folder.message());
  }
  if (mkdtemp(path_.data()) == nullptr) {
    throw Error(ErrorKind::output, "C63-WRITE-OPEN", std::string("cannot make a temporary folder: ") + std::strerror(errno),
                {.file = path_});
  }
}

WorkFolder::~WorkFolder() {
  std::error_code ignored;  // what is left lies where the system cleans up
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace c63::tools
