#pragma once

#include <sys/types.h>

#include <list>
#include <mutex>
#include <string>

namespace c63 {

/// What this process must not leave behind when it ends without destructors: files that are not complete, folders for
/// temporary files, and programs that it runs. Whoever makes one of these holds the mutex until it has its entry.
struct Leftovers {
  std::mutex mutex;
  std::list<std::string> files;
  std::list<std::string> folders;
  std::list<pid_t> process_groups;
};

[[nodiscard]] Leftovers& leftovers();

/// Ends this process at once, without destructors: for the signal that must not wait. Kills its process groups first, then
/// removes its files and folders.
[[noreturn]] void exit_without_leftovers(int exit_code) noexcept;

}  // namespace c63
