#include "io/leftovers.h"

#include <unistd.h>

#include <csignal>

#include "io/remove_folder.h"

namespace c63 {
namespace {

/// Removes a folder. Threads of this process may still be writing to it, so several attempts may be needed.
void remove_folder_in_use(const char* path) noexcept {
  constexpr int kTries = 20;
  for (int i = 0; i < kTries && !remove_folder(path); ++i) ::usleep(1000);
}

}  // namespace

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
