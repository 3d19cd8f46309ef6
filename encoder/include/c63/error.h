#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

namespace c63 {

/// The classes of errors that a caller can act on. The tools turn each kind into an exit code.
enum class ErrorKind {
  internal,     ///< a defect in c63 itself
  usage,        ///< settings that contradict each other or the format
  input,        ///< input missing, unreadable, corrupt or truncated
  limit,        ///< a limit of the format or of the caller was exceeded
  output,       ///< output could not be written
  memory,       ///< not enough memory
  device,       ///< the requested GPU cannot be used
  comparison,   ///< two things that should agree do not
};

/// The place of an error; unknown parts are empty.
struct ErrorPlace {
  std::string file = {};                    ///< empty for memory buffers
  std::optional<std::int64_t> frame = {};   ///< index of the frame, from 0
  std::optional<std::int64_t> offset = {};  ///< byte offset in the file
  std::string block = {};                   ///< for example "Y block 3,7"
};

/// Returns `text` with a blank in place of each control character, so that text from a file cannot break a line or move
/// a cursor.
[[nodiscard]] std::string one_line(std::string text);

/// The only exception that the library throws because of its input. what() is one line: the place, the cause and the
/// id.
class Error : public std::runtime_error {
 public:
  /// `id` is stable and easy to search for, for example "C63-MV-RANGE".
  Error(ErrorKind kind, std::string id, std::string message, ErrorPlace place = {});

  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }
  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  [[nodiscard]] const std::string& message() const noexcept { return message_; }
  [[nodiscard]] const ErrorPlace& place() const noexcept { return place_; }

  /// Returns the same error. Parts of its place that are unknown are taken from `outer`.
  [[nodiscard]] Error at(const ErrorPlace& outer) const;

 private:
  ErrorKind kind_;
  std::string id_;
  std::string message_;
  ErrorPlace place_;
};

}  // namespace c63
