#include "race/user_search.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "c63/error.h"
#include "common/digest.h"
#include "common/errors.h"
#include "files/leftovers.h"
#include "files/scratch_folder.h"
#include "files/write_descriptor.h"
#include "race/host_search.h"

namespace c63::race {
namespace {

namespace fs = std::filesystem;

std::vector<std::uint8_t> bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
  std::error_code ignored;
  if (!file.is_open() || fs::is_directory(path, ignored)) {
    throw Error(ErrorKind::input, "C63-OPEN", "cannot be read", {.file = path});
  }
  return bytes;
}

UserSearch named(const std::string& path, const std::vector<std::uint8_t>& bytes) {
  tools::Sha256 digest;
  digest.add(bytes);
  return {.name = fs::path(path).filename().string(), .digest = digest.finish()};
}

/// A compiled search, and the folder with its copies.
struct Copies {
  ScratchFolder folder{"", "c63-race"};
  std::string library;
  std::atomic<int> count = 0;

  /// Loads a copy: a library that is loaded twice under one name would share its variables. The library's own name
  /// ends in .so, so it is no copy's name.
  [[nodiscard]] std::shared_ptr<SearchLibrary> load() {
    const std::string copy = folder.file(std::to_string(count++) + ".copy");
    std::error_code fault;
    fs::copy_file(library, copy, fault);
    if (fault) throw Error(ErrorKind::output, "C63-OUTPUT", "cannot be written: " + fault.message(), {.file = copy});
    auto loaded = std::make_shared<SearchLibrary>(copy);
    fs::remove(copy, fault);
    return loaded;
  }
};

thread_local pid_t in_search_of = 0;      ///< the process, if this thread runs code of a search; a search may fork
std::atomic<int> threads_in_search = 0;

/// Ends the program as after an error if a search ends it: the encode is not finished, so its exit code must not be 0. A
/// search may also have threads, from which only exit code 0 is noticed.
void refuse_end_by_search(int exit_code) {
  static std::atomic<bool> is_told = false;
  thread_local bool is_teller = false;
  const bool is_end_by_search = in_search_of == ::getpid() || (in_search_of == 0 && exit_code == 0 && threads_in_search > 0);
  if (!is_end_by_search || is_teller) return;
  while (is_told.exchange(true)) ::pause();  // another thread ends the program
  is_teller = true;
  constexpr std::string_view kLine = ": the search ends the program [C63-SEARCH-EXIT]; see --help\n";
  std::uint64_t written = 0;
  static_cast<void>(write_all(STDERR_FILENO, c63::bytes_of(std::string(program_invocation_short_name).append(kLine)), written));
  exit_without_leftovers(tools::exit_code(ErrorKind::usage));
}

/// Calls `run`, which runs code of a search file. See refuse_end_by_search().
template <typename Run>
auto guarded(const Run& run) {
  static const int registered = std::atexit([] { refuse_end_by_search(0); });
  static_cast<void>(registered);
  struct Mark {
    Mark() {
      in_search_of = ::getpid();
      ++threads_in_search;
    }
    ~Mark() {
      --threads_in_search;
      in_search_of = 0;
    }
  } const mark;
  return run();
}

}  // namespace

std::shared_ptr<const UserSearch> own_host_search(const std::string& path) {
  UserSearch own = named(path, bytes_of(path));
  const auto copies = std::make_shared<Copies>();
  copies->library = compile_search(path, copies->folder.path()).library;
  try {  // a file without the function is refused before anything is encoded
    guarded([&] { static_cast<void>(SearchLibrary(copies->library)); });
  } catch (const Error& error) {
    throw Error(error.kind(), error.id(), error.message(), {.file = path});
  }
  own.open = [copies]() -> UserSearch::Function {
    return [library = guarded([&] { return copies->load(); })](const c63_motion_job& job) {
      guarded([&] { (*library)(job); });
    };
  };
  return std::make_shared<const UserSearch>(std::move(own));
}

std::shared_ptr<const UserSearch> own_gpu_search(const std::string& path) {
  const std::vector<std::uint8_t> bytes = bytes_of(path);
  UserSearch own = named(path, bytes);
  own.kernel = path;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!path.ends_with(".cu") || text.find("C63_MOTION_HOST") == std::string_view::npos) {
    return std::make_shared<const UserSearch>(std::move(own));
  }
  const auto folder = std::make_shared<ScratchFolder>("", "c63-race");
  own.kernel_host_part = compile_host_part(path, folder->path()).library;
  return {new UserSearch(std::move(own)), [folder](const UserSearch* search) { delete search; }};
}

}  // namespace c63::race

// These take the place of the C library's functions in the whole program, so in searches, too. They run nothing at exit.
extern "C" {
void _exit(int exit_code) {
  c63::race::refuse_end_by_search(exit_code);
  for (;;) ::syscall(SYS_exit_group, exit_code);
}
void _Exit(int exit_code) noexcept { _exit(exit_code); }
void quick_exit(int exit_code) noexcept { _exit(exit_code); }
}
