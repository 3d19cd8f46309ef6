#include "stream_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "c63/error.h"

namespace c63::python {
namespace {

[[noreturn]] void fail(int code) {
  throw Error(ErrorKind::input, "C63-READ-FAILED", "the stream cannot be read: " + std::system_category().message(code));
}

class StreamFileBytes final : public ByteSource {
 public:
  explicit StreamFileBytes(std::shared_ptr<const StreamFile> file) : file_(std::move(file)) {}

  std::size_t read(std::span<std::uint8_t> bytes) override {
    const std::size_t count = file_->read_at(next_, bytes);
    next_ += count;
    return count;
  }
  std::optional<std::uint64_t> size() const override { return file_->size(); }
  std::size_t read_at(std::uint64_t offset, std::span<std::uint8_t> bytes) override { return file_->read_at(offset, bytes); }

 private:
  std::shared_ptr<const StreamFile> file_;
  std::uint64_t next_ = 0;
};

}  // namespace

StreamFile::StreamFile(int descriptor) : descriptor_(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0)), size_(0) {
  if (descriptor_ < 0) fail(errno);
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) {
    const int code = errno;
    ::close(descriptor_);
    fail(code);
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

StreamFile::~StreamFile() { ::close(descriptor_); }

std::size_t StreamFile::read_at(std::uint64_t offset, std::span<std::uint8_t> bytes) const {
  // Bytes that are appended after the file was opened are not part of the stream.
  const std::uint64_t left = size_ - std::min(size_, offset);
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(left, bytes.size()));
  std::size_t count = 0;
  while (count < wanted) {
    const ssize_t got = ::pread(descriptor_, bytes.data() + count, wanted - count, static_cast<off_t>(offset + count));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(errno);
    if (got == 0) break;
    count += static_cast<std::size_t>(got);
  }
  // The file became shorter than when it was opened. That is an error, not the end of the stream.
  if (count < wanted) {
    throw Error(ErrorKind::input, "C63-INPUT-SHRUNK",
                "the file had " + std::to_string(size_) + " bytes when it was opened, but is shorter now",
                {.offset = static_cast<std::int64_t>(offset + count)});
  }
  return count;
}

std::unique_ptr<ByteSource> bytes_of(std::shared_ptr<const StreamFile> file) {
  return std::make_unique<StreamFileBytes>(std::move(file));
}

}  // namespace c63::python
