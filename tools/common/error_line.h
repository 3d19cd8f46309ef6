#pragma once

#include <string>
#include <string_view>

#include "c63/error.h"

namespace c63::tools {

/// An Error with a note that the program adds, such as how much was written before it.
class NotedError : public Error {
 public:
  NotedError(const Error& error, std::string note) : Error(error), note_(std::move(note)) {}
  [[nodiscard]] const std::string& note() const noexcept { return note_; }

 private:
  std::string note_;
};

/// Returns the line that the user sees: file, frame, block, message, byte offset, note, id, advice. The program's name
/// is not in it.
[[nodiscard]] std::string error_line(const Error& error);

}  // namespace c63::tools
