#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "c63/decoder.h"

namespace c63 {

/// A file, pipe or device that is open for reading. Errors of opening and reading have the file's name. They are Error
/// (input), unless system_fault() makes another kind of them.
class InputFile {
 public:
  /// Opens `path`; "-" is stdin. Throws Error (input, C63-INPUT-OPEN) if it is missing, unreadable or a directory, and
  /// Error (usage, C63-INPUT-MISSING) if `path` is empty. Once a stop was requested, a pipe or device ends at the first
  /// read that would have to wait.
  explicit InputFile(const std::string& path, std::stop_token stop = {});
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// The path, or "stdin"; for messages.
  [[nodiscard]] const std::string& name() const { return name_; }
  /// The number of bytes of a regular file, from the position at which it was opened. Empty for a pipe or device.
  [[nodiscard]] std::optional<std::int64_t> size() const { return size_; }
  /// Returns true for a regular file. read_at() works only then.
  [[nodiscard]] bool seekable() const { return size_.has_value(); }
  /// The position of the next read(), in bytes.
  [[nodiscard]] std::int64_t position() const { return position_; }

  /// Returns the next `bytes` bytes without taking them; fewer at the end of the file. Valid until the next call.
  [[nodiscard]] std::span<const std::uint8_t> peek(std::size_t bytes);
  /// Fills `bytes` and returns the number of bytes read, which is lower only at the end of the file.
  [[nodiscard]] std::size_t read(std::span<std::uint8_t> bytes);
  /// Reads the bytes that are available, at most bytes.size(). Waits only until there is at least one byte. Returns the
  /// number of bytes; 0 at the end of the file.
  [[nodiscard]] std::size_t read_some(std::span<std::uint8_t> bytes);
  /// Reads as read() does, but from `offset` of a seekable file. Any number of threads may call it at once.
  [[nodiscard]] std::size_t read_at(std::int64_t offset, std::span<std::uint8_t> bytes) const;

 private:
  [[nodiscard]] std::size_t read_descriptor(std::span<std::uint8_t> bytes) const;
  [[nodiscard]] std::size_t read_piece(std::int64_t offset, std::span<std::uint8_t> bytes) const;
  [[nodiscard]] bool wait_for_bytes() const;

  std::string name_;
  std::stop_token stop_;
  int descriptor_ = -1;
  bool owned_ = false;
  std::int64_t base_ = 0;  // where the file begins: a redirected stdin may be open at any position
  std::optional<std::int64_t> size_;
  std::int64_t position_ = 0;
  std::vector<std::uint8_t> peeked_;
  std::size_t taken_ = 0;  // bytes of peeked_ that were already read
};

/// Opens a coded stream: a file, a pipe or, for "-", stdin. Throws Error (input). If a stop is requested while a pipe
/// is waited for, the stream ends at this point.
[[nodiscard]] std::unique_ptr<ByteSource> open_byte_source(const std::string& path, std::stop_token stop = {});
/// Makes a source of an input of which nothing has been read yet.
[[nodiscard]] std::unique_ptr<ByteSource> make_byte_source(std::unique_ptr<InputFile> file);

}  // namespace c63
