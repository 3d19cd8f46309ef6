#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

#include "io/output_file.h"

namespace c63::tools {

/// A text file that is written in pieces, so that memory does not grow with its length.
class TextFile {
 public:
  static constexpr std::size_t kPiece = std::size_t{1} << 20;
  /// The most memory that a file takes, in bytes. A string of one piece grows by doubling; while it grows, its old and its
  /// new memory exist.
  static constexpr std::uint64_t kMemory = 3 * kPiece;

  explicit TextFile(const std::string& path, Durability durability = Durability::process) : file_(path, durability) {}

  template <typename... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
    if (text_.size() >= kPiece) flush();
  }
  /// Writes what was added so far, so that the reader of a pipe gets it at once.
  void flush() {
    file_.write(text_);
    text_.clear();
  }
  void commit() {
    flush();
    file_.commit();
  }
  /// See OutputFile::commit_part().
  [[nodiscard]] std::string commit_part() {
    flush();
    return file_.commit_part();
  }

 private:
  OutputFile file_;
  std::string text_;
};

}  // namespace c63::tools
