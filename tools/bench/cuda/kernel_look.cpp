#include "bench/cuda/kernel_look.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "common/process.h"
#include "files/scratch_folder.h"

namespace c63::bench {
namespace {

/// A kind of instructions: how their names begin in SASS and in PTX. Names are upper-case in SASS, lower-case in PTX.
struct Kind {
  std::initializer_list<std::string_view> names;
  int InstructionCounts::*count;
};

const Kind kKinds[] = {
    {{"LDS", "ld.shared"}, &InstructionCounts::shared_loads},
    {{"STS", "st.shared"}, &InstructionCounts::shared_stores},
    {{"LDL", "STL", "ld.local", "st.local"}, &InstructionCounts::spills},
    {{"VABSDIFF4", "vabsdiff4"}, &InstructionCounts::absdiff4},
    {{"SHF", "PRMT", "shf.", "prmt"}, &InstructionCounts::shifts},
    {{"BAR", "bar.", "barrier."}, &InstructionCounts::barriers},
    {{"REDUX", "CREDUX", "SHFL", "redux", "shfl"}, &InstructionCounts::warp_reductions},
    {{"LDGSTS", "UBLKCP", "UTMALDG", "cp.async"}, &InstructionCounts::copies_ahead},
};

bool begins_with_one_of(std::string_view name, std::initializer_list<std::string_view> starts) {
  return std::ranges::any_of(starts, [name](std::string_view start) { return name.starts_with(start); });
}

void count_instruction(std::string_view name, InstructionCounts& c) {
  ++c.all;
  const bool is_byte = std::ranges::any_of(std::initializer_list<std::string_view>{".U8", ".S8", ".u8", ".s8", ".b8"},
                                           [name](std::string_view type) { return name.find(type) != std::string_view::npos; });
  if (is_byte && begins_with_one_of(name, {"LDG", "LDS", "ld.global", "ld.shared", "ld.u8", "ld.s8"}) && !name.starts_with("LDGSTS")) {
    ++c.byte_loads;
    return;
  }
  if (begins_with_one_of(name, {"LDG", "ld.global"}) && !name.starts_with("LDGSTS")) ++c.word_loads;
  for (const Kind& kind : kKinds) {
    if (begins_with_one_of(name, kind.names)) ++(c.*kind.count);
  }
}

/// Counts the instructions in lines such as "  @!P0 LDG.E.U8 R2, desc[UR4][R2.64] ;". SASS has a comment with the address
/// first.
InstructionCounts count(const std::string& text, const char* source, bool is_sass) {
  InstructionCounts counts{.source = source};
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::string_view rest = line;
    if (is_sass) {
      const std::size_t close = rest.find("*/");
      if (rest.find("/*") == std::string_view::npos || close == std::string_view::npos) continue;
      rest.remove_prefix(close + 2);
    }
    if (rest.find(';') == std::string_view::npos) continue;
    rest.remove_prefix(std::min(rest.size(), rest.find_first_not_of(" \t")));
    if (rest.starts_with('@')) {
      rest.remove_prefix(std::min(rest.size(), rest.find_first_of(" \t")));
      rest.remove_prefix(std::min(rest.size(), rest.find_first_not_of(" \t")));
    }
    if (rest.empty() || std::isalpha(static_cast<unsigned char>(rest[0])) == 0 ||
        (std::isupper(static_cast<unsigned char>(rest[0])) != 0) != is_sass) {
      continue;
    }
    count_instruction(rest.substr(0, rest.find_first_of(" \t;")), counts);
  }
  return counts.all > 0 ? counts : InstructionCounts{};
}

}  // namespace

InstructionCounts count_sass(const std::string& text) { return count(text, "SASS", true); }
InstructionCounts count_ptx(const std::string& text) { return count(text, "PTX", false); }

