#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/process.h"
#include "files/scratch_folder.h"
#include "race/emulated_gpu.h"

namespace c63::race {
namespace {

/// CUDA's words, as the CPU's compiler takes them. libstdc++ has __noinline__ as an attribute, so that is only left out.
constexpr std::string_view kWords = R"(#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __noinline__
#define __launch_bounds__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __shared__ static __attribute__((section("c63_shared")))
// Makes a kernel known by its name, with the threads of its __launch_bounds__.
#define C63_EMULATED_KERNEL(name, threads)                                             \
  extern "C" void c63_emulated_##name(void** arguments) { c63_call(name, arguments); } \
  extern "C" const int c63_threads_##name = threads;
)";

bool is_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Returns the place of a word from `at` on, or npos.
std::size_t find_word(std::string_view text, std::string_view word, std::size_t at) {
  for (at = text.find(word, at); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_of_name(text[at - 1])) && (end == text.size() || !is_of_name(text[end]))) return at;
  }
  return at;
}

std::size_t after_blanks(std::string_view text, std::size_t at) { return std::min(text.find_first_not_of(" \t\n", at), text.size()); }

/// Returns the parts in the parentheses that open at text[at], and the place after them. Parts end at characters of `ends`, unless
/// these are in a string or in other parentheses.
std::vector<std::string_view> parts_of(std::string_view text, std::size_t at, std::string_view ends, std::size_t& after) {
  std::vector<std::string_view> parts;
  std::size_t start = at + 1;
  int depth = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      while (++at < text.size() && text[at] != '"') at += text[at] == '\\' ? 1 : 0;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      if (--depth > 0) continue;
      parts.push_back(text.substr(start, at - start));
      break;
    } else if (depth == 1 && ends.find(c) != std::string_view::npos) {
      parts.push_back(text.substr(start, at - start));
      start = at + 1;
    }
  }
  after = std::min(at + 1, text.size());
  return parts;
}

/// Returns asm("text" : "=r"(a) : "r"(b)) as c63_ptx<c63_ptx_of("text")>(a, b). `at` is that of the word asm, then that after it.
std::string call_for_asm(std::string_view text, std::size_t& at) {
  const std::size_t open = text.find('(', at);
  std::size_t after = 0;
  const std::vector<std::string_view> sections = parts_of(text, open, ":", after);
  std::string call = "c63_ptx<c63_ptx_of(" + std::string(sections[0]) + ")>(";
  bool is_first = true;
  for (std::size_t i = 1; i < std::min<std::size_t>(sections.size(), 3); ++i) {
    const std::string operands = "(" + std::string(sections[i]) + ")";
    std::size_t unused = 0;
    for (const std::string_view operand : parts_of(operands, 0, ",", unused)) {
      const std::size_t place = operand.find('(', std::min(operand.find('"', operand.find('"') + 1), operand.size()));
      if (place == std::string_view::npos) continue;
      call.append(is_first ? "" : ", ").append(operand.substr(place));
      is_first = false;
    }
  }
  call += ")";
  call.append(static_cast<std::size_t>(std::ranges::count(text.substr(at, after - at), '\n') - std::ranges::count(call, '\n')), '\n');
  at = after;
  return call;
}

/// Returns the lines that make the kernels known.
std::string names_of_kernels(std::string_view text) {
  std::string lines;
  std::set<std::string_view> known;
  constexpr std::string_view kGlobal = "__global__";
  for (std::size_t at = find_word(text, kGlobal, 0); at != std::string_view::npos; at = find_word(text, kGlobal, at)) {
    const std::size_t before = text.find_last_not_of(" \t\n", at - 1);
    const bool is_template = before != std::string_view::npos && text[before] == '>';
    std::string threads = "1024";
    for (at += kGlobal.size();;) {
      const std::size_t start = after_blanks(text, at);
      for (at = start; at < text.size() && is_of_name(text[at]);) ++at;
      const std::string_view word = text.substr(start, at - start);
      const std::size_t next = after_blanks(text, at);
      if (word.empty()) break;
      if (next >= text.size() || text[next] != '(') continue;
      if (word == "__launch_bounds__") {
        threads = parts_of(text, next, ",", at).front();
        continue;
      }
      if (!is_template && known.insert(word).second) lines += "\nC63_EMULATED_KERNEL(" + std::string(word) + ", (" + threads + "))";
      break;
    }
  }
  return lines + "\n";
}

