#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace c63::race {

inline constexpr int kWarp = 32;  ///< lanes

/// What one line of a kernel does to one kind of memory. An access is that of a warp, by all lanes that take part.
struct LineCounts {
  int line = 0;
  bool is_shared = false;
  std::int64_t accesses = 0;
  std::int64_t lanes = 0;  ///< that take part, summed over all accesses
  std::int64_t bytes = 0;  ///< that lanes ask for
  std::int64_t steps = 0;  ///< global memory: sectors of 32 bytes; shared memory: turns, of which each serves 32 banks
  std::int64_t least = 0;  ///< the fewest steps that could have moved as many different bytes

  void add(const LineCounts& other);
};

/// Counts accesses of the warps of a block.
class AccessCounts {
 public:
  /// The places in the code are below `code_bytes`.
  explicit AccessCounts(std::size_t code_bytes) : site_of_(2 * code_bytes), sites_(1) {}

  /// Notes an access by a thread of the block.
  void add(int thread, std::uintptr_t place, std::size_t bytes, bool is_shared, std::uint32_t from);
  /// Counts what was noted. Threads are at a barrier, or have ended. The n-th access of a lane by an instruction is taken as part of
  /// one access with the n-th of the other lanes.
  void end_interval();
  /// Leaves out what was noted and not counted.
  void forget_block() { traces_.clear(); }

  /// Returns the counts of each place in the code.
  [[nodiscard]] std::vector<std::pair<std::uint32_t, LineCounts>> by_place() const;

 private:
  struct Access {
    std::uint32_t site;
    std::uint32_t bytes;
    std::uintptr_t place;
  };
  /// One access of a warp: its lanes, and their addresses.
  struct Group {
    std::uint32_t bytes = 0;
    std::vector<std::pair<int, std::uintptr_t>> lanes = {};
  };
  /// An instruction that accesses one kind of memory.
  struct Site {
    std::uint32_t from = 0;
    LineCounts counts = {};
    std::vector<Group> groups = {};  ///< of the warp that is counted now
  };
  [[nodiscard]] static LineCounts counts_of(const Group& group, bool is_shared);
  void add_warp(std::span<const std::vector<Access>> lanes);

  std::vector<std::uint32_t> site_of_;  ///< by place in the code and kind of memory; 0: none yet
  std::vector<Site> sites_;
  std::vector<std::vector<Access>> traces_;  ///< of each thread
};

}  // namespace c63::race
