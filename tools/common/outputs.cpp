#include "common/outputs.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <system_error>

#include "c63/error.h"
#include "files/output_file.h"

namespace c63::tools {
namespace {

namespace fs = std::filesystem;

/// Returns the status of the file at `path` ("-" is standard output), or nothing if it does not exist.
std::optional<struct stat> status_of(const std::string& path) {
  struct stat status {};
  const int fault = path == "-" ? ::fstat(STDOUT_FILENO, &status) : ::stat(path.c_str(), &status);
  return fault == 0 ? std::optional(status) : std::nullopt;
}

/// Returns true if both are the same file, so that two outputs would overwrite each other. Returns false for a
/// character device such as a terminal or /dev/null, because it can take several outputs.
bool is_same(const struct stat& a, const struct stat& b) {
  return !S_ISCHR(a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool same_output(const std::string& a, const std::string& b) {
  if (a == "-" && b == "-") return true;
  const auto status_a = status_of(a);
  const auto status_b = status_of(b);
  if (status_a || status_b) return status_a && status_b && is_same(*status_a, *status_b);
  std::error_code fault;
  return fs::weakly_canonical(fs::absolute(a), fault) == fs::weakly_canonical(fs::absolute(b), fault);
}

bool keeps_existing_files = false;

/// Throws Error (output) if -n is given and the file exists. Files that a run continues, such as a log, are excepted.
void check_may_write(const NamedPath& output) {
  const bool goes_on = output.option == "--log-file" || output.option == "--stats" || output.option == "--segment-plan";
  const auto status = status_of(output.path);
  if (!keeps_existing_files || goes_on || output.path == "-" || !status || !S_ISREG(status->st_mode)) return;
  throw Error(ErrorKind::output, "C63-OUTPUT-EXISTS", "the file exists, and -n forbids overwriting it",
              {.file = output.path});
}

[[noreturn]] void refuse(const NamedPath& a, const NamedPath& b) {
  throw Error(ErrorKind::usage, "C63-SAME-FILE", fmt::format("{} and {} are the same file", a.option, b.option),
              {.file = b.path});
}

}  // namespace

void check_distinct_files(const std::vector<NamedPath>& inputs, const std::vector<NamedPath>& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].path.empty()) continue;
    check_may_write(outputs[i]);
    for (const NamedPath& input : inputs) {
      if (!input.path.empty() && same_file(input.path, outputs[i].path)) refuse(input, outputs[i]);
    }
    for (std::size_t k = 0; k < i; ++k) {
      if (!outputs[k].path.empty() && same_output(outputs[k].path, outputs[i].path)) refuse(outputs[k], outputs[i]);
    }
  }
}

void keep_existing_files(bool keep) { keeps_existing_files = keep; }

void check_apart_from_log(const NamedPath& output) {
  struct stat standard_error {};
  const auto status = status_of(output.path);
  if (output.path == "-" && ::isatty(STDOUT_FILENO) == 1) {
    throw Error(ErrorKind::usage, "C63-TERMINAL", "standard output is a terminal, which cannot show a video");
  }
  if (status && ::fstat(STDERR_FILENO, &standard_error) == 0 && is_same(*status, standard_error)) {
    refuse(output, {"standard error", output.path});
  }
}

NumberedName::NumberedName(const std::string& name) {
  constexpr int kMostDigits = 20;
  const auto is_digit = [&](std::size_t at) { return at < name.size() && name[at] >= '0' && name[at] <= '9'; };
  for (std::size_t at = 0; at < name.size(); ++at) {
    std::string& part = is_numbered_ ? tail_ : head_;
    if (name[at] != '%' || name.substr(at, 2) == "%%") {
      part += name[at];
      if (name[at] == '%') ++at;
      continue;
    }
    int digits = 0;
    for (++at; is_digit(at) && digits <= kMostDigits; ++at) digits = digits * 10 + (name[at] - '0');
    if (at >= name.size() || name[at] != 'd' || digits > kMostDigits || is_numbered_) {
      throw Error(ErrorKind::usage, "C63-OUTPUT-NAME",
                  "the place of the frame's number is one %d, or %06d for six digits; %% is a %", {.file = name});
    }
    is_numbered_ = true;
    digits_ = digits;
  }
}

std::string NumberedName::of(std::int64_t number) const {
  return is_numbered_ ? fmt::format("{}{:0{}}{}", head_, number, digits_, tail_) : head_;
}

void check_no_container(const NamedPath& output, const std::string& instead) {
  const std::string extension = fs::path(output.path).extension().string();
  for (const char* const container : {".mp4", ".m4v", ".mkv", ".mov", ".avi", ".webm", ".ts", ".flv", ".264", ".h264", ".mpg"}) {
    if (extension != container) continue;
    throw Error(ErrorKind::usage, "C63-OUTPUT-NAME",
                fmt::format("this program cannot write {} files: {}", extension, instead), {.file = output.path});
  }
}

}  // namespace c63::tools
