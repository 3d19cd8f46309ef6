#include "io/descriptor.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace c63 {
namespace {

bool would_block(int code) { return code == EAGAIN || code == EWOULDBLOCK; }

void wait_for(int descriptor, short event) {
  pollfd wanted{descriptor, event, 0};
  ::poll(&wanted, 1, -1);  // if poll() fails, the next transfer reports the error
}

bool is_open_for(int descriptor, int access) {
  const int flags = ::fcntl(descriptor, F_GETFL);
  return flags >= 0 && ((flags & O_ACCMODE) == O_RDWR || (flags & O_ACCMODE) == access);
}

}  // namespace

int write_all(int descriptor, std::span<const std::uint8_t> bytes, std::uint64_t& written) noexcept {
  while (!bytes.empty()) {
    const ssize_t put = ::write(descriptor, bytes.data(), std::min(bytes.size(), kMaxTransfer));
    if (put < 0) {
      const int code = errno;
      if (code == EINTR) continue;
      if (!would_block(code)) return code;
      wait_for(descriptor, POLLOUT);
      continue;
    }
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    written += static_cast<std::uint64_t>(put);
  }
  return 0;
}

std::ptrdiff_t read_some(int descriptor, std::span<std::uint8_t> bytes) noexcept {
  for (;;) {
    const ssize_t got = ::read(descriptor, bytes.data(), std::min(bytes.size(), kMaxTransfer));
    if (got >= 0) return got;
    if (errno == EINTR) continue;
    if (!would_block(errno)) return -1;
    wait_for(descriptor, POLLIN);
  }
}

bool is_open_for_reading(int descriptor) noexcept { return is_open_for(descriptor, O_RDONLY); }
bool is_open_for_writing(int descriptor) noexcept { return is_open_for(descriptor, O_WRONLY); }

bool fill_standard_descriptors() noexcept {
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(standard, F_GETFD) >= 0 || errno != EBADF) continue;
    // open() returns the lowest free number. This is `standard`, because all lower numbers are in use by now.
    const int access = standard == STDOUT_FILENO ? O_RDONLY : O_WRONLY;
    if (::open("/dev/null", access) != standard) return false;
  }
  return true;
}

Error system_fault(ErrorKind kind, const char* id, const std::string& what, int code, const ErrorPlace& place) {
  const std::string message = what + ": " + std::strerror(code);
  if (code == EMFILE || code == ENFILE) return {ErrorKind::limit, "C63-OPEN-FILES", message, place};
  if (code == EAGAIN) return {ErrorKind::limit, "C63-THREADS", message, place};
  if (code == ENOMEM) return {ErrorKind::memory, "C63-MEMORY", message, place};
  return {kind, id, message, place};
}

}  // namespace c63
