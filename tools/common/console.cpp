#include "common/console.h"

#include <unistd.h>

#include <cerrno>

namespace c63::tools {
namespace {

constexpr std::string_view kEraseLine = "\r\x1b[K";

}  // namespace

Console::Console(int fd) : fd_(fd), terminal_(isatty(fd) == 1) {}

Console::~Console() { clear_status(); }

void Console::line(std::string_view text) {
  const std::scoped_lock lock(mutex_);
  std::string out;
  if (!status_.empty()) out += kEraseLine;
  out += text;
  out += '\n';
  out += status_;
  write(out);
}

void Console::status(std::string_view text) {
  if (!terminal_) return;
  const std::scoped_lock lock(mutex_);
  status_ = text;
  write(std::string(kEraseLine) + status_);
}

void Console::clear_status() {
  const std::scoped_lock lock(mutex_);
  if (status_.empty()) return;
  status_.clear();
  write(kEraseLine);
}

void Console::write(std::string_view text) const {
  // Nobody can be told that standard error is closed; the data's own outputs are checked where they are written.
  while (!text.empty()) {
    const ssize_t n = ::write(fd_, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace c63::tools
