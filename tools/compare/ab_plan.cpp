#include "compare/ab_plan.h"

#include <sstream>

#include "c63/error.h"

namespace c63::tools {
namespace {

constexpr std::string_view kEncoder = "c63enc";

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\n");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

}  // namespace

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) {
    part = trimmed(part);
    if (part.empty()) throw Error(ErrorKind::usage, "C63-USAGE", "an empty entry in the list \"" + text + "\"");
    parts.push_back(part);
  }
  if (parts.empty()) throw Error(ErrorKind::usage, "C63-USAGE", "an empty list");
  return parts;
}

bool names_quantizer(const std::string& options) {
  std::istringstream in(options);
  for (std::string word; in >> word;) {
    if (word.starts_with("--qp") || (word.starts_with("-q") && !word.starts_with("--"))) return true;
    for (const char* target : {"--bitrate", "--size", "--target-psnr", "--target-ssim"}) {
      if (word == target || word.starts_with(std::string(target) + "=")) return true;
    }
  }
  return false;
}

std::string version_question(const std::string& command) {
  const std::string program = command.substr(0, command.find_first_of(" \t"));
  // Returns nothing if the program's name contains characters that the shell would interpret.
  if (program.find_first_of("'\"`$\\;&|<>(){}*?~") != std::string::npos) return {};
  const std::string name = program.substr(program.rfind('/') + 1);
  for (const auto& [known, question] : {std::pair{"ffmpeg", "-version"},
                                        {"x264", "--version"},
                                        {"x265", "--version"},
                                        {"kvazaar", "--version"},
                                        {"rav1e", "--version"},
                                        {"SvtAv1EncApp", "--version"}}) {
    if (name == known) return program + " " + question;
  }
  return {};
}

Configuration parse_configuration(const std::string& name, const std::string& text,
                                  const std::vector<std::string>& quantizers) {
  Configuration c{name, trimmed(text), false, quantizers};
  // A c63enc that is not given its files is given them by us, as options alone are.
  const std::string program = c.text.substr(0, c.text.find_first_of(" \t"));
  const bool has_files = c.text.find("{in}") != std::string::npos || c.text.find("{out}") != std::string::npos;
  if (program.substr(program.rfind('/') + 1) == kEncoder && !has_files) {
    if (program != kEncoder) c.program = program;
    c.text = trimmed(c.text.substr(program.size()));
  } else {
    c.external = !c.text.empty() && c.text.front() != '-';
  }
  if (!c.external) {
    if (names_quantizer(c.text)) c.quantizers = {""};
    return c;
  }
  const auto own = c.text.find("{qp:");
  if (own != std::string::npos) {
    const auto end = c.text.find('}', own);
    if (end == std::string::npos) throw Error(ErrorKind::usage, "C63-USAGE", "no } after {qp: in \"" + text + "\"");
    c.quantizers = split_list(c.text.substr(own + 4, end - own - 4));
    c.text.replace(own, end - own + 1, "{qp}");
  } else if (c.text.find("{qp}") == std::string::npos) {
    c.quantizers = {""};
  }
  return c;
}

}  // namespace c63::tools
