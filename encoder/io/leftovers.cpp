#include "io/leftovers.h"

#include <unistd.h>

#include <csignal>
#include <exception>
#include <filesystem>
#include <system_error>

namespace c63 {
namespace {

/// Removes a folder that threads of this process may still be writing to.
void remove_folder(const std::string& path) noexcept {
  constexpr int kTries = 20;
  for (int i = 0; i < kTries; ++i) {
    try {
      std::error_code fault;
      std::filesystem::remove_all(path, fault);
      if (!fault) return;
    } catch (const std::exception&) {
      return;  // no memory left
    }
    ::usleep(1000);
  }
}

}  // namespace

Leftovers& leftovers() {
  // Never destroyed, because a signal may come during static destruction. Not on the heap, because memory may have run out.
  static union Kept {
    Kept() : all() {}
    ~Kept() {}
    Leftovers all;
  } kept;
  return kept.all;
}

void exit_without_leftovers(int exit_code) noexcept {
  Leftovers& all = leftovers();
  all.mutex.lock();  // never unlocked: no further entries can be made
  for (const pid_t group : all.process_groups) ::kill(-group, SIGKILL);
  for (const std::string& path : all.files) ::unlink(path.c_str());
  for (const std::string& path : all.folders) remove_folder(path);
  ::_exit(exit_code);
}

}  // namespace c63
