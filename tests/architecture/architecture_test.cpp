// Checks the rules of docs/architecture.md: which folder may include which. Also checks that no source file is too
// long.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace c63::test {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxLines = 600;

struct Include {
  std::string from;  ///< file, relative to the repository
  int line = 0;
  std::string target;  ///< as written in the include
  bool quoted = false;

  [[nodiscard]] std::string place() const {
    return from + ":" + std::to_string(line) + ": #include \"" + target + "\"";
  }
};

const fs::path& root() {
  static const fs::path path = C63_SOURCE_DIR;
  return path;
}

bool is_source(const fs::path& path) {
  static const std::set<std::string> kExtensions = {".h", ".cpp", ".cu", ".cuh"};
  return kExtensions.contains(path.extension().string());
}

std::vector<fs::path> sources_under(const std::string& folder) {
  std::vector<fs::path> files;
  if (!fs::exists(root() / folder)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(root() / folder)) {
    if (entry.is_regular_file() && is_source(entry.path())) files.push_back(fs::relative(entry.path(), root()));
  }
  std::ranges::sort(files);
  return files;
}

const std::vector<Include>& all_includes() {
  static const std::vector<Include> includes = [] {
    const std::regex pattern(R"re(^\s*#\s*include\s*([<"])([^">]+)[">])re");
    std::vector<Include> found;
    for (const std::string folder : {"encoder", "cuda_me", "tools", "python"}) {
      for (const fs::path& file : sources_under(folder)) {
        std::ifstream in(root() / file);
        int number = 0;
        for (std::string line; std::getline(in, line);) {
          ++number;
          std::smatch match;
          if (std::regex_search(line, match, pattern)) {
            found.push_back({file.generic_string(), number, match[2], match[1] == "\""});
          }
        }
      }
    }
    return found;
  }();
  return includes;
}

bool starts_with_any(const std::string& text, const std::vector<std::string>& prefixes) {
  return std::ranges::any_of(prefixes, [&](const std::string& prefix) { return text.starts_with(prefix); });
}

/// Returns the name under which the table of rules below has this file's folder, such as "encoder/codec" or "tools".
/// All folders in cuda_me have the name "cuda_me", except "cuda_me/runtime". Of the folders in tools, only
/// "tools/bench" and "tools/analyzer" have a separate name.
std::string part_of(const std::string& path) {
  if (path.starts_with("encoder/include/")) return "include";
  if (path.starts_with("encoder/")) return path.substr(0, path.find('/', 8));
  if (path.starts_with("cuda_me/runtime/")) return "cuda_me/runtime";
  for (const std::string tool : {"tools/bench", "tools/analyzer"}) {
    if (path.starts_with(tool + "/")) return tool;
  }
  return path.substr(0, path.find('/'));
}

/// Returns the path of the file that an #include "..." names, or an empty path if the file is not part of the project.
std::string resolve(const Include& include) {
  const fs::path beside = fs::path(include.from).parent_path() / include.target;
  for (const fs::path& candidate :
       {beside, fs::path("encoder/include") / include.target, fs::path("encoder") / include.target,
        fs::path("cuda_me/include") / include.target, fs::path("cuda_me") / include.target,
        fs::path("tools") / include.target, fs::path(include.target)}) {
    if (fs::is_regular_file(root() / candidate)) return candidate.lexically_normal().generic_string();
  }
  return {};
}

struct Rule {
  std::vector<std::string> may;  ///< beginnings of paths that the part may include, in addition to its own
};

const std::map<std::string, Rule>& rules() {
  static const std::string kApi = "encoder/include/";
  static const std::string kCodec = "encoder/codec/";
  static const std::string kBits = "encoder/bitstream/";
  static const std::string kDecide = "encoder/decide/";
  static const std::string kBackend = "encoder/backend/";
  static const std::string kThreads = "encoder/threads/";
  static const std::map<std::string, Rule> table = {
      {"include", {{}}},
      {"encoder/codec", {{}}},
      {"encoder/api", {{kApi, kCodec}}},
      {"encoder/bitstream", {{kApi, kCodec}}},
      {"encoder/filters", {{kApi, kCodec}}},
      {"encoder/io", {{kApi, kCodec}}},
      {"encoder/motion", {{kApi, kCodec, "encoder/io/"}}},
      // A module may include media_module.h, which is the interface between it and the library. The other four headers
      // of io have no global state, so it does no harm that the library and the module each contain a copy of their code.
      {"encoder/ffmpeg",
       {{kApi, kCodec, "encoder/io/media_module.h", "encoder/io/copy_padded.h", "encoder/io/descriptor.h",
         "encoder/io/one_ahead.h", "encoder/io/text.h"}}},
      {"encoder/decide", {{kApi, kCodec}}},
      {"encoder/backend", {{kApi, kCodec, kDecide}}},
      {"encoder/threads", {{kApi}}},
      {"encoder/cpu", {{kApi, kCodec, kBits, kDecide, kThreads, kBackend}}},
      // Decoding restores frames with the CPU's code, and the look-ahead on the host uses the CPU's kernels.
      {"encoder/encode",
       {{kApi, kCodec, kBits, kDecide, kThreads, kBackend, "encoder/io/", "encoder/filters/", "encoder/cpu/"}}},
      {"encoder/decode",
       {{kApi, kCodec, kBits, kDecide, kThreads, kBackend, "encoder/io/", "encoder/filters/", "encoder/cpu/"}}},
      {"cuda_me/runtime", {{kApi, "cuda_me/include/"}}},
      {"cuda_me", {{kApi, kCodec, kBits, kDecide, kBackend, "cuda_me/"}}},
      {"tools",
       {{kApi, kBackend, "encoder/codec/search_window.h", "encoder/codec/quantization.h", "encoder/decide/flat_tables.h", "encoder/bitstream/frame_header.h", "encoder/encode/", "encoder/decode/", "encoder/io/", "cuda_me/include/", "tools/bench/bench.h"}}},
      // Python needs encoder/backend to keep a device open: the public headers only declare its type. Its decoders share one
      // open file, which no public header has. It needs the three headers of tools/race because c63.race() runs and judges searches
      // as c63bench does, and tools/common/video_input.h because c63.open() opens what the programs open.
      {"python",
       {{kApi, kBackend, "encoder/io/input_file.h", "cuda_me/include/", "tools/race/race_cases.h", "tools/race/race_judge.h",
         "tools/race/search_process.h", "tools/common/video_input.h"}}},
      {"tools/bench", {{"encoder/", "cuda_me/", "tools/"}}},  // measures single kernels and stages
      {"tools/analyzer", {{"encoder/"}}},  // c63.wasm has one thread, so it cannot use decoders and encoders with a pool
  };
  return table;
}

