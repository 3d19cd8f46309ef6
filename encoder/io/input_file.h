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
  /// "-" is stdin. Throws Error (input, C63-INPUT-OPEN) for what is missing, a directory or not readable.
  /// After a stop request, what a pipe or device would have to be waited for is taken for its end.
  explicit InputFile(const std::string& path, std::stop_token stop = {});
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// For people: the path, or "stdin".
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Bytes of a regular file, from where it was opened; nothing for a pipe or device.
  [[nodiscard]] std::optional<std::int64_t> size() const { return size_; }
  /// True for a regular file: read_at() works.
  [[nodiscard]] bool seekable() const { return size_.has_value(); }
  /// Where the next read() begins.
  [[nodiscard]] std::int64_t position() const { return position_; }

  /// The next `bytes` bytes, fewer at the end, without taking them.
  [[nodiscard]] std::span<const std::uint8_t> peek(std::size_t bytes);
  /// Fills `bytes`; returns how many there were, fewer only at the end.
  [[nodiscard]] std::size_t read(std::span<std::uint8_t> bytes);
  /// Reads what there is, waiting only for the first byte; 0 at the end.
  [[nodiscard]] std::size_t read_some(std::span<std::uint8_t> bytes);
  /// As read(), from `offset` of a seekable file; any number of threads may call it at once.
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
