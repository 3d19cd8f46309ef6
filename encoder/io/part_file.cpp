#include "io/part_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <string_view>

#include "io/leftovers.h"

namespace c63 {
namespace {

/// Returns the target's path with a shortened last component, so that there is room for a suffix. Does not cut inside a
/// UTF-8 character.
std::string shortened(std::string target) {
  constexpr std::size_t kKept = 80;
  const std::size_t name = target.rfind('/') + 1;  // if there is no '/', npos + 1 is 0
  if (target.size() - name <= kKept) return target;
  std::size_t end = name + kKept;
  while (end > name && (static_cast<unsigned char>(target[end]) & 0xC0) == 0x80) --end;
  target.resize(end);
  return target;
}

}  // namespace

std::string partial_name(const std::string& target) {
  constexpr std::size_t kLongestName = 255;
  constexpr std::string_view kMark = ".partial";
  const std::size_t name = target.rfind('/') + 1;  // if there is no '/', npos + 1 is 0
  const std::size_t dot = target.rfind('.');
  const std::size_t end = dot == std::string::npos || dot <= name ? target.size() : dot;
  const std::string extension = target.substr(end);
  if (target.size() - name + kMark.size() <= kLongestName) return target.substr(0, end).append(kMark) + extension;
  return shortened(target.substr(0, end)).append(kMark) + (extension.size() <= kMark.size() ? extension : "");
}

PartFile::~PartFile() {
  if (!exists_) return;
  const std::lock_guard lock(leftovers().mutex);
  ::unlink(path_->c_str());
  leftovers().files.erase(path_);
}

int PartFile::create(const std::string& target) {
  const std::string start = shortened(target) + ".part-" + std::to_string(::getpid()) + "-";
  std::list<std::string> one(1);
  for (int attempt = 0;; ++attempt) {
    one.front() = start + std::to_string(attempt);
    // exit_without_leftovers() needs this mutex, too. So it cannot end the process between the creation of a file and
    // its entry in the list.
    const std::lock_guard lock(leftovers().mutex);
    const int descriptor = ::open(one.front().c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) {
      path_ = one.begin();
      leftovers().files.splice(leftovers().files.end(), one);
      exists_ = true;
    } else if (errno == EEXIST && attempt < 999) {
      continue;
    }
    return descriptor;
  }
}

bool PartFile::rename_to(const std::string& target) {
  const std::lock_guard lock(leftovers().mutex);
  if (::rename(path_->c_str(), target.c_str()) != 0) return false;
  leftovers().files.erase(path_);
  exists_ = false;
  return true;
}

}  // namespace c63
