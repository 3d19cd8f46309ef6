#pragma once

#include <list>
#include <string>

namespace c63 {

/// "out.partial.c63" for "out.c63": what a part is called if an older file keeps the name.
[[nodiscard]] std::string partial_name(const std::string& target);

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
  std::list<std::string>::iterator path_;  ///< in the list of this process's unfinished files, while this one exists
  bool exists_ = false;
};

}  // namespace c63
