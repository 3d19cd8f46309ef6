#include "files/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "c63/error.h"
#include "files/write_descriptor.h"
#include "io/descriptor.h"
#include "io/input_file.h"
#include "files/leftovers.h"
#include "files/scratch_folder.h"

namespace c63 {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOpening = "cannot open for writing";

/// Where a path leads if its symbolic links are followed.
struct Target {
  std::string path;
  std::optional<int> own_descriptor = {};  ///< the number, if the path is /dev/stdout, /dev/fd/3, …
  bool open_elsewhere = false;             ///< the path is an open file of another process, in /proc
  bool link_loop = false;
};

std::optional<int> number_from(const std::string& text) {
  int number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  return fault == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

/// Returns where `path` leads. Links are followed, because renaming a file to a link would replace the link itself.
/// They are followed one by one, so that this also works if the file at the end is missing. Links in /proc/…/fd are not
/// followed, because their text may not be a path that can be opened.
Target follow_links(fs::path path) {
  constexpr int kMostLinks = 40;
  for (int links = 0;; ++links) {
    std::error_code fault;
    const std::string folder = fs::canonical(path.has_parent_path() ? path.parent_path() : fs::path("."), fault).string();
    if (!fault && folder.starts_with("/proc/") && folder.ends_with("/fd")) {
      const bool own = folder.starts_with(fs::canonical("/proc/self", fault).string() + "/");
      const auto number = own ? number_from(path.filename().string()) : std::nullopt;
      return {.path = path.string(), .own_descriptor = number, .open_elsewhere = !own};
    }
    if (!fs::is_symlink(path, fault)) return {.path = path.string()};
    if (links == kMostLinks) return {.path = path.string(), .link_loop = true};
    path = path.parent_path() / fs::read_symlink(path, fault);
  }
}

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

OutputFile::OutputFile(const std::string& path, Writing writing)
    : name_(path == "-" ? "stdout" : path), durability_(writing.durability) {
  if (path.empty()) throw Error(ErrorKind::usage, "C63-OUTPUT-MISSING", "no output file was given");
  Target target = path == "-" ? Target{.path = path, .own_descriptor = STDOUT_FILENO} : follow_links(path);
  if (target.link_loop) fail("C63-WRITE-OPEN", kOpening, ELOOP);
  target_ = std::move(target.path);
  if (const auto descriptor = target.own_descriptor) {
    if (!is_open_for_writing(*descriptor)) fail("C63-WRITE-OPEN", kOpening, EBADF);
    open_target_ = [this, number = *descriptor] { descriptor_ = ::fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1); };
  } else if (target.open_elsewhere) {
    open_target_ = [this] { open_directly(O_APPEND); };
  } else {
    open_part();
  }
  if (!open_target_) return;
  if (writing.at_commit) {
    // The target is not opened yet: if it is a named pipe, its reader would see an end whenever it is closed.
    if (!target.own_descriptor && ::access(target_.c_str(), W_OK) != 0) fail("C63-WRITE-OPEN", kOpening, errno);
    scratch_ = std::make_unique<ScratchFolder>("", "c63-output");
    descriptor_ = part_.create(scratch_->file("output"));
  } else {
    open_target_();
  }
  if (descriptor_ < 0) fail("C63-WRITE-OPEN", kOpening, errno);
}

void OutputFile::open_directly(int more_flags) {
  descriptor_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | more_flags);
}

