#include "files/scratch_folder.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <system_error>

#include "c63/error.h"
#include "io/descriptor.h"
#include "files/leftovers.h"

namespace c63 {
namespace {

namespace fs = std::filesystem;

fs::path folder_for_temporary_files() {
  std::error_code fault;
  if (const char* named = std::getenv("TMPDIR"); named != nullptr && *named == '\0') return "/tmp";  // as mktemp does
  fs::path folder = fs::temp_directory_path(fault);
  if (!fault) return folder;
  throw Error(ErrorKind::output, "C63-WRITE-OPEN", "no folder for temporary files (TMPDIR, /tmp): " + fault.message());
}

}  // namespace

ScratchFolder::ScratchFolder(const std::string& parent, const std::string& name) {
  const fs::path outer = parent.empty() ? folder_for_temporary_files() : fs::path(parent);
  std::list<std::string> one = {(outer / (name + "-XXXXXX")).string()};
  // exit_without_leftovers() needs this mutex, too. So it cannot end the process between the creation of a folder and
  // its entry in the list.
  const std::lock_guard lock(leftovers().mutex);
  if (::mkdtemp(one.front().data()) == nullptr) {
    throw system_fault(ErrorKind::output, "C63-WRITE-OPEN", "cannot make a temporary folder here", errno, {.file = outer.string()});
  }
  path_ = one.begin();
  leftovers().folders.splice(leftovers().folders.end(), one);
}

ScratchFolder::~ScratchFolder() {
  remove_folder(path_->c_str());  // if something cannot be removed, it stays
  const std::lock_guard lock(leftovers().mutex);
  leftovers().folders.erase(path_);
}

}  // namespace c63
