#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <vector>

#include "c63/error.h"
#include "c63/media.h"
#include "io/descriptor.h"
#include "io/media_module.h"

namespace c63 {
namespace {

constexpr const char* kFile = "libc63_ffmpeg.so";
constexpr const char* kErrorId = "C63-NO-FFMPEG";

std::mutex module_mutex;  // guards the variables below
const MediaModule* ffmpeg = nullptr;
bool keeps_messages = false;
std::optional<std::uint64_t> most_allocated;

/// Returns the folder of the program or shared library that contains this code; empty if the system does not tell.
std::filesystem::path own_folder() {
  Dl_info info{};
  link_map* map = nullptr;
  std::string name;
  if (dladdr1(reinterpret_cast<void*>(&own_folder), &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) != 0 &&
      map != nullptr) {
    name = map->l_name;
  }
  std::error_code fault;
  const auto path =
      std::filesystem::canonical(name.empty() ? "/proc/self/exe" : name, fault);  // for a program, the name is empty
  if (fault == std::errc::not_enough_memory) throw std::bad_alloc();
  return fault ? std::filesystem::path() : path.parent_path();
}

/// Returns the folders where a module may be, in the order in which they are searched.
std::vector<std::filesystem::path> folders(const std::string& named) {
  if (!named.empty()) return {named};
  std::vector<std::filesystem::path> list;
  if (const auto own = own_folder(); !own.empty()) {
    // Folders relative to the file that contains this code: its own folder (for the Python package), DIR/c63 (for the
    // library in LIBDIR), and a path for programs in BINDIR or a build folder.
    list = {own, own / "c63", (own / C63_MODULE_FROM_PROGRAMS).lexically_normal()};
  }
  list.emplace_back(C63_MODULE_DIR);
  return list;
}

Error missing(const std::string& why) {
  return {ErrorKind::input, kErrorId, std::string("this needs c63's module for FFmpeg, ") + kFile + ", " + why};
}

/// Returns the path of the module's file. Throws Error if no folder has it.
std::filesystem::path find(const std::string& folder) {
  std::string looked;
  for (const std::filesystem::path& candidate : folders(folder)) {
    if (::access((candidate / kFile).c_str(), F_OK) == 0) return candidate / kFile;
    looked += (looked.empty() ? "" : ", ") + candidate.string();
  }
  throw missing("which is not installed (not found in " + looked + "): install the package c63-ffmpeg, which cpack makes");
}

struct Closer {
  void operator()(void* library) const { dlclose(library); }
};

/// Throws the error for the last failure of dlopen().
[[noreturn]] void throw_load_fault(const std::string& path, int code) {
  const char* said = dlerror();
  const std::string text = said != nullptr ? said : "unknown error";
  for (const int short_of : {ENOMEM, EMFILE, ENFILE}) {
    if (code != short_of && text.find(std::strerror(short_of)) == std::string::npos) continue;
    throw system_fault(ErrorKind::input, kErrorId, "cannot load " + path, short_of);
  }
  throw missing("which does not load: " + text + "; install FFmpeg's libraries (Debian: apt install ffmpeg)");
}

const MediaModule* load(const std::string& folder) {
  const std::string path = find(folder).string();
  errno = 0;
  std::unique_ptr<void, Closer> library(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!library) throw_load_fault(path, errno);
  const auto entry = reinterpret_cast<MediaEntry>(dlsym(library.get(), kMediaEntry));
  if (entry == nullptr) throw missing("but " + path + " is not a c63 module");
  const std::string wanted = media_version();
  const char* has = nullptr;
  const MediaModule* loaded = entry(wanted.c_str(), &has);
  if (loaded == nullptr) {
    throw missing("but " + path + " is from c63 " + has + ", and this is c63 " + wanted +
                              ": install both from one build");
  }
  if (most_allocated) loaded->limit_allocations(*most_allocated);
  if (keeps_messages) loaded->keep_messages();
  static_cast<void>(library.release());  // never closed, because its objects and errors may live as long as the process
  return loaded;
}

}  // namespace

const MediaModule& ffmpeg_module(const std::string& folder) {
  const std::scoped_lock lock(module_mutex);
  if (ffmpeg == nullptr) ffmpeg = load(folder);
  return *ffmpeg;
}

void keep_media_messages() {
  const std::scoped_lock lock(module_mutex);
  keeps_messages = true;
  if (ffmpeg != nullptr) ffmpeg->keep_messages();
}

void limit_media_allocations(std::uint64_t bytes) {
  const std::scoped_lock lock(module_mutex);
  most_allocated = bytes;
  if (ffmpeg != nullptr) ffmpeg->limit_allocations(bytes);
}

}  // namespace c63