void OutputFile::open_part() {
  struct stat status {};
  const bool exists = ::stat(target_.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) fail("C63-WRITE-OPEN", kOpening, errno);
  if (exists && S_ISDIR(status.st_mode)) fail("C63-WRITE-OPEN", kOpening, EISDIR);
  if (exists && !S_ISREG(status.st_mode)) {
    open_target_ = [this] { open_directly(0); };
    return;
  }
  // Write permission must be checked here, because a rename also replaces a file that cannot be written.
  if (exists && ::access(target_.c_str(), W_OK) != 0) fail("C63-WRITE-OPEN", kOpening, errno);
  descriptor_ = part_.create(target_);
  if (descriptor_ < 0) fail("C63-WRITE-OPEN", kOpening, errno);
  if (exists && ::fchmod(descriptor_, status.st_mode & 07777) != 0) {
    const int code = errno;
    ::close(descriptor_);
    fail("C63-WRITE-OPEN", "cannot keep the permissions", code);
  }
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void OutputFile::write(std::span<const std::uint8_t> bytes) {
  if (descriptor_ < 0) throw Error(ErrorKind::internal, "C63-WRITE-COMMITTED", "written after commit", {.file = name_});
  const int code = write_all(descriptor_, bytes, written_);
  if (code == 0) return;
  if (code == EPIPE) {
    throw Error(ErrorKind::output, "C63-PIPE-CLOSED",
                "the reader closed the pipe after " + std::to_string(written_) + " bytes", {.file = name_});
  }
  fail("C63-WRITE-FAILED", "cannot write after " + std::to_string(written_) + " bytes", code);
}

void OutputFile::write(std::string_view text) { write(bytes_of(text)); }

/// Lets the system copy the file, and returns the number of copied bytes. This stops early if the system cannot copy
/// between the two files. Errors are ignored here. The caller reads and writes the rest, and that reports them.
std::uint64_t OutputFile::copy_in_system(const std::string& path, std::uint64_t bytes) {
  const int input = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (input < 0) return 0;
  std::uint64_t copied = 0;
  while (copied < bytes) {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(bytes - copied, std::uint64_t{1} << 30));
    const ssize_t got = ::copy_file_range(input, nullptr, descriptor_, nullptr, wanted, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    copied += static_cast<std::uint64_t>(got);
  }
  ::close(input);
  written_ += copied;
  return copied;
}

void OutputFile::append_file(const std::string& path, std::uint64_t bytes) {
  InputFile input(path);
  if (descriptor_ < 0) throw Error(ErrorKind::internal, "C63-WRITE-COMMITTED", "written after commit", {.file = name_});
  std::uint64_t at = input.seekable() ? copy_in_system(path, bytes) : 0;
  std::vector<std::uint8_t> buffer(at < bytes ? 1 << 20 : 0);
  while (at < bytes) {
    const auto wanted = std::span(buffer).first(static_cast<std::size_t>(std::min<std::uint64_t>(bytes - at, buffer.size())));
    const std::size_t got = input.seekable() ? input.read_at(static_cast<std::int64_t>(at), wanted) : input.read(wanted);
    if (got != wanted.size()) {
      throw Error(ErrorKind::input, "C63-INPUT-SHRUNK", "the file became shorter while it was read",
                  {.file = path, .offset = static_cast<std::int64_t>(at + got)});
    }
    write(wanted);
    at += got;
  }
}

void OutputFile::commit() {
  if (descriptor_ < 0) return;
  const bool sync = durability_ == Durability::power_loss;
  // fsync() fails with EINVAL for descriptors that cannot be synced, such as a pipe.
  if (sync && ::fsync(descriptor_) != 0 && (part_.exists() || errno != EINVAL)) {
    fail("C63-WRITE-SYNC", "cannot write to the disk", errno);
  }
  const int closed = ::close(descriptor_);
  descriptor_ = -1;
  if (closed != 0) fail("C63-WRITE-CLOSE", "cannot finish writing", errno);
  if (!part_.exists()) return;
  if (scratch_ != nullptr || !part_.rename_to(target_)) return copy_to_target(errno);
  if (sync) sync_folder();
}

/// Copies the finished file to a target that is written directly. Or overwrites a target that it could not be renamed to
/// because of error `code`: a mount point, or another user's file in a folder such as /tmp.
void OutputFile::copy_to_target(int code) {
  const auto bytes = static_cast<std::uint64_t>(InputFile(part_.path()).size().value());
  if (const auto open_target = std::exchange(open_target_, nullptr)) {
    open_target();
    if (descriptor_ < 0) fail("C63-WRITE-OPEN", kOpening, errno);
  } else {
    open_directly(0);
    if (descriptor_ < 0) fail("C63-WRITE-RENAME", "cannot give the finished file its name", code);
  }
  const std::uint64_t written = std::exchange(written_, 0);
  append_file(part_.path(), bytes);
  written_ = written;
  if (scratch_ == nullptr && ::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) fail("C63-WRITE-FAILED", "cannot end the file", errno);
  const bool syncs = durability_ == Durability::power_loss;
  if (syncs && ::fsync(descriptor_) != 0 && errno != EINVAL) fail("C63-WRITE-SYNC", "cannot write to the disk", errno);
  if (::close(std::exchange(descriptor_, -1)) != 0) fail("C63-WRITE-CLOSE", "cannot finish writing", errno);
}

std::string OutputFile::commit_part() {
  struct stat older {};
  const bool has_older = part_.exists() && scratch_ == nullptr && ::stat(target_.c_str(), &older) == 0 && older.st_size > 0;
  if (has_older) target_ = partial_name(target_);
  commit();
  return has_older ? target_ : std::string();
}

void OutputFile::sync_folder() const {
  const fs::path path(target_);
  const std::string folder = path.has_parent_path() ? path.parent_path().string() : ".";
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const int synced = descriptor < 0 ? -1 : ::fsync(descriptor);
  const int code = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (synced != 0) fail("C63-WRITE-SYNC", "the file is complete, but its name cannot be written to the disk", code);
}

void OutputFile::fail(const char* id, const std::string& what, int code) const {
  const bool in_scratch = scratch_ != nullptr && open_target_;
  throw system_fault(ErrorKind::output, id, what, code, {.file = in_scratch ? scratch_->path() : name_});
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
