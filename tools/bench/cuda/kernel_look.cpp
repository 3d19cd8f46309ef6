#include "bench/cuda/kernel_look.h"

#include <fmt/format.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>

#include "common/process.h"
#include "io/scratch_folder.h"

namespace c63::bench {
namespace {

bool begins(std::string_view text, std::string_view start) { return text.starts_with(start); }
bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

void count_sass_instruction(std::string_view name, InstructionCounts& c) {
  ++c.all;
  const bool byte = has(name, ".U8") || has(name, ".S8");
  if (begins(name, "LDG") && !has(name, "LDGSTS")) ++(byte ? c.byte_loads : c.word_loads);
  if (begins(name, "LDS")) ++(byte ? c.byte_loads : c.shared_loads);
  if (begins(name, "STS")) ++c.shared_stores;
  if (begins(name, "LDL") || begins(name, "STL")) ++c.spills;
  if (begins(name, "VABSDIFF4")) ++c.absdiff4;
  if (begins(name, "SHF") || begins(name, "PRMT")) ++c.shifts;
  if (begins(name, "BAR")) ++c.barriers;
  if (begins(name, "REDUX") || begins(name, "SHFL") || begins(name, "CREDUX")) ++c.warp_reductions;
  if (begins(name, "LDGSTS") || begins(name, "UBLKCP") || begins(name, "UTMALDG")) ++c.copies_ahead;
}

void count_ptx_instruction(std::string_view name, InstructionCounts& c) {
  ++c.all;
  const bool byte = has(name, ".u8") || has(name, ".s8") || has(name, ".b8");
  if (begins(name, "ld.global") || begins(name, "ld.param")) {
    if (begins(name, "ld.global")) ++(byte ? c.byte_loads : c.word_loads);
  } else if (begins(name, "ld.shared")) {
    ++(byte ? c.byte_loads : c.shared_loads);
  } else if (begins(name, "ld.u8") || begins(name, "ld.s8")) {
    ++c.byte_loads;
  }
  if (begins(name, "st.shared")) ++c.shared_stores;
  if (begins(name, "ld.local") || begins(name, "st.local")) ++c.spills;
  if (begins(name, "vabsdiff4")) ++c.absdiff4;
  if (begins(name, "shf.") || begins(name, "prmt")) ++c.shifts;
  if (begins(name, "bar.") || begins(name, "barrier.")) ++c.barriers;
  if (begins(name, "redux") || begins(name, "shfl")) ++c.warp_reductions;
  if (begins(name, "cp.async")) ++c.copies_ahead;
}

}  // namespace

InstructionCounts count_sass(const std::string& text) {
  // A line reads "        /*0a10*/                   LDG.E.U8 R2, desc[UR4][R2.64] ;". There may be a predicate: "@!P0
  // BRA …".
  InstructionCounts counts{.source = "SASS"};
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t open = line.find("/*");
    const std::size_t close = line.find("*/");
    if (open == std::string::npos || close == std::string::npos || line.find(';') == std::string::npos) continue;
    std::string_view rest = std::string_view(line).substr(close + 2);
    while (!rest.empty() && std::isspace(static_cast<unsigned char>(rest.front())) != 0) rest.remove_prefix(1);
    if (!rest.empty() && rest.front() == '@') {
      const std::size_t space = rest.find(' ');
      if (space == std::string_view::npos) continue;
      rest.remove_prefix(space + 1);
    }
    if (rest.empty() || std::isupper(static_cast<unsigned char>(rest.front())) == 0) continue;
    count_sass_instruction(rest.substr(0, rest.find_first_of(" ;")), counts);
  }
  return counts.all > 0 ? counts : InstructionCounts{};
}

InstructionCounts count_ptx(const std::string& text) {
  InstructionCounts counts{.source = "PTX"};
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::string_view rest = line;
    while (!rest.empty() && std::isspace(static_cast<unsigned char>(rest.front())) != 0) rest.remove_prefix(1);
    if (!rest.empty() && rest.front() == '@') {
      const std::size_t space = rest.find_first_of(" \t");
      if (space == std::string_view::npos) continue;
      rest.remove_prefix(space + 1);
    }
    if (rest.empty() || std::islower(static_cast<unsigned char>(rest.front())) == 0 ||
        rest.find(';') == std::string_view::npos)
      continue;
    count_ptx_instruction(rest.substr(0, rest.find_first_of(" \t;")), counts);
  }
  return counts.all > 0 ? counts : InstructionCounts{};
}

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

nlohmann::ordered_json InstructionCounts::to_json() const {
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
