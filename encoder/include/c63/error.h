#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

namespace c63 {

/// What went wrong, in the classes a caller can act on. The tools turn a kind into an exit code.
enum class ErrorKind {
  internal,     ///< a defect in c63 itself
  usage,        ///< settings that contradict each other or the format
  input,        ///< input missing, unreadable, corrupt or truncated
  limit,        ///< a limit of the format or of the caller was exceeded
  output,       ///< output could not be written
  memory,       ///< not enough memory
  device,       ///< the GPU that was demanded cannot be used
  comparison,   ///< two things that should agree do not
};

/// Where it went wrong, as far as it is known.
struct ErrorPlace {
  std::string file = {};                    ///< empty for memory buffers
  std::optional<std::int64_t> frame = {};   ///< index of the frame, from 0
  std::optional<std::int64_t> offset = {};  ///< byte offset in the file
  std::string block = {};                   ///< for example "Y block 3,7"
};

/// `text` with blanks for control characters: what a file says must not break a line or move a terminal's cursor.
[[nodiscard]] std::string one_line(std::string text);

/// The only exception the library throws on account of its input. what() is one line: place, cause, id.
class Error : public std::runtime_error {
 public:
  /// `id` is stable and greppable, such as "C63-MV-RANGE".
  Error(ErrorKind kind, std::string id, std::string message, ErrorPlace place = {});

  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }
  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  [[nodiscard]] const std::string& message() const noexcept { return message_; }
  [[nodiscard]] const ErrorPlace& place() const noexcept { return place_; }

  /// The same error with those parts of the place filled in that are still unknown.
  [[nodiscard]] Error at(const ErrorPlace& outer) const;

 private:
  ErrorKind kind_;
  std::string id_;
  std::string message_;
  ErrorPlace place_;
};

}  // namespace c63
