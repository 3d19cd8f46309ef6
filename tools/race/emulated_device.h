#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "race/emulated_gpu.h"
#include "race/emulated_memory.h"
#include "race/emulated_threads.h"
#include "race/race_judge.h"

namespace c63::race {

/// A GPU that a CPU emulates, with the kernels of one library. There can be one object at a time.
class EmulatedDevice {
 public:
  /// Opens a library of compile_emulated() or a program of compile_program(), whose path is empty. Throws Error (input, memory).
  EmulatedDevice(std::string path, std::string library, std::uint32_t seed);
  ~EmulatedDevice();
  EmulatedDevice(const EmulatedDevice&) = delete;
  EmulatedDevice& operator=(const EmulatedDevice&) = delete;

  /// Returns a function or variable of the library, or null.
  [[nodiscard]] void* symbol(const std::string& name) const;
  [[nodiscard]] EmulatedMemory& memory() { return memory_; }

  /// From now on, orders of threads and blocks and bytes that nobody has written are others.
  void change_order() { ++order_; }
  /// Returns device memory with unknown bytes, or null if there is none left.
  [[nodiscard]] std::uint8_t* allocate(std::size_t bytes, const char* name) { return memory_.allocate(bytes, name, order_); }
  /// Hides the device's memory from the host while no kernel runs.
  void hide_from_host() { memory_.device().hide_from_host(); }
  /// Notes a fault of the host. Returns false if the address is not in the device's memory.
  bool host_fault(const void* at, std::span<void* const> frames);
  /// Runs a kernel. Returns 0, or a CUDA error.
  int launch(const std::function<void()>& kernel, const std::array<int, 3>& grid, const std::array<int, 3>& block, int shared_bytes);

  /// A fault ends a launch. A doubt is a fault only if the results are wrong.
  [[nodiscard]] Notes& faults() { return faults_; }
  /// Returns what was noted, with the lines of the file.
  [[nodiscard]] std::vector<MotionSuspicion> told(bool is_fault) const;
  [[nodiscard]] std::vector<LineCounts> counts() const;

 private:
  [[nodiscard]] void* allocate_for_program(std::size_t bytes, bool is_managed);
  [[nodiscard]] EmulatedMemory::Image image() const;
  [[nodiscard]] std::uint32_t offset_of(const void* from) const { return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(from) - image_.begin - 1); }
  [[nodiscard]] std::map<std::uint32_t, CodeLine> lines(const std::vector<std::uint32_t>& places) const;

  static EmulatedDevice* self;  ///< for the functions that the library calls

  std::string path_;
  std::string library_;
  void* opened_;
  EmulatedMemory::Image image_;
  std::mt19937 random_;
  Notes faults_;
  Notes doubts_;
  EmulatedThreads threads_{faults_, random_};
  EmulatedMemory memory_;
  unsigned order_ = 0;
};

/// Loads a library. Throws Error (input).
[[nodiscard]] void* open_library(const std::string& library, const std::string& path);

}  // namespace c63::race
