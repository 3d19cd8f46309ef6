#include "io/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "c63/error.h"

namespace c63 {
namespace {

constexpr std::size_t kMaxTransfer = std::size_t{1} << 30;

// A rename onto a symbolic link would replace the link; this is also right for a link to what does not exist yet.
std::string follow_links(std::filesystem::path path) {
  std::error_code fault;
  for (int links = 0; links < 40 && std::filesystem::is_symlink(path, fault); ++links) {
    path = path.parent_path() / std::filesystem::read_symlink(path, fault);
  }
  return path.string();
}

int open_new_beside(const std::string& target, std::string& temporary) {
  for (int attempt = 0;; ++attempt) {
    temporary = target + ".part-" + std::to_string(::getpid()) + "-" + std::to_string(attempt);
    const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EEXIST || attempt == 999) return descriptor;
  }
}

}  // namespace

OutputFile::OutputFile(const std::string& path) : name_(path == "-" ? "stdout" : path) {
  if (path.empty()) throw Error(ErrorKind::usage, "C63-OUTPUT-MISSING", "no output file was given");
  const std::string opening = "cannot open for writing";
  if (path == "-") {
    descriptor_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (descriptor_ < 0) fail("C63-WRITE-OPEN", opening, errno);
    return;
  }
  target_ = follow_links(path);
  struct stat status {};
  const bool exists = ::stat(target_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail("C63-WRITE-OPEN", opening, EISDIR);
  if (exists && !S_ISREG(status.st_mode)) {
    descriptor_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor_ < 0) fail("C63-WRITE-OPEN", opening, errno);
    return;
  }
  // A rename would also replace a file that nobody may write.
  if (exists && ::access(target_.c_str(), W_OK) != 0) fail("C63-WRITE-OPEN", opening, errno);
  descriptor_ = open_new_beside(target_, temporary_);
  if (descriptor_ < 0) {
    const int code = errno;
    temporary_.clear();
    fail("C63-WRITE-OPEN", opening, code);
  }
  if (exists && ::fchmod(descriptor_, status.st_mode & 07777) != 0) {
    const int code = errno;
    ::close(descriptor_);
    ::unlink(temporary_.c_str());
    fail("C63-WRITE-OPEN", "cannot keep the permissions", code);
  }
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::write(std::span<const std::uint8_t> bytes) {
  if (descriptor_ < 0) throw Error(ErrorKind::internal, "C63-WRITE-COMMITTED", "written after commit", {.file = name_});
  while (!bytes.empty()) {
    const ssize_t put = ::write(descriptor_, bytes.data(), std::min(bytes.size(), kMaxTransfer));
    if (put < 0) {
      if (errno == EINTR) continue;
      if (errno == EPIPE) {
        throw Error(ErrorKind::output, "C63-PIPE-CLOSED",
                    "the reader closed the pipe after " + std::to_string(written_) + " bytes", {.file = name_});
      }
      fail("C63-WRITE-FAILED", "cannot write after " + std::to_string(written_) + " bytes", errno);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    written_ += static_cast<std::uint64_t>(put);
  }
}

void OutputFile::write(std::string_view text) {
  write(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

void OutputFile::commit() {
  if (descriptor_ < 0) return;
  const int closed = ::close(descriptor_);
  descriptor_ = -1;
  if (closed != 0) fail("C63-WRITE-CLOSE", "cannot finish writing", errno);
  if (temporary_.empty()) return;
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
    fail("C63-WRITE-RENAME", "cannot give the finished file its name", errno);
  }
  temporary_.clear();
}

void OutputFile::fail(const char* id, const std::string& what, int code) const {
  throw Error(ErrorKind::output, id, what + ": " + std::strerror(code), {.file = name_});
}

bool same_file(const std::string& input, const std::string& output) {
  const auto inspect = [](const std::string& path, int standard, struct stat& status) {
    return (path == "-" ? ::fstat(standard, &status) : ::stat(path.c_str(), &status)) == 0 && S_ISREG(status.st_mode);
  };
  struct stat a {};
  struct stat b {};
  return inspect(input, STDIN_FILENO, a) && inspect(output, STDOUT_FILENO, b) && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

}  // namespace c63
