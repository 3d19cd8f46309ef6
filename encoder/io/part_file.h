#pragma once

#include <list>
#include <string>

namespace c63 {

/// The name that an output file has until it is complete: beside its target, so that a rename is all that is left to do,
/// and no longer than 110 bytes, however long the target's is.
class PartFile {
 public:
  PartFile() = default;
  /// Removes the file, unless it was renamed.
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  /// Creates the file with the user's mask. Returns a descriptor for writing, or -1 with errno set.
  [[nodiscard]] int create(const std::string& target);
  /// Gives the file its final name; false with errno set.
  [[nodiscard]] bool rename_to(const std::string& target);

  [[nodiscard]] std::string path() const { return exists_ ? *path_ : std::string(); }
  [[nodiscard]] bool exists() const { return exists_; }

 private:
  std::list<std::string>::iterator path_;  ///< in the list of all part files of this process, while this one exists
  bool exists_ = false;
};

/// Removes the part files of this process and ends it at once, without destructors: for the signal that must not wait.
[[noreturn]] void exit_without_part_files(int exit_code) noexcept;

}  // namespace c63
