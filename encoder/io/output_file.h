#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "io/part_file.h"

namespace c63 {

/// What a finished output file outlives.
enum class Durability {
  process,     ///< the process: the system writes it to the disk when it likes
  power_loss,  ///< also a crash of the system or the loss of power, once commit() has returned
};

/// A file that appears under its name only when it is complete.
///
/// For a new or regular target the bytes go to a file beside it, which commit() renames; a symbolic link is followed
/// and stays. An existing target keeps its permissions. Written directly, without a buffer of our own and where they
/// stand: a pipe, a device, stdout ("-"), and an open descriptor by its name (/dev/stdout, /dev/fd/3). Every failure is
/// an Error (output): C63-WRITE-OPEN, C63-WRITE-FAILED, C63-WRITE-SYNC, C63-WRITE-CLOSE, C63-WRITE-RENAME, or
/// C63-PIPE-CLOSED where the reader has gone (the program must ignore SIGPIPE for that); or one of system_fault().
class OutputFile {
 public:
  explicit OutputFile(const std::string& path, Durability durability = Durability::process);
  /// Without a commit before it, removes what was written beside the target.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// For people: the path, or "stdout".
  [[nodiscard]] const std::string& name() const { return name_; }
  /// True where bytes go to their target at once.
  [[nodiscard]] bool direct() const { return !part_.exists(); }
  /// The file that commit() renames, for others that write into it; empty where bytes go to their target at once.
  [[nodiscard]] std::string part_path() const { return part_.path(); }
  [[nodiscard]] std::uint64_t bytes_written() const { return written_; }

  void write(std::span<const std::uint8_t> bytes);
  void write(std::string_view text);
  /// The first `bytes` bytes of another file; the system copies them, or only refers to them, where it can. Throws Error (input,
  /// C63-INPUT-SHRUNK) for a file that has fewer.
  void append_file(const std::string& path, std::uint64_t bytes);

  /// Closes and gives the file its name. Also for the whole frames of a damaged stream: what is worth keeping is up to
  /// the caller. Nothing may be written after it. With Durability::power_loss the bytes reach the disk before the name
  /// changes, and the name before this returns: at every moment the disk holds the older file or the whole new one.
  void commit();
  /// The same for what a stop has cut short: an older file that has bytes keeps its name, and this one is called
  /// partial_name(), which is returned. Returns nothing if it has its own name or went to its target at once.
  [[nodiscard]] std::string commit_part();

 private:
  void open_descriptor(int descriptor);
  void open_directly(const std::string& path, int more_flags);
  void open_part();
  void sync_folder() const;
  [[nodiscard]] std::uint64_t copy_in_system(const std::string& path, std::uint64_t bytes);
  [[noreturn]] void fail(const char* id, const std::string& what, int code) const;

  std::string name_;
  Durability durability_;
  std::string target_;  // where part_ goes; links resolved
  PartFile part_;
  int descriptor_ = -1;
  std::uint64_t written_ = 0;
};

/// True if both name the same regular file, through whatever links. "-" as `input` is stdin, as `output` stdout.
[[nodiscard]] bool same_file(const std::string& input, const std::string& output);

}  // namespace c63
