#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "c63/motion_kernel.h"
#include "race/race_judge.h"

namespace c63::race {

/// A search of c63/motion_kernel.h for the CPU.
using HostSearch = std::function<void(const c63_motion_job&)>;

/// A shared library with c63_motion_search(), which stays loaded with the object.
class SearchLibrary {
 public:
  /// Throws Error: input (it cannot be loaded), usage (C63-SEARCH-FORM: it has no such function).
  explicit SearchLibrary(const std::string& path);
  ~SearchLibrary();
  SearchLibrary(const SearchLibrary&) = delete;
  SearchLibrary& operator=(const SearchLibrary&) = delete;

  void operator()(const c63_motion_job& job) const { search_(&job); }

 private:
  void* handle_ = nullptr;
  void (*search_)(const c63_motion_job*) = nullptr;
};

/// Has a search find the motion of all cases, and judges what it finds. Planes and results lie against pages that may
/// not be touched, at their end in one search of a case and at their start in another. Planes may not be written.
/// `tell` is called with the name of the case that comes next.
void judge_on_host(Judge& judge, const HostSearch& search, std::uint32_t seed, int range,
                   const std::function<void(const std::string&)>& tell);

/// Ends this process with one line in `file` if a search touches memory that is not its own. The line says where, as
/// far as judge_on_host() knows the place.
void catch_crashes(const std::string& file);

}  // namespace c63::race
