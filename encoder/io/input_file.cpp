#include "io/input_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "c63/error.h"
#include "c63/thread_pool.h"
#include "io/descriptor.h"

namespace c63 {
InputFile::InputFile(const std::string& path, std::stop_token stop)
    : name_(path == "-" ? "stdin" : path), stop_(std::move(stop)), owned_(path != "-") {
  const auto refuse = [&](int code) {
    return system_fault(ErrorKind::input, "C63-INPUT-OPEN", "cannot open for reading", code, {.file = name_});
  };
  if (path.empty()) throw Error(ErrorKind::usage, "C63-INPUT-MISSING", "no input file was given");
  // A named pipe would block here until somebody opens it for writing, and a stop could not end that.
  const int wait = stop_.stop_possible() ? O_NONBLOCK : 0;
  descriptor_ = owned_ ? ::open(path.c_str(), O_RDONLY | O_CLOEXEC | wait) : STDIN_FILENO;
  if (descriptor_ < 0) throw refuse(errno);
  if (owned_ && wait != 0) ::fcntl(descriptor_, F_SETFL, ::fcntl(descriptor_, F_GETFL) & ~O_NONBLOCK);
  struct stat status {};
  int fault = ::fstat(descriptor_, &status) != 0 ? errno : 0;
  if (fault == 0 && S_ISDIR(status.st_mode)) fault = EISDIR;
  if (fault == 0 && (::fcntl(descriptor_, F_GETFL) & O_ACCMODE) == O_WRONLY) fault = EBADF;
  if (fault != 0) {
    if (owned_) ::close(descriptor_);
    throw refuse(fault);
  }
  if (S_ISREG(status.st_mode)) {
    base_ = owned_ ? 0 : std::max<std::int64_t>(0, ::lseek(descriptor_, 0, SEEK_CUR));
    size_ = std::max<std::int64_t>(0, status.st_size - base_);
  }
}

InputFile::~InputFile() {
  if (owned_) ::close(descriptor_);
}

bool InputFile::wait_for_bytes() const {
  constexpr int kLookEveryMs = 50;
  for (;;) {
    pollfd wanted{descriptor_, POLLIN, 0};
    if (::poll(&wanted, 1, kLookEveryMs) != 0) return true;  // also true after errors, which read() then reports
    if (stop_.stop_requested()) return false;
  }
}

std::size_t InputFile::read_descriptor(std::span<std::uint8_t> bytes) const {
  if (!seekable() && stop_.stop_possible() && !wait_for_bytes()) return 0;
  for (;;) {
    const ssize_t got = ::read(descriptor_, bytes.data(), std::min(bytes.size(), kMaxTransfer));
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) {
      throw system_fault(ErrorKind::input, "C63-INPUT-READ", "cannot read", errno, {.file = name_});
    }
    pollfd wanted{descriptor_, POLLIN, 0};  // the descriptor is non-blocking, and has no data yet
    ::poll(&wanted, 1, -1);
  }
}

std::span<const std::uint8_t> InputFile::peek(std::size_t bytes) {
  peeked_.erase(peeked_.begin(), peeked_.begin() + static_cast<std::ptrdiff_t>(taken_));
  taken_ = 0;
  while (peeked_.size() < bytes) {
    const std::size_t before = peeked_.size();
    peeked_.resize(bytes);
    const std::size_t got = read_descriptor(std::span(peeked_).subspan(before));
    peeked_.resize(before + got);
    if (got == 0) break;
  }
  return std::span(peeked_).first(std::min(bytes, peeked_.size()));
}

std::size_t InputFile::read_some(std::span<std::uint8_t> bytes) {
  if (bytes.empty()) return 0;
  std::size_t got = std::min(bytes.size(), peeked_.size() - taken_);
  if (got > 0) {
    std::memcpy(bytes.data(), peeked_.data() + taken_, got);
    taken_ += got;
  } else {
    got = read_descriptor(bytes);
  }
  position_ += static_cast<std::int64_t>(got);
  return got;
}

std::size_t InputFile::read(std::span<std::uint8_t> bytes) {
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const std::size_t got = read_some(bytes.subspan(filled));
    if (got == 0) break;
    filled += got;
  }
  return filled;
}

std::size_t InputFile::read_at(std::int64_t offset, std::span<std::uint8_t> bytes) const {
  // Large reads are divided into pieces for several threads. One thread alone copies from the page cache at only a
  // fraction of the memory's rate.
  constexpr std::size_t kPiece = 256 << 10;
  if (bytes.size() < 2 * kPiece) return read_piece(offset, bytes);
  std::atomic<std::size_t> filled = 0;
  parallel_for((bytes.size() + kPiece - 1) / kPiece, [&](std::size_t i) {
    const std::span<std::uint8_t> piece = bytes.subspan(i * kPiece, std::min(kPiece, bytes.size() - i * kPiece));
    filled += read_piece(offset + static_cast<std::int64_t>(i * kPiece), piece);
  });
  return filled;
}

std::size_t InputFile::read_piece(std::int64_t offset, std::span<std::uint8_t> bytes) const {
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = ::pread(descriptor_, bytes.data() + filled, std::min(bytes.size() - filled, kMaxTransfer),
                                base_ + offset + static_cast<std::int64_t>(filled));
    if (got == 0) break;
    if (got < 0) {
      if (errno == EINTR) continue;
      throw system_fault(ErrorKind::input, "C63-INPUT-READ", "cannot read", errno,
                         {.file = name_, .offset = offset + static_cast<std::int64_t>(filled)});
    }
    filled += static_cast<std::size_t>(got);
  }
  return filled;
}

namespace {

class FileByteSource final : public ByteSource {
 public:
  explicit FileByteSource(std::unique_ptr<InputFile> file) : file_(std::move(file)) {}

  std::size_t read(std::span<std::uint8_t> bytes) override {
    const std::size_t count = file_->read_some(bytes);
    if (count == 0 && !bytes.empty() && file_->size() && file_->position() < *file_->size()) {
      throw Error(ErrorKind::input, "C63-INPUT-SHRUNK",
                  "the file had " + std::to_string(*file_->size()) + " bytes when it was opened, but is shorter now",
                  {.file = file_->name(), .offset = file_->position()});
    }
    return count;
  }
  std::optional<std::uint64_t> size() const override {
    const auto size = file_->size();
    return size ? std::optional(static_cast<std::uint64_t>(*size)) : std::nullopt;
  }
  std::size_t read_at(std::uint64_t offset, std::span<std::uint8_t> bytes) override {
    return offset > INT64_MAX ? 0 : file_->read_at(static_cast<std::int64_t>(offset), bytes);
  }

 private:
  std::unique_ptr<InputFile> file_;
};

}  // namespace

std::unique_ptr<ByteSource> open_byte_source(const std::string& path, std::stop_token stop) {
  return make_byte_source(std::make_unique<InputFile>(path, std::move(stop)));
}

std::unique_ptr<ByteSource> make_byte_source(std::unique_ptr<InputFile> file) {
  return std::make_unique<FileByteSource>(std::move(file));
}

}  // namespace c63