/// Makes kernel->*C63Shape(...)(...) of kernel<<<...>>>(...).
void replace_launches(std::string& text) {
  for (std::size_t at = text.find("<<<"); at != std::string::npos; at = text.find("<<<", at)) {
    const std::size_t end = text.find(">>>", at);
    if (end == std::string::npos) return;
    text.replace(end, 3, ")");
    text.replace(at, 3, "->*C63Shape(");
  }
}

}  // namespace

std::string emulated_source(const std::string& preprocessed, bool is_program) {
  // A pointer takes the place of the array without a size, which is all of the block's dynamic shared memory.
  static const std::regex dynamic(R"(extern\s+__shared__\s+((?:__align__|alignas)\s*\(\s*\d+\s*\)\s*)?([\w\s:]+?)\s*(\w+)\s*\[\s*\]\s*;)");
  std::string text;
  std::size_t at = 0;
  for (;;) {
    const std::size_t asm_at = find_word(preprocessed, "asm", at);
    const std::size_t end = std::min(asm_at, preprocessed.size());
    text.append(preprocessed, at, end - at);
    if (end == preprocessed.size()) break;
    at = end;
    text += call_for_asm(preprocessed, at);
  }
  std::string with_arrays;
  for (at = 0;;) {
    const std::size_t found = text.find("extern __shared__", at);
    const std::size_t end = std::min(text.find(';', found) + 1, text.size());
    with_arrays.append(text, at, std::min(found, text.size()) - at);
    if (found == std::string::npos) break;
    with_arrays += std::regex_replace(text.substr(found, end - found), dynamic, "$2* const $3 = ($2*)c63_emulated_shared;");
    at = end;
  }
  // A parameter that does not change is not copied for each thread.
  static const std::regex parameter(R"(\bconst\s+__grid_constant__\s+(\w+)\s+(\w+))");
  constexpr std::string_view kParameter = "__grid_constant__";
  for (at = find_word(with_arrays, kParameter, 0); at != std::string::npos; at = find_word(with_arrays, kParameter, at)) {
    const std::size_t start = with_arrays.rfind("const", at);
    const std::size_t end = with_arrays.find_first_of(",)", at);
    const std::string changed = std::regex_replace(with_arrays.substr(start, end - start), parameter, "const $1& $2");
    with_arrays.replace(start, end - start, changed);
    at = start + changed.size();
  }
  if (is_program) replace_launches(with_arrays);
  return std::string(kWords) + "#define __grid_constant__\n" + with_arrays + (is_program ? std::string() : names_of_kernels(with_arrays));
}

std::map<std::uint32_t, CodeLine> lines_of(const std::vector<std::uint32_t>& places, const std::string& library, const std::string& path) {
  std::map<std::uint32_t, CodeLine> lines;
  std::string command = "addr2line -a -i -e " + tools::shell_quoted(library);
  for (const std::uint32_t place : places) {
    if (lines.try_emplace(place).second) command += fmt::format(" {:#x}", place);
  }
  if (lines.empty()) return lines;
  const ScratchFolder folder("", "c63-race");
  const std::string out = folder.file("lines");
  static_cast<void>(tools::run_process(command, {}, out, folder.path(), {}, {.seconds = 20}));
  const std::string name = (path.empty() ? ".cu" : std::filesystem::path(path).filename().string()) + ":";
  std::ifstream file(out);
  CodeLine* line = nullptr;
  // After an address come the places that were inlined into each other, the innermost first. Helpers of c63's header are not the
  // user's.
  for (std::string text; std::getline(file, text);) {
    if (text.starts_with("0x")) {
      line = &lines[static_cast<std::uint32_t>(std::stoul(text, nullptr, 16))];
    } else if (const std::size_t at = text.rfind(name); line != nullptr && line->line == 0 && at != std::string::npos) {
      const std::size_t colon = at + name.size() - 1;
      const std::size_t start = text.rfind('/', colon) + 1;
      *line = {text.substr(start, colon - start), std::atoi(text.c_str() + colon + 1)};
    }
  }
  return lines;
}

}  // namespace c63::race
