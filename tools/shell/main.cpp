// Writes the manual page and the bash completion of one program, during the build.
// Usage: c63_shell_files <program> <manual page> <completion> <all programs, separated by commas>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "c63/version.h"
#include "shell/shell_files.h"

namespace {

std::string output_of(const std::string& program) {
  FILE* pipe = popen(("'" + program + "' --describe-options").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + program);
  std::string text;
  std::array<char, 4096> buffer{};
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe)) text.append(buffer.data(), n);
  if (pclose(pipe) != 0) throw std::runtime_error(program + " --describe-options failed");
  return text;
}

void write(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 5) throw std::runtime_error("usage: c63_shell_files program manual-page completion programs");
    std::vector<std::string> programs;
    std::istringstream list(argv[4]);
    for (std::string name; std::getline(list, name, ',');) programs.push_back(name);
    std::ranges::sort(programs);
    const auto program = nlohmann::ordered_json::parse(output_of(argv[1]));
    write(argv[2], c63::tools::man_page(program, c63::version(), programs));
    write(argv[3], c63::tools::bash_completion(program));
    return 0;
  } catch (const std::exception& e) {
    std::cerr << "c63_shell_files: " << e.what() << "\n";
    return 1;
  }
}
