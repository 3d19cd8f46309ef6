#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "c63/decoder.h"

namespace c63::python {

/// A coded stream in a regular file. It is read, not mapped: a file that another process shortens is an error then, while a
/// mapped one would end this process.
class StreamFile {
 public:
  /// Takes an own descriptor of the open file. Throws Error (input).
  explicit StreamFile(int descriptor);
  ~StreamFile();
  StreamFile(const StreamFile&) = delete;
  StreamFile& operator=(const StreamFile&) = delete;

  /// Fills `bytes` from `offset` on, and returns how many there were. Throws Error (input).
  [[nodiscard]] std::size_t read_at(std::uint64_t offset, std::span<std::uint8_t> bytes) const;
  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  int descriptor_;
  std::uint64_t size_;
};

/// The file from its beginning on.
[[nodiscard]] std::unique_ptr<ByteSource> bytes_of(std::shared_ptr<const StreamFile> file);

}  // namespace c63::python
