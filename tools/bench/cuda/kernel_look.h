#pragma once

#include "bench/bench.h"
#include <string>
#include <vector>

namespace c63::bench {

/// Counts the instructions of each kind in SASS, as cuobjdump and nvdisasm print it. Each counts once, however often it is
/// executed. Returns null if there is none, else `source` and a number by kind: `word_loads` are loads from global memory of
/// two or more bytes; `spills` loads and stores of registers that do not fit; `absdiff4` VABSDIFF4, four absolute
/// differences each; `copies_ahead` asynchronous copies from global to shared memory.
[[nodiscard]] Json count_sass(const std::string& text);
[[nodiscard]] Json count_ptx(const std::string& text);

/// Returns a line for people.
[[nodiscard]] std::string text_of_counts(const Json& counts);

/// Disassembles a cubin with cuobjdump or nvdisasm from a CUDA toolkit. Empty if neither is installed or can read it.
[[nodiscard]] std::string disassemble(const std::vector<char>& cubin);

/// What limits a kernel's speed, and which step of docs/course.md to try next.
struct Advice {
  std::string bound;
  std::string next_step;
};
[[nodiscard]] Advice advise(const Json& counts, double share_of_ceiling, double occupancy, std::size_t local_bytes);

}  // namespace c63::bench
