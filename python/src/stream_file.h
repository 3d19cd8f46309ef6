#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "c63/decoder.h"

namespace c63::python {

/// A coded stream in a regular file. It is read, not mapped: if another process shortens the file, that is an error.
/// With a mapped file, it would end this process.
class StreamFile {
 public:
  /// Duplicates the descriptor of the open file. Throws Error (input).
  explicit StreamFile(int descriptor);
  ~StreamFile();
  StreamFile(const StreamFile&) = delete;
  StreamFile& operator=(const StreamFile&) = delete;

  /// Reads into `bytes` from file position `offset`. Returns the number of bytes read. Throws Error (input).
  [[nodiscard]] std::size_t read_at(std::uint64_t offset, std::span<std::uint8_t> bytes) const;
  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  int descriptor_;
  std::uint64_t size_;
};

/// Returns a source that reads the file from its beginning.
[[nodiscard]] std::unique_ptr<ByteSource> bytes_of(std::shared_ptr<const StreamFile> file);

}  // namespace c63::python
