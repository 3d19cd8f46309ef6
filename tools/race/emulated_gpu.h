#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "race/access_counts.h"
#include "race/host_search.h"
#include "race/race_judge.h"

namespace c63::race {

/// Compiles a .cu file for EmulatedGpu, as compile_search() does.
[[nodiscard]] BuiltSearch compile_emulated(const std::string& path, const std::string& folder);

/// Compiles a CUDA program as nvcc does with these arguments, so that run_program() runs it. Throws Error.
void compile_program(std::span<const std::string> arguments);

/// Runs a program that compile_program() has linked: the words are its library and its arguments. Ends this process. If there was a
/// fault, it is printed, and the exit code is 3. The file that C63_EMULATED_FAULTS names gets faults and doubts, one a line.
[[noreturn]] void run_program(std::vector<std::string> words);

/// Returns the preprocessed text of a .cu file with CUDA's words and inline PTX replaced by C++. A program may launch its kernels.
[[nodiscard]] std::string emulated_source(const std::string& preprocessed, bool is_program);

/// A line of a user's file. 0: unknown, or binutils (addr2line) is missing.
struct CodeLine {
  std::string file;
  int line = 0;
};
/// Returns the lines of the file at `path`, or of any .cu file if that is empty, for places in the code of a library.
[[nodiscard]] std::map<std::uint32_t, CodeLine> lines_of(const std::vector<std::uint32_t>& places, const std::string& library, const std::string& path);

/// A GPU that a CPU emulates, with one search from a file. Threads of a block are fibres; blocks run one after another. Their order
/// changes from launch to launch, and so do the bytes of memory that nobody has written. All accesses to memory are checked.
class EmulatedGpu {
 public:
  /// Opens a library of compile_emulated(). `host_part` has the host code; empty: there is none. Throws Error: input (a library
  /// cannot be loaded), usage (C63-KERNEL-FORM: the kernel is missing).
  EmulatedGpu(const std::string& path, const std::string& library, const std::string& host_part, std::uint32_t seed);
  ~EmulatedGpu();
  EmulatedGpu(const EmulatedGpu&) = delete;
  EmulatedGpu& operator=(const EmulatedGpu&) = delete;

  /// Searches the cases in one launch.
  [[nodiscard]] std::vector<SearchedCase> search(std::span<const RaceCase> cases, const CaseLayout& layout);

  /// Returns the faults so far, each once.
  [[nodiscard]] std::vector<MotionSuspicion> faults() const;
  /// Returns what is a fault only if the results are wrong: reads of memory that nobody has written, and reads by one thread of what
  /// others change by atomic functions.
  [[nodiscard]] std::vector<MotionSuspicion> doubts() const;

  /// Counts accesses from now on.
  void start_counting();
  [[nodiscard]] std::vector<LineCounts> counts() const;

 private:
  class Device;
  std::unique_ptr<Device> device_;
};

}  // namespace c63::race
