#pragma once

#include <list>
#include <string>

namespace c63 {

/// Returns the name that a partial file gets if an older file keeps the target's name: "out.partial.c63" for "out.c63".
[[nodiscard]] std::string partial_name(const std::string& target);

/// An output file under a temporary name, until it is complete. It lies in the target's folder, so renaming it is
/// enough. The temporary name has at most 110 bytes, even if the target's name is longer.
class PartFile {
 public:
  PartFile() = default;
  /// Removes the file, unless it was renamed.
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  /// Creates the file. Everybody may read and write it, as far as the user's umask allows that. Returns a descriptor
  /// for reading and writing, or -1 with errno set.
  [[nodiscard]] int create(const std::string& target);
  /// Gives the file its final name. Returns false with errno set if that fails.
  [[nodiscard]] bool rename_to(const std::string& target);

  [[nodiscard]] std::string path() const { return exists_ ? *path_ : std::string(); }
  [[nodiscard]] bool exists() const { return exists_; }

 private:
  std::list<std::string>::iterator path_;  ///< entry in leftovers().files; valid while exists_ is true
  bool exists_ = false;
};

}  // namespace c63
