#pragma once

#include <sys/types.h>

#include <list>
#include <mutex>
#include <string>

namespace c63 {

/// What exit_without_leftovers() must remove: incomplete files, temporary folders, and running child programs. To add a
/// file, folder or program, lock the mutex, create it, put it into its list, and unlock the mutex.
struct Leftovers {
  std::mutex mutex;
  std::list<std::string> files;
  std::list<std::string> folders;
  std::list<pid_t> process_groups;
};

[[nodiscard]] Leftovers& leftovers();

/// Ends this process at once after a signal such as SIGINT, without running destructors. First kills the process groups
/// of child programs, then removes the files and folders.
[[noreturn]] void exit_without_leftovers(int exit_code) noexcept;

/// Removes a folder with its contents. Does not follow links. Returns false if something is left, for example because
/// other threads are still writing. Allocates no memory, because a program may end when memory has run out.
/// std::filesystem::remove_all() would then leave the folder or crash (libstdc++ 12).
bool remove_folder(const char* path) noexcept;

}  // namespace c63
