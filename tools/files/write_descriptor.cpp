#include "files/write_descriptor.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "io/descriptor.h"

namespace c63 {

int write_all(int descriptor, std::span<const std::uint8_t> bytes, std::uint64_t& written) noexcept {
  while (!bytes.empty()) {
    const ssize_t put = ::write(descriptor, bytes.data(), std::min(bytes.size(), kMaxTransfer));
    if (put < 0) {
      const int code = errno;
      if (code == EINTR) continue;
      if (code != EAGAIN && code != EWOULDBLOCK) return code;
      pollfd wanted{descriptor, POLLOUT, 0};
      ::poll(&wanted, 1, -1);  // if poll() fails, the next write() reports the error
      continue;
    }
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    written += static_cast<std::uint64_t>(put);
  }
  return 0;
}

bool is_open_for_writing(int descriptor) noexcept {
  const int flags = ::fcntl(descriptor, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

bool fill_standard_descriptors() noexcept {
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(standard, F_GETFD) >= 0 || errno != EBADF) continue;
    // open() returns the lowest free number. This is `standard`, because all lower numbers are in use by now.
    const int access = standard == STDOUT_FILENO ? O_RDONLY : O_WRONLY;
    if (::open("/dev/null", access) != standard) return false;
  }
  return true;
}

}  // namespace c63
