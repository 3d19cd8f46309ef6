#include "io/leftovers.h"

#include <unistd.h>

#include <csignal>

#include "io/remove_folder.h"

namespace c63 {
namespace {

/// Removes a folder that threads of this process may still be writing to.
void remove_folder_in_use(const char* path) noexcept {
  constexpr int kTries = 20;
  for (int i = 0; i < kTries && !remove_folder(path); ++i) ::usleep(1000);
}

}  // namespace

Leftovers& leftovers() {
  // Never destroyed: a signal may come while static objects are. Not on the heap: memory may be what a program ends for.
  static union Kept {
    Kept() : all() {}
    ~Kept() {}
    Leftovers all;
  } kept;
  return kept.all;
}

void exit_without_leftovers(int exit_code) noexcept {
  Leftovers& all = leftovers();
  all.mutex.lock();  // for good: nobody makes another one
  for (const pid_t group : all.process_groups) ::kill(-group, SIGKILL);
  for (const std::string& path : all.files) ::unlink(path.c_str());
  for (const std::string& path : all.folders) remove_folder_in_use(path.c_str());
  ::_exit(exit_code);
}

}  // namespace c63
