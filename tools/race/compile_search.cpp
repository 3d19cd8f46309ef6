#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>

#include "c63/error.h"
#include "common/process.h"
#include "io/descriptor.h"
#include "race/emulated_gpu.h"
#include "race/host_search.h"

namespace c63::tools::motion_kernel_files {
extern const std::string_view header;
extern const std::string_view emulated;
}  // namespace c63::tools::motion_kernel_files

namespace c63::race {
namespace {

namespace fs = std::filesystem;

constexpr double kMostSeconds = 60;

void require_readable(const std::string& path) {
  std::error_code ignored;
  errno = 0;
  const std::ifstream file(path, std::ios::binary);
  const int code = fs::is_directory(path, ignored) ? EISDIR : errno;
  if (code != 0 || !file.is_open()) throw system_fault(ErrorKind::input, "C63-OPEN", "cannot be read", code, {.file = path});
}

/// Returns the value of an environment variable, or `otherwise` if it is empty.
std::string variable_or(const char* variable, const char* otherwise) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

/// Writes the headers that files include, and returns the option for their folder.
std::string include_option(const std::string& folder) {
  const std::string include = folder + "/include";
  fs::create_directories(include + "/c63");
  std::ofstream(include + "/c63/motion_kernel.h") << tools::motion_kernel_files::header;
  std::ofstream(include + "/c63/emulated_cuda.h") << tools::motion_kernel_files::emulated;
  return " -I" + tools::shell_quoted(include);
}

/// Runs a compiler's command for a file, and adds what it says and the time to `built`.
void run_compiler(BuiltSearch& built, const std::string& compiler, const std::string& command, const std::string& path, const std::string& folder) {
  built.command = command;
  const auto start = std::chrono::steady_clock::now();
  const tools::ProcessResult result = tools::run_process(command, {}, {}, folder, {}, {.seconds = kMostSeconds});
  built.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  built.messages += result.error_output;
  if (result.exit_code == 127) {
    throw Error(ErrorKind::usage, "C63-NO-COMPILER",
                "needs a C and C++ compiler: '" + compiler +
                    "' was not found (Debian: build-essential; CC and CXX name another compiler)",
                {.file = path});
  }
  if (result.timed_out)
    throw Error(ErrorKind::usage, "C63-SEARCH-COMPILE", "the compiler takes longer than a minute", {.file = path});
  if (result.exit_code != 0) {
    std::fprintf(stderr, "%s\n%s\n", command.c_str(), built.messages.c_str());  // with their line breaks
    throw Error(ErrorKind::usage, "C63-SEARCH-COMPILE", "it does not compile, for the reasons above", {.file = path});
  }
}

/// Returns the path as an argument, in quotes.
std::string argument(const std::string& path) { return tools::shell_quoted((path.starts_with('-') ? "./" : "") + path); }

/// Returns the first line of what a compiler says of its version; empty if it cannot be run.
std::string version_of(const std::string& compiler, const std::string& folder) {
  const std::string version = folder + "/version";
  static_cast<void>(tools::run_process(compiler + " --version", {}, version, folder, {}, {.seconds = kMostSeconds}));
  std::string line;
  std::ifstream first_line(version);
  std::getline(first_line, line);
  return line;
}

BuiltSearch compile(const std::string& compiler, const std::string& flags, const std::string& path,
                    const std::string& folder) {
  BuiltSearch built;
  built.library = folder + "/" + fs::path(path).stem().string() + ".so";
  const std::string options = flags + " -shared -fPIC -fvisibility=hidden" + include_option(folder);
  run_compiler(built, compiler, compiler + " " + options + " -o " + tools::shell_quoted(built.library) + " " + argument(path), path, folder);
  built.compiler = version_of(compiler, folder);
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

BuiltSearch compile_emulated(const std::string& path, const std::string& folder) {
  require_readable(path);
  const std::string compiler = variable_or("CXX", "c++");
  BuiltSearch built;
  built.compiler = version_of(compiler, folder);
  built.library = folder + "/emulated.so";
  const auto in_folder = [&](const char* name) { return tools::shell_quoted(folder + "/" + name); };
  run_compiler(built, compiler,
               compiler + " -E -x c++ -std=c++20 -D__CUDACC__ -D__CUDACC_RTC__ -D__CUDA_ARCH__=900" + include_option(folder) +
                   " -include " + in_folder("include/c63/emulated_cuda.h") + " -o " + in_folder("emulated.ii") + " " + argument(path),
               path, folder);
  std::ifstream preprocessed(folder + "/emulated.ii", std::ios::binary);
  std::ofstream(folder + "/emulated.cpp") << emulated_source({std::istreambuf_iterator<char>(preprocessed), {}});
  // The thread sanitizer calls functions of emulated_cuda.h, so its own library is not linked.
  const bool is_clang = built.compiler.find("clang") != std::string::npos;
  const std::string tsan = is_clang ? " -mllvm -tsan-instrument-func-entry-exit=0 -mllvm -tsan-distinguish-volatile=1"
                                    : " --param tsan-instrument-func-entry-exit=0 --param tsan-distinguish-volatile=1";
  run_compiler(built, compiler,
               compiler + " -std=c++20 -O1 -g -w -fPIC -fno-strict-aliasing -fwrapv -fno-finite-loops -fno-optimize-sibling-calls"
                          " -fno-tree-vectorize -fno-tree-slp-vectorize -fsanitize=thread,bounds" + tsan + " -c -o " + in_folder("emulated.o") + " " +
                   in_folder("emulated.cpp") + " && " + compiler + " -shared -Wl,-Bsymbolic -o " + tools::shell_quoted(built.library) + " " +
                   in_folder("emulated.o"),
               path, folder);
  return built;
}

}  // namespace c63::race
