#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

// Everything here is local to the file that includes it. Otherwise the linker could merge it with code that is compiled
// for another instruction set, which the machine may not have.

namespace c63::cpu {
namespace {

/// More than the cost of any candidate.
constexpr int kNoCost = 0x7FFF;

/// The keys of the best candidates of a search so far, lowest first. A key has a candidate's cost in its upper 16 bits,
/// and its number in the window in the lower 16 (candidate_key()). Unused entries at the end are UINT32_MAX.
class BestKeys {
 public:
  BestKeys() = default;  ///< to be assigned before it is used
  explicit BestKeys(std::span<std::uint32_t> keys) : keys_(keys.data()), count_(keys.size()) {
    for (std::size_t i = 0; i < count_; ++i) keys_[i] = UINT32_MAX;
  }

  [[nodiscard]] std::uint32_t first() const { return keys_[0]; }

  /// The highest cost with which a new candidate may still get into the list. It is always below kNoCost.
  [[nodiscard]] int limit() const { return static_cast<int>(std::min<std::uint32_t>(keys_[count_ - 1] >> 16, kNoCost - 1)); }

  /// Inserts the key of a candidate in order, if it is good enough. Adding a key that is already in the list has no
  /// effect.
  void add(std::uint32_t key) {
    std::size_t place = count_;
    while (place > 0 && key < keys_[place - 1]) --place;
    if (place == count_ || (place > 0 && keys_[place - 1] == key)) return;
    for (std::size_t i = count_ - 1; i > place; --i) keys_[i] = keys_[i - 1];
    keys_[place] = key;
  }
  /// Does the same for a list of one key.
  void add_to_one(std::uint32_t key) { keys_[0] = std::min(keys_[0], key); }

 private:
  std::uint32_t* keys_;
  std::size_t count_;
};

}  // namespace
}  // namespace c63::cpu
