#pragma once

#include <list>
#include <string>

namespace c63 {

/// A folder for temporary files. It is removed with its contents by the destructor, or when a signal ends the process.
class ScratchFolder {
 public:
  /// Creates a folder NAME-XXXXXX in `parent` ("": the system's temporary folder). Throws Error (output,
  /// C63-WRITE-OPEN).
  ScratchFolder(const std::string& parent, const std::string& name);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return *path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return path() + "/" + name; }

 private:
  std::list<std::string>::iterator path_;  ///< entry in leftovers().folders
};

}  // namespace c63
