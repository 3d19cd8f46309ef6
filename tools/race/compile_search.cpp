#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "c63/error.h"
#include "common/process.h"
#include "race/host_search.h"

namespace c63::tools::motion_kernel_files {
extern const std::string_view header;
}  // namespace c63::tools::motion_kernel_files

namespace c63::race {
namespace {

namespace fs = std::filesystem;

constexpr double kMostSeconds = 60;

void require_readable(const std::string& path) {
  const std::ifstream file(path, std::ios::binary);
  std::error_code ignored;
  if (!file.is_open() || fs::is_directory(path, ignored)) {
    throw Error(ErrorKind::input, "C63-OPEN", "cannot be read", {.file = path});
  }
}

/// Returns the value of an environment variable, or `otherwise` if it is empty.
std::string variable_or(const char* variable, const char* otherwise) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

BuiltSearch compile(const std::string& compiler, const std::string& flags, const std::string& path,
                    const std::string& folder) {
  const std::string include = folder + "/include";
  fs::create_directories(include + "/c63");
  std::ofstream(include + "/c63/motion_kernel.h") << tools::motion_kernel_files::header;
  BuiltSearch built;
  built.library = folder + "/" + fs::path(path).stem().string() + ".so";
  built.command = compiler + " " + flags + " -shared -fPIC -fvisibility=hidden -I" + tools::shell_quoted(include) +
                  " -o " + tools::shell_quoted(built.library) + " " + tools::shell_quoted((path.starts_with('-') ? "./" : "") + path);
  const auto start = std::chrono::steady_clock::now();
  const tools::ProcessResult result = tools::run_process(built.command, {}, {}, folder, {}, {.seconds = kMostSeconds});
  built.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  built.messages = result.error_output;
  if (result.exit_code == 127) {
    throw Error(ErrorKind::usage, "C63-NO-COMPILER",
                "needs a C and C++ compiler: '" + compiler +
                    "' was not found (Debian: build-essential; CC and CXX name another compiler)",
                {.file = path});
  }
  if (result.timed_out)
    throw Error(ErrorKind::usage, "C63-SEARCH-COMPILE", "the compiler takes longer than a minute", {.file = path});
  if (result.exit_code != 0) {
    std::fprintf(stderr, "%s\n%s\n", built.command.c_str(), built.messages.c_str());  // with their line breaks
    throw Error(ErrorKind::usage, "C63-SEARCH-COMPILE", "it does not compile, for the reasons above", {.file = path});
  }
  const std::string version = folder + "/version";
  static_cast<void>(tools::run_process(compiler + " --version", {}, version, folder, {}, {.seconds = kMostSeconds}));
  std::ifstream first_line(version);
  std::getline(first_line, built.compiler);
  return built;
}

}  // namespace

BuiltSearch compile_search(const std::string& path, const std::string& folder) {
  require_readable(path);
  const std::string extension = fs::path(path).extension().string();
  if (extension == ".so")
    return {.library = fs::absolute(path).string(), .command = {}, .compiler = {}, .messages = {}};
  const std::string flags = " -O3 -march=native -g -Wall ";
  if (extension == ".c") return compile(variable_or("CC", "cc"), "-std=gnu11" + flags + variable_or("CFLAGS", ""), path, folder);
  if (extension == ".cpp" || extension == ".cc" || extension == ".cxx") {
    return compile(variable_or("CXX", "c++"), "-std=c++20" + flags + variable_or("CXXFLAGS", ""), path, folder);
  }
  throw Error(ErrorKind::usage, "C63-SEARCH-FORM", "a search for the CPU is a .c, .cpp or .so file", {.file = path});
}

BuiltSearch compile_host_part(const std::string& path, const std::string& folder) {
  require_readable(path);
  return compile(variable_or("CXX", "c++"), "-x c++ -std=c++17 -O2 -g -DC63_MOTION_HOST=1", path, folder);
}

}  // namespace c63::race
