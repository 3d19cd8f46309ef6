#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "race/access_counts.h"
#include "race/emulated_threads.h"
#include "race/shadow_memory.h"

namespace c63::race {

/// The memory of an emulated GPU. Checks each access of a thread.
class EmulatedMemory {
 public:
  /// Where a loaded library has its variables. Shared memory is a part of them, with dynamic shared memory at `dynamic`.
  struct Image {
    std::uintptr_t begin = 0;
    std::size_t bytes = 0;
    std::uintptr_t shared_begin = 0;
    std::uintptr_t shared_end = 0;
    std::uintptr_t dynamic = 0;
  };
  EmulatedMemory(const Image& image, EmulatedThreads& threads, std::mt19937& random, Notes& faults, Notes& doubts);

  [[nodiscard]] DeviceMemory& device() { return device_; }
  /// Returns device memory with unknown bytes, or null if there is none left. `order` chooses them.
  [[nodiscard]] std::uint8_t* allocate(std::size_t bytes, const char* name, unsigned order, bool is_managed = false);

  /// `stack` is near the parameters of the kernel, which threads may read.
  void begin_launch(std::size_t dynamic_bytes, const void* stack);
  void begin_block(unsigned order);

  /// Copies bytes, or fills them with `value` if `from_memory` is null. Returns false if they leave their memory.
  bool transfer(void* to, const void* from_memory, std::size_t bytes, int value, std::uint32_t from);

  // What a thread does. `from` is a place in the code.
  void access(const void* at, std::size_t bytes, unsigned kind, std::uint32_t from);
  void copy(void* to, const void* from_memory, unsigned bytes, std::uint32_t from);
  void end_copies() { ++copies_[static_cast<std::size_t>(threads_.index())].groups; }
  void wait_copies(unsigned left);

  void start_counting() { counts_ = std::make_unique<AccessCounts>(image_.bytes); }
  /// Null: nothing is counted.
  [[nodiscard]] AccessCounts* counts() const { return counts_.get(); }

 private:
  /// A copy that goes on.
  struct Copy {
    std::uint8_t* to;
    const std::uint8_t* from_memory;
    unsigned bytes;
    unsigned group;
    std::uint32_t from;
  };
  struct Copies {
    unsigned groups = 0;  ///< that the thread has ended
    std::vector<Copy> all = {};
  };
  void fill(std::uint8_t* at, std::size_t bytes, unsigned order);
  void check(ShadowMemory& shadow, std::size_t at, std::size_t bytes, bool is_shared, unsigned kind, std::uint32_t from) {
    shadow.check(at, bytes,
                 {.is_read = (kind & kC63Read) != 0,
                  .is_write = (kind & kC63Write) != 0,
                  .is_shared = is_shared,
                  .has_value = &shadow == &image_shadow_,
                  .first_block = threads_.first_block()},
                 threads_.stamp(from, (kind & kC63Together) != 0), faults_, doubts_);
  }

  Image image_;
  EmulatedThreads& threads_;
  std::mt19937& random_;
  Notes& faults_;
  Notes& doubts_;
  ShadowMemory image_shadow_;
  DeviceMemory device_;
  std::size_t dynamic_bytes_ = 0;
  std::uintptr_t host_stack_ = 0;
  std::vector<Copies> copies_;  ///< of each thread
  std::unique_ptr<AccessCounts> counts_;
};

}  // namespace c63::race
