#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace c63 {

/// A file, pipe or device opened for reading. Errors are Error (input) with the file's name.
class InputFile {
 public:
  /// "-" is stdin. Throws Error (input, C63-INPUT-OPEN) if the path is missing, unreadable or a directory.
  /// After a stop request, a pipe or device counts as ended as soon as a read would wait.
  explicit InputFile(const std::string& path, std::stop_token stop = {});
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// The path, or "stdin", for messages.
  [[nodiscard]] const std::string& name() const { return name_; }
  /// The bytes of a regular file, from where it was opened; empty for a pipe or device.
  [[nodiscard]] std::optional<std::int64_t> size() const { return size_; }
  /// Returns true for a regular file: only then does read_at() work.
  [[nodiscard]] bool seekable() const { return size_.has_value(); }
  /// The position of the next read().
  [[nodiscard]] std::int64_t position() const { return position_; }

  /// The next `bytes` bytes, without taking them; fewer at the end.
  [[nodiscard]] std::span<const std::uint8_t> peek(std::size_t bytes);
  /// Fills `bytes` and returns their number; fewer only at the end.
  [[nodiscard]] std::size_t read(std::span<std::uint8_t> bytes);
  /// Reads the bytes that are available. Waits only for the first one; returns 0 at the end.
  [[nodiscard]] std::size_t read_some(std::span<std::uint8_t> bytes);
  /// Reads like read() from `offset` of a seekable file. Any number of threads may call it at once.
  [[nodiscard]] std::size_t read_at(std::int64_t offset, std::span<std::uint8_t> bytes) const;

 private:
  [[nodiscard]] std::size_t read_descriptor(std::span<std::uint8_t> bytes) const;
  [[nodiscard]] std::size_t read_piece(std::int64_t offset, std::span<std::uint8_t> bytes) const;
  [[nodiscard]] bool wait_for_bytes() const;

  std::string name_;
  std::stop_token stop_;
  int descriptor_ = -1;
  bool owned_ = false;
  std::int64_t base_ = 0;  // a redirected stdin may begin anywhere
  std::optional<std::int64_t> size_;
  std::int64_t position_ = 0;
  std::vector<std::uint8_t> peeked_;
  std::size_t taken_ = 0;  // of peeked_
};

}  // namespace c63
