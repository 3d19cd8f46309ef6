#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>
#include <string_view>

#include "bench/cuda/race_gpu.h"
#include "bench/race_files.h"
#include "common/process.h"
#include "files/scratch_folder.h"

namespace c63::bench {
namespace {

/// A kind of instructions, and how their names begin in SASS and in PTX. Names are upper-case in SASS, lower-case in PTX.
struct Kind {
  const char* key;
  std::vector<std::string_view> names;
};

const Kind kKinds[] = {{"shared_loads", {"LDS", "ld.shared"}},
                       {"shared_stores", {"STS", "st.shared"}},
                       {"spills", {"LDL", "STL", "ld.local", "st.local"}},
                       {"absdiff4", {"VABSDIFF4", "vabsdiff4"}},
                       {"shifts", {"SHF", "PRMT", "shf.", "prmt"}},
                       {"barriers", {"BAR", "bar.", "barrier."}},
                       {"warp_reductions", {"REDUX", "CREDUX", "SHFL", "redux", "shfl"}},
                       {"copies_ahead", {"LDGSTS", "UBLKCP", "UTMALDG", "cp.async"}}};

bool begins_with_one_of(std::string_view name, const std::vector<std::string_view>& starts) {
  return std::ranges::any_of(starts, [name](std::string_view start) { return name.starts_with(start); });
}

void count_instruction(std::string_view name, Json& counts) {
  const auto add = [&](const char* key) { counts[key] = counts[key].get<int>() + 1; };
  add("all");
  const bool is_byte = std::ranges::any_of(std::initializer_list<std::string_view>{".U8", ".S8", ".u8", ".s8", ".b8"},
                                           [name](std::string_view type) { return name.find(type) != std::string_view::npos; });
  const bool is_ahead = name.starts_with("LDGSTS");
  if (is_byte && !is_ahead && begins_with_one_of(name, {"LDG", "LDS", "ld.global", "ld.shared", "ld.u8", "ld.s8"})) {
    return add("byte_loads");
  }
  if (!is_ahead && begins_with_one_of(name, {"LDG", "ld.global"})) add("word_loads");
  for (const Kind& kind : kKinds) {
    if (begins_with_one_of(name, kind.names)) add(kind.key);
  }
}

/// Counts the instructions in lines such as "  @!P0 LDG.E.U8 R2, desc[UR4][R2.64] ;". SASS has a comment with the address
/// first.
Json count(const std::string& text, const char* source, bool is_sass) {
  Json counts = {{"source", source}, {"all", 0}, {"byte_loads", 0}, {"word_loads", 0}};
  for (const Kind& kind : kKinds) counts[kind.key] = 0;
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
  return counts["all"] > 0 ? counts : Json();
}

}  // namespace

Json count_sass(const std::string& text) { return count(text, "SASS", true); }
Json count_ptx(const std::string& text) { return count(text, "PTX", false); }

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
    return text_of(out);
  }
  return {};
}

std::string text_of_counts(const Json& counts) {
  if (counts.is_null()) return "its instructions are not known, because neither cuobjdump nor nvdisasm is installed";
  const auto n = [&](const char* key) { return counts.at(key).get<int>(); };
  return fmt::format(
      "{} of {} instructions: {} byte loads, {} word loads, {} shared loads, {} VABSDIFF4, {} shifts, {} barriers, {} warp "
      "reductions, {} spills",
      counts.at("source").get<std::string>(), n("all"), n("byte_loads"), n("word_loads"), n("shared_loads"), n("absdiff4"),
      n("shifts"), n("barriers"), n("warp_reductions"), n("spills"));
}

Advice advise(const Json& counts, double share, double occupancy, std::size_t local_bytes) {
  const auto n = [&](const char* key) { return counts.is_null() ? 0 : counts.at(key).get<int>(); };
  if (n("spills") > 0) {
    return {fmt::format("registers: {} loads and stores are of registers kept in memory ({} bytes a thread)", n("spills"),
                        local_bytes),
            "fewer values at a time, or smaller thread blocks (__launch_bounds__)"};
  }
  if (share >= 0.8)
    return {"the ALU: the ceiling of VABSDIFF4 is near",
            "step 5 of docs/course.md: do less work, rule candidates out by sums"};
  if (!counts.is_null() && n("absdiff4") == 0) {
    if (n("shared_stores") <= 1 && n("byte_loads") > 0) {
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
  if (n("barriers") > 6) {
    return {fmt::format("barriers: {} of them, most in the reduction", n("barriers")),
            "step 2 of docs/course.md: let warps reduce keys (examples/gpu/packed.cu)"};
  }
  if (n("absdiff4") > 0 && n("shifts") + n("shared_loads") > n("absdiff4")) {
    return {fmt::format("shifts and loads: {} for {} VABSDIFF4, on the same pipe or before it",
                        n("shifts") + n("shared_loads"), n("absdiff4")),
            "step 3 of docs/course.md: stay in registers, use each loaded word for many candidates"};
  }
  if (occupancy > 0 && occupancy < 0.3) {
    return {fmt::format("occupancy: {:.0f} % of the warps fit", 100 * occupancy),
            "less shared memory or fewer registers for each thread block"};
  }
  return {"not clear from its instructions", "profile it: docs/profiling.md"};
}

}  // namespace c63::bench
