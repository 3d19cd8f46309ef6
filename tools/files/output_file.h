#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace c63 {

/// Returns the name that a partial file gets if an older file keeps the target's name: "out.partial.c63" for "out.c63".
[[nodiscard]] std::string partial_name(const std::string& target);

/// An output file under a temporary name, until it is complete. It lies in the target's folder, so renaming it is
/// enough. The temporary name has at most 110 bytes, even if the target's name is longer.
class PartFile {
 public:
  PartFile() = default;
  /// Removes the file, unless it was renamed.
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  /// Creates the file. Everybody may read and write it, as far as the user's umask allows that. Returns a descriptor
  /// for reading and writing, or -1 with errno set.
  [[nodiscard]] int create(const std::string& target);
  /// Gives the file its final name. Returns false with errno set if that fails.
  [[nodiscard]] bool rename_to(const std::string& target);

  [[nodiscard]] std::string path() const { return exists_ ? *path_ : std::string(); }
  [[nodiscard]] bool exists() const { return exists_; }

 private:
  std::list<std::string>::iterator path_;  ///< entry in leftovers().files; valid while exists_ is true
  bool exists_ = false;
};

/// What a finished output file must survive.
enum class Durability {
  process,     ///< the end of the process; the system writes the file to the disk later
  power_loss,  ///< after commit(), also a crash of the system or a loss of power
};

/// How an output file is written.
struct Writing {
  Durability durability = Durability::process;
  /// Pipes and devices get their bytes at commit(), from a temporary file. So what is not committed does not reach them.
  bool at_commit = false;
  Writing(Durability wanted = Durability::process, bool waits = false) : durability(wanted), at_commit(waits) {}  // NOLINT(google-explicit-constructor)
};

class ScratchFolder;

/// A file that appears under its name only when it is complete.
///
/// If the target is new or a regular file, the bytes are first written to another file in the same folder. commit()
/// then renames that file. If the system does not allow that, as for a mount point, it copies the bytes to the existing
/// file. Symbolic links are followed and stay. An existing target keeps its permissions. Pipes,
/// devices, stdout ("-") and named descriptors (/dev/stdout, /dev/fd/3) are written directly, without a buffer, unless
/// Writing::at_commit is set.
///
/// Every failure is an Error (output): C63-WRITE-OPEN, C63-WRITE-FAILED, C63-WRITE-SYNC, C63-WRITE-CLOSE,
/// C63-WRITE-RENAME, or C63-PIPE-CLOSED if the reader of a pipe is gone (the program must ignore SIGPIPE for that). It
/// may also be an error of system_fault(). An empty path is an Error (usage, C63-OUTPUT-MISSING).
class OutputFile {
 public:
  explicit OutputFile(const std::string& path, Writing writing = {});
  /// Removes the unfinished file if it was not committed.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// The path, or "stdout"; for messages.
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Returns true if bytes are written directly to the target.
  [[nodiscard]] bool direct() const { return !part_.exists(); }
  /// The path of the file that commit() renames or copies, so that others can write to it. Empty if direct().
  [[nodiscard]] std::string part_path() const { return part_.path(); }
  [[nodiscard]] std::uint64_t bytes_written() const { return written_; }

  void write(std::span<const std::uint8_t> bytes);
  void write(std::string_view text);
  /// Appends the first `bytes` bytes of another file. The system copies or shares them itself, if it can. Throws Error
  /// (input, C63-INPUT-SHRUNK) if the file has fewer bytes.
  void append_file(const std::string& path, std::uint64_t bytes);

  /// Closes the file and gives it its name. Nothing may be written after it. The caller decides whether an incomplete
  /// stream should be committed. With Durability::power_loss, the disk has either the older file or the whole new one
  /// at any time. The bytes are on the disk before the name changes, and the new name is on the disk before commit()
  /// returns.
  void commit();
  /// Commits a file although a stop has cut it short. If an older file that is not empty has the name, the older file
  /// keeps it. The new file then gets the name partial_name(), which is returned. Otherwise returns an empty string.
  [[nodiscard]] std::string commit_part();

 private:
  void open_directly(int more_flags);
  void open_part();
  void copy_to_target(int code);
  void sync_folder() const;
  [[nodiscard]] std::uint64_t copy_in_system(const std::string& path, std::uint64_t bytes);
  [[noreturn]] void fail(const char* id, const std::string& what, int code) const;

  std::string name_;
  Durability durability_;
  std::string target_;  // the final path of part_, with links resolved
  std::function<void()> open_target_;       // opens a target that is written directly
  std::unique_ptr<ScratchFolder> scratch_;  // has part_ if such a target is written at commit()
  PartFile part_;
  int descriptor_ = -1;
  std::uint64_t written_ = 0;
};

/// Returns true if both names are the same regular file, also through links. "-" is stdin as `input` and stdout as
/// `output`.
[[nodiscard]] bool same_file(const std::string& input, const std::string& output);

}  // namespace c63
