#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "c63/motion_vector.h"
#include "c63/picture.h"

namespace c63 {

/// The motion that somebody's search found in one plane, with the samples that it searched. Both planes have the same
/// size, with sides that are multiples of 8. All spans have one value per 8x8 block, in raster order, or are empty.
struct FoundMotion {
  ConstPlaneView current;
  ConstPlaneView reference;
  int range = 16;                                ///< of this plane, in samples, 0..127; 0 has no candidate
  std::span<const MotionVector> vectors;         ///< never empty
  std::span<const std::uint16_t> sads = {};      ///< what the search says; empty: it says nothing
  std::span<const std::uint8_t> audited = {};    ///< 0: the block is left out; empty: all blocks are audited
  std::span<const std::uint8_t> unwritten = {};  ///< 1: the search wrote nothing for the block
  std::span<const std::uint8_t> unsteady = {};   ///< 1: two searches of the same samples gave different results
  std::span<const MotionVector> previous = {};   ///< the exact result of the call before, to recognize an old one
  std::int64_t frame = 0;                        ///< for texts
  int plane = 0;                                 ///< 0 Y, 1 U, 2 V: for texts
};

/// What is wrong with one block. The first that applies is told.
enum class MotionFault {
  none,
  unwritten,      ///< the search wrote nothing
  unsteady,       ///< another search of the same samples gave another result
  leaves_plane,   ///< the vector points outside the reference plane
  leaves_window,  ///< the vector is no candidate
  not_smallest,   ///< a candidate has a smaller SAD
  not_first,      ///< a candidate of the same SAD comes first in raster order
  wrong_sad,      ///< the vector is right; the SAD that the search tells is not
};
inline constexpr int kMotionFaults = 8;

/// What an audit counted.
struct AuditCounts {
  std::int64_t blocks = 0;                              ///< that were audited
  std::array<std::int64_t, kMotionFaults> faults = {};  ///< blocks by MotionFault
  std::uint64_t sad = 0;        ///< sum of the SADs of what was found, over blocks whose vectors are candidates
  std::uint64_t exact_sad = 0;  ///< sum of the least SADs of the same blocks

  [[nodiscard]] std::int64_t count(MotionFault fault) const { return faults[static_cast<std::size_t>(fault)]; }
  [[nodiscard]] std::int64_t differing() const { return blocks - count(MotionFault::none); }
};

/// One block that differs from exact search.
struct MotionDifference {
  std::int64_t frame = 0;
  int plane = 0;
  int column = 0;
  int row = 0;
  MotionFault fault = MotionFault::none;
  MotionVector vector;                         ///< that was found
  std::uint32_t sad = 0;                       ///< of that vector; 0 if it leaves the plane
  std::optional<std::uint16_t> told_sad = {};  ///< what the search says
  MotionVector exact;                          ///< the first vector of least SAD
  std::uint32_t exact_sad = 0;

  /// The SAD that the difference costs; 0 if the vector leaves the plane or the window.
  [[nodiscard]] std::uint32_t lost() const { return sad > exact_sad ? sad - exact_sad : 0; }
};

/// One sentence: "frame 3, Y, block (12, 7): your vector (5, -2), SAD 310; the first smallest is (4, -2), SAD 298".
/// `whose` is the word before "vector".
[[nodiscard]] std::string to_string(const MotionDifference& difference, const std::string& whose = "your");
/// A short name: "unwritten", "not smallest", …
[[nodiscard]] std::string to_string(MotionFault fault);

/// A likely cause of the differences.
struct MotionSuspicion {
  std::string id;    ///< stable: "window-right-short", "last-of-equals", …
  std::string text;  ///< what a person should look at
  double share = 0;  ///< of the differing blocks that were tried, which the cause explains; 0..1
};

/// Holds found motion against exact search: the codec's rules, every candidate, the first of least SAD.
///
/// To name causes it repeats common mistakes: it searches some blocks once more with each mistake, and compares what
/// comes out with what was found. A mistake that gives the found vectors is the suspicion.
class MotionAudit {
 public:
  MotionAudit();
  ~MotionAudit();
  MotionAudit(MotionAudit&&) noexcept;
  MotionAudit& operator=(MotionAudit&&) noexcept;

  /// Audits one plane. Returns the number of its blocks that differ. Throws Error (usage) for planes or spans of other
  /// sizes.
  std::int64_t add(const FoundMotion& found);

  [[nodiscard]] const AuditCounts& totals() const;
  [[nodiscard]] const AuditCounts& totals(int plane) const;
  /// The first difference, in the order of add(); empty if there is none.
  [[nodiscard]] const std::optional<MotionDifference>& first() const;
  /// The differences of the last add().
  [[nodiscard]] std::span<const MotionDifference> differences() const;
  /// The exact result of the last add().
  [[nodiscard]] std::span<const MotionVector> exact_vectors() const;
  [[nodiscard]] std::span<const std::uint16_t> exact_sads() const;
  /// Likely causes, most likely first; empty if nothing differs. Where no known mistake fits, it says what is common to
  /// the blocks.
  [[nodiscard]] std::vector<MotionSuspicion> suspicions() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace c63
