#pragma once

#include "bench/bench.h"
#include <string>
#include <vector>

namespace c63::bench {

/// How many instructions of each kind are in a kernel's code. Each counts once, however often it is executed.
struct InstructionCounts {
  std::string source;  ///< "SASS" or "PTX"; empty if nothing is known
  int all = 0;
  int byte_loads = 0;
  int word_loads = 0;  ///< loads from global memory of two or more bytes
  int shared_loads = 0;
  int shared_stores = 0;
  int spills = 0;    ///< loads and stores of registers that do not fit and are kept in memory
  int absdiff4 = 0;  ///< VABSDIFF4: four absolute differences each
  int shifts = 0;
  int barriers = 0;
  int warp_reductions = 0;  ///< REDUX and shuffles
  int copies_ahead = 0;     ///< asynchronous copies from global to shared memory

  [[nodiscard]] Json to_json() const;
  [[nodiscard]] std::string text() const;
};

/// Counts the instructions in SASS, as cuobjdump and nvdisasm print it.
[[nodiscard]] InstructionCounts count_sass(const std::string& text);
[[nodiscard]] InstructionCounts count_ptx(const std::string& text);

/// Disassembles a cubin with cuobjdump or nvdisasm from a CUDA toolkit. Empty if neither is installed or can read it.
[[nodiscard]] std::string disassemble(const std::vector<char>& cubin);

/// What limits a kernel's speed, and which step of docs/course.md to try next.
struct Advice {
  std::string bound;
  std::string next_step;
};
[[nodiscard]] Advice advise(const InstructionCounts& counts, double share_of_ceiling, double occupancy,
                            std::size_t local_bytes);

}  // namespace c63::bench
