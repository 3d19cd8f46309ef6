#include "io/remove_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
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

}  // namespace c63
