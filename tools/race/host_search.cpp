#include "race/host_search.h"

#include <dlfcn.h>

#include <filesystem>

#include "c63/error.h"

namespace c63::race {

SearchLibrary::SearchLibrary(const std::string& path) {
  handle_ = ::dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr)
    throw Error(ErrorKind::input, "C63-SEARCH-LOAD", std::string("cannot be loaded: ") + ::dlerror(), {.file = path});
  search_ = reinterpret_cast<void (*)(const c63_motion_job*)>(::dlsym(handle_, "c63_motion_search"));
  if (search_ == nullptr) {
    ::dlclose(handle_);
    throw Error(ErrorKind::usage, "C63-SEARCH-FORM",
                "has no function c63_motion_search(): write C63_MOTION_EXPORT void c63_motion_search(const "
                "c63_motion_job* job) "
                "(c63/motion_kernel.h)",
                {.file = path});
  }
}

void SearchLibrary::refuse_clocks() const {
  Dl_info own{};
  ::dladdr(reinterpret_cast<void*>(search_), &own);
  for (const char* name : {"clock_gettime", "gettimeofday", "time", "clock", "malloc", "calloc", "mmap", "mprotect"}) {
    Dl_info found{};
    if (::dladdr(::dlsym(handle_, name), &found) != 0 && found.dli_fbase == own.dli_fbase) {
      throw Error(ErrorKind::usage, "C63-SEARCH-CLOCK", std::string("defines ") + name + "(): a search has no use for it");
    }
  }
}

SearchLibrary::~SearchLibrary() {
  if (handle_ != nullptr) ::dlclose(handle_);
}

}  // namespace c63::race
