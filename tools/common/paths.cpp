#include "common/paths.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "c63/error.h"
#include "io/output_file.h"

namespace c63::tools {
namespace {

namespace fs = std::filesystem;

bool is_file_to_be(const std::string& path) {
  std::error_code fault;
  const fs::file_status status = fs::status(path, fault);
  return !fs::exists(status) || fs::is_regular_file(status);
}

bool same_output(const std::string& a, const std::string& b) {
  if (a == "-" || b == "-") return a == b;
  if (!is_file_to_be(a) || !is_file_to_be(b)) return false;
  std::error_code fault;
  if (fs::equivalent(a, b, fault)) return true;
  return fs::weakly_canonical(fs::absolute(a), fault) == fs::weakly_canonical(fs::absolute(b), fault);
}

[[noreturn]] void refuse(const NamedPath& a, const NamedPath& b) {
  throw Error(ErrorKind::usage, "C63-SAME-FILE", fmt::format("{} and {} are the same file", a.option, b.option),
              {.file = b.path});
}

}  // namespace

void check_distinct_files(const std::vector<NamedPath>& inputs, const std::vector<NamedPath>& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].path.empty()) continue;
    for (const NamedPath& input : inputs) {
      if (!input.path.empty() && same_file(input.path, outputs[i].path)) refuse(input, outputs[i]);
    }
    for (std::size_t k = 0; k < i; ++k) {
      if (!outputs[k].path.empty() && same_output(outputs[k].path, outputs[i].path)) refuse(outputs[k], outputs[i]);
    }
  }
}

}  // namespace c63::tools