std::string disassemble(const std::vector<char>& cubin) {
  const ScratchFolder folder("", "c63-look");
  const std::string file = folder.file("kernel.cubin");
  std::ofstream(file, std::ios::binary).write(cubin.data(), static_cast<std::streamsize>(cubin.size()));
  const std::string out = folder.file("sass");
  for (const char* const command :
       {"cuobjdump -sass", "nvdisasm", "/usr/local/cuda/bin/cuobjdump -sass", "/usr/local/cuda/bin/nvdisasm"}) {
    const auto result =
        tools::run_process(std::string("exec ") + command + " " + tools::shell_quoted(file), {}, out, folder.path());
    if (result.exit_code != 0) continue;
    std::ifstream text(out);
    std::stringstream all;
    all << text.rdbuf();
    return all.str();
  }
  return {};
}

Json InstructionCounts::to_json() const {
  if (source.empty()) return nullptr;
  return {{"source", source},
          {"all", all},
          {"byte_loads", byte_loads},
          {"word_loads", word_loads},
          {"shared_loads", shared_loads},
          {"shared_stores", shared_stores},
          {"spills", spills},
          {"absdiff4", absdiff4},
          {"shifts", shifts},
          {"barriers", barriers},
          {"warp_reductions", warp_reductions},
          {"copies_ahead", copies_ahead}};
}

std::string InstructionCounts::text() const {
  if (source.empty()) return "its instructions are not known, because neither cuobjdump nor nvdisasm is installed";
  return fmt::format(
      "{} of {} instructions: {} byte loads, {} word loads, {} shared loads, {} VABSDIFF4, {} shifts, {} barriers, {} "
      "warp "
      "reductions, {} spills",
      source, all, byte_loads, word_loads, shared_loads, absdiff4, shifts, barriers, warp_reductions, spills);
}

Advice advise(const InstructionCounts& c, double share, double occupancy, std::size_t local_bytes) {
  if (c.spills > 0) {
    return {fmt::format("registers: {} loads and stores are of registers kept in memory ({} bytes a thread)", c.spills,
                        local_bytes),
            "fewer values at a time, or smaller thread blocks (__launch_bounds__)"};
  }
  if (share >= 0.8)
    return {"the ALU: the ceiling of VABSDIFF4 is near",
            "step 5 of docs/course.md: do less work, rule candidates out by sums"};
  if (!c.source.empty() && c.absdiff4 == 0) {
    if (c.shared_stores <= 1 && c.byte_loads > 0) {
      return {"instructions: every sample is a load of one byte, and every difference takes about five instructions",
              "step 2 of docs/course.md: the window in shared memory (examples/gpu/shared_window.cu), then four at "
              "once (packed.cu)"};
    }
    return {"instructions: no VABSDIFF4, so every difference takes about five instructions",
            "step 2 of docs/course.md: four absolute differences in one instruction (examples/gpu/packed.cu)"};
  }
  if (share >= 0.5) {
    return {"waiting: the ALU works most of the time, but warps wait for their windows",
            "step 4 of docs/course.md: fetch windows ahead, so that no warp waits"};
  }
  if (c.barriers > 6) {
    return {fmt::format("barriers: {} of them, most in the reduction", c.barriers),
            "step 2 of docs/course.md: let warps reduce keys (examples/gpu/packed.cu)"};
  }
  if (c.absdiff4 > 0 && c.shifts + c.shared_loads > c.absdiff4) {
    return {fmt::format("shifts and loads: {} for {} VABSDIFF4, on the same pipe or before it",
                        c.shifts + c.shared_loads, c.absdiff4),
            "step 3 of docs/course.md: stay in registers, use each loaded word for many candidates"};
  }
  if (occupancy > 0 && occupancy < 0.3) {
    return {fmt::format("occupancy: {:.0f} % of the warps fit", 100 * occupancy),
            "less shared memory or fewer registers for each thread block"};
  }
  return {"not clear from its instructions", "profile it: docs/profiling.md"};
}

}  // namespace c63::bench
