#include "common/log_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <new>

#include "c63/error.h"
#include "io/descriptor.h"

namespace c63::tools {

LogFile::LogFile(const std::string& path) : path_(path) {
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666);
  if (descriptor_ < 0) throw system_fault(ErrorKind::output, "C63-LOG-FILE", "cannot open the log", errno, {.file = path_});
}

LogFile::~LogFile() {
  if (descriptor_ < 0) return;
  write_held();
  ::close(descriptor_);
}

void LogFile::finish() {
  const std::lock_guard lock(mutex_);
  if (descriptor_ >= 0) {
    write_held();
    if (::close(descriptor_) != 0 && fault_ == 0) fault_ = errno;
    descriptor_ = -1;
  }
  if (fault_ == 0) return;
  throw system_fault(ErrorKind::output, "C63-LOG-FILE", "the log is not complete", fault_, {.file = path_});
}

void LogFile::sink_it_(const spdlog::details::log_msg& message) {
  constexpr std::size_t kHeld = 64 << 10;
  if (descriptor_ < 0) return;
  try {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    held_.append(line.data(), line.size());
  } catch (const std::bad_alloc&) {
    if (fault_ == 0) fault_ = ENOMEM;
  }
  if (held_.size() >= kHeld) write_held();
}

void LogFile::flush_() {
  if (descriptor_ >= 0) write_held();
}

void LogFile::write_held() noexcept {
  const int fault = write_all(descriptor_, bytes_of(held_), written_);
  if (fault_ == 0) fault_ = fault;
  held_.clear();
}

}  // namespace c63::tools
