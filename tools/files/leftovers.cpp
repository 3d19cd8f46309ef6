#include "files/leftovers.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace c63 {
namespace {

constexpr int kDeepest = 16;  ///< the deepest nesting of folders that is removed; scratch folders have two levels

/// Removes the contents of an open folder and closes it. Returns false if something is left.
bool empty_folder(int folder, int depth) noexcept {
  bool is_empty = true;
  alignas(dirent64) char entries[4096];
  ssize_t bytes = 0;
  while ((bytes = ::getdents64(folder, entries, sizeof entries)) > 0) {
    for (ssize_t at = 0; at < bytes;) {
      const auto* const entry = reinterpret_cast<const dirent64*>(entries + at);
      at += entry->d_reclen;
      const char* const name = entry->d_name;
      if (std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0) continue;
      if (::unlinkat(folder, name, 0) == 0) continue;
      const bool is_folder = errno == EISDIR || errno == EPERM;  // Linux and POSIX use different errors for a folder
      const int inner = is_folder && depth < kDeepest ? ::openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
      const bool is_removed = inner >= 0 && empty_folder(inner, depth + 1) && ::unlinkat(folder, name, AT_REMOVEDIR) == 0;
      is_empty = is_empty && is_removed;
    }
  }
  ::close(folder);
  return is_empty && bytes == 0;
}

/// Removes a folder. Threads of this process may still be writing to it, so several attempts may be needed.
void remove_folder_in_use(const char* path) noexcept {
  constexpr int kTries = 20;
  for (int i = 0; i < kTries && !remove_folder(path); ++i) ::usleep(1000);
}

}  // namespace

bool remove_folder(const char* path) noexcept {
  constexpr int kTries = 3;  // some file systems skip entries while others are removed, and a call may fail once
  for (int i = 0; i < kTries; ++i) {
    const int folder = ::open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0 && errno == ENOENT) return true;
    if (folder >= 0 && empty_folder(folder, 0) && ::rmdir(path) == 0) return true;
  }
  return false;
}

Leftovers& leftovers() {
  // The object is never destroyed, because a signal may come while static objects are destroyed. It is not on the heap,
  // because memory may have run out.
  static union Kept {
    Kept() : all() {}
    ~Kept() {}
    Leftovers all;
  } kept;
  return kept.all;
}

void exit_without_leftovers(int exit_code) noexcept {
  Leftovers& all = leftovers();
  all.mutex.lock();  // never unlocked, so that nothing can be added any more
  for (const pid_t group : all.process_groups) ::kill(-group, SIGKILL);
  for (const std::string& path : all.files) ::unlink(path.c_str());
  for (const std::string& path : all.folders) remove_folder_in_use(path.c_str());
  ::_exit(exit_code);
}

}  // namespace c63
