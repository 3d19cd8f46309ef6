#pragma once

#include <string>

#include "c63/motion_kernel.h"

namespace c63::race {

/// A shared library that was built from a user's file.
struct BuiltSearch {
  std::string library;   ///< path of the library
  std::string command;   ///< the command that was run; empty for a .so, which is used as it is
  std::string compiler;  ///< first line of the compiler's version
  std::string messages;  ///< the compiler's warnings
  double seconds = 0;
};

/// Compiles a .c or .cpp file into `folder`. Uses the system's compiler: CC and CXX, else cc and c++; CFLAGS and
/// CXXFLAGS add flags. A .so is used as it is. Throws Error: input (the file cannot be read), usage
/// (C63-SEARCH-COMPILE, C63-SEARCH-FORM, C63-NO-COMPILER). If the compiler refuses the file, its messages are first
/// written to standard error.
[[nodiscard]] BuiltSearch compile_search(const std::string& path, const std::string& folder);

/// Compiles the host part of a .cu file, in the same way, but as C++17 and without CXXFLAGS.
[[nodiscard]] BuiltSearch compile_host_part(const std::string& path, const std::string& folder);

/// A shared library with c63_motion_search(). It is unloaded with the object.
class SearchLibrary {
 public:
  /// Throws Error: input (the library cannot be loaded), usage (C63-SEARCH-FORM: it lacks the function).
  explicit SearchLibrary(const std::string& path);
  ~SearchLibrary();
  SearchLibrary(const SearchLibrary&) = delete;
  SearchLibrary& operator=(const SearchLibrary&) = delete;

  /// Throws Error (usage, C63-SEARCH-CLOCK) if it defines functions of the C library that tell the time or give memory.
  void refuse_clocks() const;

  void operator()(const c63_motion_job& job) const { search_(&job); }

 private:
  void* handle_ = nullptr;
  void (*search_)(const c63_motion_job*) = nullptr;
};

}  // namespace c63::race
