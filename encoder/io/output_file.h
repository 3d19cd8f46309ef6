#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "io/part_file.h"

namespace c63 {

/// How safe a finished output file is.
enum class Durability {
  process,     ///< it survives the process; the system writes it to the disk later
  power_loss,  ///< after commit(), it also survives a crash of the system or a loss of power
};

/// A file that appears under its name only when it is complete.
///
/// A new or regular target is first written to a file in the same folder, which commit() renames. Symbolic links are followed
/// and stay. An existing target keeps its permissions. Pipes, devices, stdout ("-") and named descriptors (/dev/stdout,
/// /dev/fd/3) are written directly, without a buffer. Every failure is an Error (output): C63-WRITE-OPEN, C63-WRITE-FAILED,
/// C63-WRITE-SYNC, C63-WRITE-CLOSE, C63-WRITE-RENAME, or C63-PIPE-CLOSED if the reader has gone (the program must ignore
/// SIGPIPE for that); or one of system_fault().
class OutputFile {
 public:
  explicit OutputFile(const std::string& path, Durability durability = Durability::process);
  /// Removes an unfinished file that was not committed.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// The path, or "stdout", for messages.
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Returns true if bytes go directly to the target.
  [[nodiscard]] bool direct() const { return !part_.exists(); }
  /// The file that commit() renames, so that others can write into it; empty if bytes go directly to the target.
  [[nodiscard]] std::string part_path() const { return part_.path(); }
  [[nodiscard]] std::uint64_t bytes_written() const { return written_; }

  void write(std::span<const std::uint8_t> bytes);
  void write(std::string_view text);
  /// Appends the first `bytes` bytes of another file. If it can, the system copies or shares them. Throws Error (input,
  /// C63-INPUT-SHRUNK) if the file has fewer.
  void append_file(const std::string& path, std::uint64_t bytes);

  /// Closes the file and gives it its name; nothing may be written after it. The caller decides whether an incomplete stream is
  /// worth a commit. With Durability::power_loss, the disk always holds the older file or the whole new one: the bytes reach
  /// the disk before the name changes, and the name does before this returns.
  void commit();
  /// Commits a file that a stop cut short. If an older file has bytes, that one keeps its name, and this one gets partial_name(),
  /// which is returned. Otherwise returns an empty string.
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

/// Returns true if both name the same regular file, through any links. "-" as `input` is stdin, as `output` stdout.
[[nodiscard]] bool same_file(const std::string& input, const std::string& output);

}  // namespace c63
