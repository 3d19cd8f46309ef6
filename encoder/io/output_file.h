#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace c63 {

/// A file that appears under its name only when it is complete.
///
/// For a new or regular target the bytes go to a file beside it, which commit() renames; a symbolic link is followed
/// and stays. An existing target keeps its permissions. A pipe, a device and stdout ("-") are written directly, without
/// a buffer of our own. Every failure is an Error (output): C63-WRITE-OPEN, C63-WRITE-FAILED, C63-WRITE-CLOSE,
/// C63-WRITE-RENAME, or C63-PIPE-CLOSED where the reader has gone (the program must ignore SIGPIPE for that).
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  /// Without a commit before it, removes what was written beside the target.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// For people: the path, or "stdout".
  [[nodiscard]] const std::string& name() const { return name_; }
  /// True where bytes go to their target at once.
  [[nodiscard]] bool direct() const { return temporary_.empty(); }
  [[nodiscard]] std::uint64_t bytes_written() const { return written_; }

  void write(std::span<const std::uint8_t> bytes);
  void write(std::string_view text);

  /// Closes and gives the file its name. Also for the whole frames of a damaged stream: what is worth keeping is up to
  /// the caller. Nothing may be written after it.
  void commit();

 private:
  [[noreturn]] void fail(const char* id, const std::string& what, int code) const;

  std::string name_;
  std::string target_;     // where temporary_ goes; links resolved
  std::string temporary_;  // empty when written directly
  int descriptor_ = -1;
  std::uint64_t written_ = 0;
};

/// True if both name the same regular file, through whatever links. "-" as `input` is stdin, as `output` stdout.
[[nodiscard]] bool same_file(const std::string& input, const std::string& output);

}  // namespace c63
