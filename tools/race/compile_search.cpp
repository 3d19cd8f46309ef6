#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <system_error>

#include "c63/error.h"
#include "common/process.h"
#include "files/scratch_folder.h"
#include "io/descriptor.h"
#include "race/emulated_gpu.h"
#include "race/host_search.h"

namespace c63::tools::motion_kernel_files {
extern const std::string_view header;
extern const std::string_view emulated;
extern const std::string_view runtime;
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
  std::ofstream(include + "/c63/emulated_runtime.h") << tools::motion_kernel_files::runtime;
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

namespace {

/// Compiles a .cu file for the emulated GPU to an object file.
void compile_object(BuiltSearch& built, const std::string& compiler, const std::string& path, const std::string& folder, const std::string& flags,
                    const std::string& object, bool is_program) {
  const auto in_folder = [&](const char* name) { return tools::shell_quoted(folder + "/" + name); };
  std::string include = include_option(folder) + " -include " + in_folder("include/c63/emulated_cuda.h");
  if (is_program) include += " -include " + in_folder("include/c63/emulated_runtime.h");
  run_compiler(built, compiler, compiler + " -E -x c++ -D__CUDACC__" + include + flags + " -o " + in_folder("emulated.ii") + " " + argument(path), path, folder);
  std::ifstream preprocessed(folder + "/emulated.ii", std::ios::binary);
  std::ofstream(folder + "/emulated.cpp") << emulated_source({std::istreambuf_iterator<char>(preprocessed), {}}, is_program);
  // The thread sanitizer calls functions of emulated_cuda.h, so its own library is not linked.
  const bool is_clang = version_of(compiler, folder).find("clang") != std::string::npos;
  const std::string tsan = is_clang ? " -mllvm -tsan-instrument-func-entry-exit=0 -mllvm -tsan-distinguish-volatile=1"
                                    : " --param tsan-instrument-func-entry-exit=0 --param tsan-distinguish-volatile=1";
  run_compiler(built, compiler,
               compiler + flags + " -O1 -g -w -fPIC -ffp-contract=off -fno-threadsafe-statics -fno-strict-aliasing -fwrapv -fno-finite-loops -fno-optimize-sibling-calls"
                                  " -fno-tree-vectorize -fno-tree-slp-vectorize -fsanitize=thread,bounds" + tsan + " -c -o " + tools::shell_quoted(object) + " " +
                   in_folder("emulated.cpp"),
               path, folder);
}

}  // namespace

BuiltSearch compile_emulated(const std::string& path, const std::string& folder) {
  require_readable(path);
  const std::string compiler = variable_or("CXX", "c++");
  BuiltSearch built;
  built.compiler = version_of(compiler, folder);
  built.library = folder + "/emulated.so";
  const std::string object = folder + "/emulated.o";
  compile_object(built, compiler, path, folder, " -std=c++20 -D__CUDACC_RTC__ -D__CUDA_ARCH__=900", object, false);
  run_compiler(built, compiler, compiler + " -shared -Wl,-Bsymbolic -o " + tools::shell_quoted(built.library) + " " + tools::shell_quoted(object), path, folder);
  return built;
}

void compile_program(std::span<const std::string> arguments) {
  const ScratchFolder folder("", "c63-nvcc");
  const std::string compiler = variable_or("CXX", "c++");
  std::string output;
  std::string flags = " -std=c++17 -D__NVCC__";
  std::string inputs;
  std::vector<std::string> kernels;
  std::vector<std::string> words;
  bool compiles_only = false;
  bool is_cuda = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {  // -Xcompiler has options of the host's compiler, between commas
    const std::string& word = arguments[i];
    if (word != "-Xcompiler" && word != "--compiler-options") {
      words.push_back(word);
    } else if (++i < arguments.size()) {
      std::istringstream list(arguments[i]);
      for (std::string one; std::getline(list, one, ',');) words.push_back(one);
    }
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const auto next = [&] { return i + 1 < words.size() ? words[++i] : std::string(); };
    if (word == "-o" || word == "--output-file") {
      output = next();
    } else if (word == "-c" || word == "--compile") {
      compiles_only = true;
    } else if (word == "-x") {
      is_cuda = next() == "cu";
    } else if (word == "-I" || word == "-D" || word == "-U") {
      flags += " " + word + tools::shell_quoted(next());
    } else if (word == "-L" || word == "-l" || word.starts_with("-L") || (word.starts_with("-l") && word != "-lineinfo")) {
      const std::string name = word.size() > 2 ? word.substr(2) : next();
      if (!name.starts_with("cuda")) inputs += " " + word.substr(0, 2) + tools::shell_quoted(name);
    } else if (word.starts_with("-std=") || word.starts_with("-I") || word.starts_with("-D") || word.starts_with("-U") || word.starts_with("-M")) {
      flags += " " + tools::shell_quoted(word);
    } else if (word.starts_with("-") || word.empty()) {
      constexpr std::array kWithValue = {"-arch", "-code", "-gencode", "-Xptxas", "-Xlinker", "-ccbin", "-maxrregcount", "--ptxas-options", "-MF", "-MT", "-MQ"};
      if (std::ranges::find(kWithValue, word) != kWithValue.end()) static_cast<void>(next());  // those of a GPU mean nothing here
    } else if (is_cuda || word.ends_with(".cu")) {
      kernels.push_back(word);
    } else {
      inputs += " " + argument(word);
    }
  }
  if (kernels.empty() && inputs.empty()) throw Error(ErrorKind::usage, "C63-USAGE", "nvcc: no file to compile or link");
  BuiltSearch built;
  for (const std::string& kernel : kernels) {
    require_readable(kernel);
    const std::string stem = fs::path(kernel).stem().string();
    const std::string object = !compiles_only ? folder.file(fmt::format("{}.o", inputs.size())) : output.empty() ? stem + ".o" : output;
    compile_object(built, compiler, kernel, folder.path(), flags, object, true);
    inputs += " " + tools::shell_quoted(object);
  }
  if (output.empty()) output = "a.out";
  if (compiles_only) {
    if (kernels.empty()) run_compiler(built, compiler, compiler + flags + " -fPIC -O2 -c -o " + argument(output) + inputs, output, folder.path());
    return;
  }
  run_compiler(built, compiler, compiler + " -shared -fPIC -Wl,-Bsymbolic -o " + argument(output + ".so") + inputs, output, folder.path());
  std::ofstream(output) << "#!/bin/sh\nexec c63bench emulated \"$0.so\" \"$@\"\n";
  fs::permissions(output, fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec, fs::perm_options::add);
}

}  // namespace c63::race
