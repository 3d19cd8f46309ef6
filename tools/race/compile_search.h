#pragma once

#include <string>

namespace c63::race {

/// A shared library that was made of somebody's file.
struct BuiltSearch {
  std::string library;   ///< a path
  std::string command;   ///< what was run; empty for a .so, which is taken as it is
  std::string compiler;  ///< its version, one line
  std::string messages;  ///< warnings
  double seconds = 0;
};

/// Compiles a .c or .cpp with the system's compiler (CC and CXX, else cc and c++; CFLAGS and CXXFLAGS add flags) into
/// `folder`. A .so is taken as it is. Throws Error: input (the file cannot be read), usage (C63-SEARCH-COMPILE,
/// C63-SEARCH-FORM). If the compiler refuses the file, its messages go to standard error first, line by line.
[[nodiscard]] BuiltSearch compile_search(const std::string& path, const std::string& folder);

/// Compiles the host part of a .cu.
[[nodiscard]] BuiltSearch compile_host_part(const std::string& path, const std::string& folder);

/// A folder for compiled files, removed with the object.
class BuildFolder {
 public:
  BuildFolder();
  ~BuildFolder();
  BuildFolder(const BuildFolder&) = delete;
  BuildFolder& operator=(const BuildFolder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace c63::race
