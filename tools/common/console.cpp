#include "common/console.h"

#include <unistd.h>

#include "io/descriptor.h"

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
  // An error is ignored: if standard error is closed, there is no other way to tell the user. Data goes to other files,
  // and the code that writes them checks for errors.
  std::uint64_t written = 0;
  static_cast<void>(write_all(fd_, bytes_of(text), written));
}

}  // namespace c63::tools
