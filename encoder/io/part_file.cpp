#include "io/part_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>

namespace c63 {
namespace {

struct PartFiles {
  std::mutex mutex;
  std::list<std::string> paths;
};

PartFiles& part_files() {
  // Never destroyed: a signal may come while static objects are. Not on the heap: memory may be what a program ends for.
  static union Kept {
    Kept() : files() {}
    ~Kept() {}
    PartFiles files;
  } all;
  return all.files;
}

/// The target's path, its last component shortened, between two characters of UTF-8, so that there is room for a suffix.
std::string shortened(std::string target) {
  constexpr std::size_t kKept = 80;
  const std::size_t name = target.rfind('/') + 1;  // npos + 1 is 0
  if (target.size() - name <= kKept) return target;
  std::size_t end = name + kKept;
  while (end > name && (static_cast<unsigned char>(target[end]) & 0xC0) == 0x80) --end;
  target.resize(end);
  return target;
}

}  // namespace

PartFile::~PartFile() {
  if (!exists_) return;
  const std::lock_guard lock(part_files().mutex);
  ::unlink(path_->c_str());
  part_files().paths.erase(path_);
}

int PartFile::create(const std::string& target) {
  const std::string start = shortened(target) + ".part-" + std::to_string(::getpid()) + "-";
  std::list<std::string> one(1);
  for (int attempt = 0;; ++attempt) {
    one.front() = start + std::to_string(attempt);
    // The lock: no file is without an entry when a signal ends the process.
    const std::lock_guard lock(part_files().mutex);
    const int descriptor = ::open(one.front().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) {
      path_ = one.begin();
      part_files().paths.splice(part_files().paths.end(), one);
      exists_ = true;
    } else if (errno == EEXIST && attempt < 999) {
      continue;
    }
    return descriptor;
  }
}

bool PartFile::rename_to(const std::string& target) {
  const std::lock_guard lock(part_files().mutex);
  if (::rename(path_->c_str(), target.c_str()) != 0) return false;
  part_files().paths.erase(path_);
  exists_ = false;
  return true;
}

void exit_without_part_files(int exit_code) noexcept {
  part_files().mutex.lock();  // for good: nobody makes another one
  for (const std::string& path : part_files().paths) ::unlink(path.c_str());
  ::_exit(exit_code);
}

}  // namespace c63
