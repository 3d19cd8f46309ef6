#pragma once

#include <list>
#include <string>

namespace c63 {

/// A folder for temporary files. It is removed with its contents, with the object or when a signal ends the process.
class ScratchFolder {
 public:
  /// Makes a folder NAME-XXXXXX in `parent` ("": the system's temporary folder). Throws Error (output, C63-WRITE-OPEN).
  ScratchFolder(const std::string& parent, const std::string& name);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return *path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return path() + "/" + name; }

 private:
  std::list<std::string>::iterator path_;  ///< in the list of this process's folders
};

}  // namespace c63
