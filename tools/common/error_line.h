#pragma once

#include <string>
#include <string_view>

#include "c63/error.h"

namespace c63::tools {

/// An error, with what a program adds to it, such as how much was written before.
class NotedError : public Error {
 public:
  NotedError(const Error& error, std::string note) : Error(error), note_(std::move(note)) {}
  [[nodiscard]] const std::string& note() const noexcept { return note_; }

 private:
  std::string note_;
};

/// Returns advice on an error: for its id if there is any, else for its kind.
[[nodiscard]] std::string_view advice(const Error& error);

/// Returns the line that the user sees: file, frame, block, what, byte offset, note, id, advice. Without the program's
/// name.
[[nodiscard]] std::string error_line(const Error& error);

}  // namespace c63::tools
