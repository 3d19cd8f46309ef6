#pragma once

#include <sys/types.h>

#include <list>
#include <mutex>
#include <string>

namespace c63 {

/// What this process must remove if it ends without destructors: incomplete files, temporary folders, and running child
/// programs. To add a file, folder or program, lock the mutex, create it, put it into its list, and unlock the mutex.
struct Leftovers {
  std::mutex mutex;
  std::list<std::string> files;
  std::list<std::string> folders;
  std::list<pid_t> process_groups;
};

[[nodiscard]] Leftovers& leftovers();

/// Ends this process at once, without destructors, after a signal. First kills the process groups, then removes the
/// files and folders.
[[noreturn]] void exit_without_leftovers(int exit_code) noexcept;

}  // namespace c63