TEST(Architecture, SourcesAreFound) {
  EXPECT_GT(all_includes().size(), 100U) << "looked in " << root();
  EXPECT_FALSE(sources_under("encoder/codec").empty());
}

TEST(Architecture, EveryIncludeFollowsAnArrow) {
  for (const Include& include : all_includes()) {
    const std::string target = resolve(include);
    if (target.empty()) continue;
    const std::string from = part_of(include.from);
    const std::string to = part_of(target);
    if (from == to) continue;
    const auto rule = rules().find(from);
    if (rule == rules().end()) {
      ADD_FAILURE() << include.place() << ": there is no rule for the folder " << from;
      continue;
    }
    EXPECT_TRUE(starts_with_any(target, rule->second.may))
        << include.place() << "\n  " << from << " must not include " << to << " (docs/architecture.md)";
  }
}

TEST(Architecture, QuotedIncludesAreFilesOfTheProject) {
  for (const Include& include : all_includes()) {
    EXPECT_TRUE(!include.quoted || !resolve(include).empty()) << include.place() << ": no such file";
  }
}

/// Headers that some files must not include.
struct Ban {
  std::vector<std::string> headers;  ///< beginnings of their names
  std::vector<std::string> from;     ///< beginnings or ends of names of files
  std::vector<std::string> except;   ///< beginnings of names of files that may
  const char* why;
};

TEST(Architecture, SomeHeadersStayWhereTheyBelong) {
  const std::vector<std::string> cuda = {"cuda", "cub/", "thrust/", "nvtx3/", "nvToolsExt", "cooperative_groups", "c63/cuda/",
                                         "device_launch", "mma.h"};
  const std::vector<Ban> bans = {
      {cuda, {"encoder/"}, {}, "encoder/ must build without CUDA"},
      {{"libav", "libsw"}, {""}, {"encoder/ffmpeg/"}, "whatever is linked with FFmpeg loads it at every start"},
      {{"spdlog/", "fmt/"}, {".cu", ".cuh"}, {}, "nvcc does not compile it as C++20"},
      {{"spdlog/", "CLI/"}, {"encoder/", "cuda_me/", "python/"}, {}, "only tools/ talks to people"},
      {{"CLI/"}, {"tools/"}, {"tools/common/options.cpp", "tools/common/command_line.cpp"}, "its headers take seconds to compile"}};
  for (const Include& include : all_includes()) {
    for (const Ban& ban : bans) {
      const bool is_meant = std::ranges::any_of(ban.from, [&](const std::string& part) {
        return include.from.starts_with(part) || (part.starts_with('.') && include.from.ends_with(part));
      });
      EXPECT_FALSE(is_meant && starts_with_any(include.target, ban.headers) && !starts_with_any(include.from, ban.except))
          << include.place() << ": " << ban.why;
    }
    const bool is_of_codec = part_of(include.from) == "encoder/codec" && !include.quoted;
    EXPECT_TRUE(!is_of_codec || include.target.find_first_of("./") == std::string::npos)
        << include.place() << ": codec/ runs on host and device and may use standard C++ headers only";
  }
  for (const fs::path& file : sources_under("encoder")) {
    EXPECT_FALSE(file.extension() == ".cu" || file.extension() == ".cuh") << file << ": device code lives in cuda_me/";
  }
}

TEST(Architecture, PublicHeadersStandAlone) {
  const std::vector<std::string> allowed = {"c63/"};
  for (const Include& include : all_includes()) {
    const bool is_public = include.from.starts_with("encoder/include/") || include.from.starts_with("cuda_me/include/");
    if (!is_public || !include.quoted) continue;
    EXPECT_TRUE(starts_with_any(include.target, allowed)) << include.place() << ": it would not be installed";
  }
}

TEST(Architecture, FilesAreShort) {
  for (const std::string folder : {"encoder", "cuda_me", "tools", "python", "tests"}) {
    for (const fs::path& file : sources_under(folder)) {
      std::ifstream in(root() / file);
      const auto lines = std::count(std::istreambuf_iterator<char>(in), {}, '\n');
      EXPECT_LE(lines, kMaxLines) << file.generic_string() << ": more than one concept in a file?";
    }
  }
}

TEST(Architecture, NoOtherFolderHoldsSources) {
  static const std::set<std::string> kFolders = {"encoder", "cuda_me", "tools", "python", "tests"};
  for (const auto& entry : fs::directory_iterator(root())) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_directory() || name.starts_with(".") || name.starts_with("build") || kFolders.contains(name))
      continue;
    for (const fs::path& file : sources_under(name))
      ADD_FAILURE() << file << ": sources live in encoder, cuda_me, tools, python, tests";
  }
}

}  // namespace
}  // namespace c63::test
