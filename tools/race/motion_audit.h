#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "c63/motion.h"
#include "c63/picture.h"

namespace c63 {

/// The result of a motion search that is to be audited, for one plane, with the samples that were searched. Both planes
/// have the same size, with sides that are multiples of 8. Each span has one value per 8x8 block, in raster order, or
/// is empty.
struct FoundMotion {
  ConstPlaneView current;
  ConstPlaneView reference;
  /// The search range in this plane, in samples, 0..127; with 0 every block has the zero vector.
  int range = 16;
  std::span<const MotionVector> vectors;         ///< never empty
  std::span<const std::uint16_t> sads = {};      ///< the SADs that the search reports; empty: it reports none
  std::span<const std::uint8_t> audited = {};    ///< 0: the block is not audited; empty: all blocks are audited
  std::span<const std::uint8_t> unwritten = {};  ///< 1: the search wrote nothing for the block
  std::span<const std::uint8_t> unsteady = {};   ///< 1: two searches of the same samples gave different results
  /// The exact result of the previous call of add() for this plane, to recognize a result that the search did not
  /// renew. Empty: unknown.
  std::span<const MotionVector> previous = {};
  std::int64_t frame = 0;                        ///< number of the frame, for messages
  int plane = 0;                                 ///< 0 Y, 1 U, 2 V; for messages
};

/// What is wrong with the result of one block. If several apply, the first of this list is reported.
enum class MotionFault {
  none,
  unwritten,      ///< the search wrote no result
  unsteady,       ///< another search of the same samples gave another result
  leaves_plane,   ///< the vector points outside the reference plane
  leaves_window,  ///< the vector is not a candidate
  not_smallest,   ///< a candidate has a smaller SAD
  not_first,      ///< a candidate with the same SAD comes first in raster order
  wrong_sad,      ///< the vector is right, but the SAD that the search reports is not
};
inline constexpr int kMotionFaults = 8;

/// The counts of an audit.
struct AuditCounts {
  std::int64_t blocks = 0;                              ///< audited blocks
  std::array<std::int64_t, kMotionFaults> faults = {};  ///< number of blocks with each MotionFault
  /// The sum of the found vectors' SADs. Blocks that were not written, that are unsteady, or whose vector is not a
  /// candidate are left out.
  std::uint64_t sad = 0;
  std::uint64_t exact_sad = 0;  ///< sum of the least SADs over the same blocks

  [[nodiscard]] std::int64_t count(MotionFault fault) const { return faults[static_cast<std::size_t>(fault)]; }
  [[nodiscard]] std::int64_t differing() const { return blocks - count(MotionFault::none); }
};

/// One block whose result differs from exact search.
struct MotionDifference {
  std::int64_t frame = 0;
  int plane = 0;
  int column = 0;
  int row = 0;
  MotionFault fault = MotionFault::none;
  MotionVector vector;                         ///< the found vector
  std::uint32_t sad = 0;                       ///< SAD of the found vector; 0 if the vector leaves the plane
  std::optional<std::uint16_t> told_sad = {};  ///< the SAD that the search reports
  MotionVector exact;                          ///< the first vector with the least SAD
  std::uint32_t exact_sad = 0;

  /// How much larger the SAD of the found vector is than the least SAD of the candidates. 0 if it is not larger, or if
  /// the found vector leaves the plane.
  [[nodiscard]] std::uint32_t lost() const { return sad > exact_sad ? sad - exact_sad : 0; }
};

/// Returns one line: "frame 3, Y, block (12, 7): your vector (5, -2), SAD 310; the right vector is (4, -2), SAD 298".
/// `whose` is the word before "vector".
[[nodiscard]] std::string to_string(const MotionDifference& difference, const std::string& whose = "your");
/// Returns the fault's name: "not written", "not the smallest", …
[[nodiscard]] std::string to_string(MotionFault fault);

/// A likely cause of the differences.
struct MotionSuspicion {
  std::string id;    ///< stable: "window-right-short", "last-of-equals", …
  std::string text;  ///< advice: where a person should look
  /// 0..1: the share of the differing blocks that the cause explains. For common mistakes, only the blocks on which they
  /// were tried count.
  double share = 0;
};

/// The samples and settings with which one block is searched.
struct SearchedBlock {
  ConstPlaneView current;
  ConstPlaneView reference;
  int range = 0;  ///< the plane's range, in samples
  int column = 0;
  int row = 0;
  std::span<const MotionVector> previous;  ///< the exact result of the previous call for this plane; may be empty
  std::span<const MotionVector> exact;     ///< the exact result for this plane
};

/// A mistake that programmers often make in a motion search.
struct MotionMistake {
  const char* id;
  const char* text;  ///< advice: where a person should look
  /// Returns the vector that a search with this mistake finds for the block; empty if the mistake cannot be tried on
  /// the block.
  std::optional<MotionVector> (*find)(const SearchedBlock& block);
};

/// All known mistakes. Of mistakes that give the same vectors, the first is the most likely.
[[nodiscard]] std::span<const MotionMistake> motion_mistakes();

/// Compares the results of a motion search with exact search: all candidates by the codec's rules, and the first with
/// the least SAD.
///
/// It also suggests causes. It repeats the search of some blocks with each of a list of common mistakes. If a mistake
/// gives the found vectors, it is a likely cause.
class MotionAudit {
 public:
  /// Audits one plane.
  void add(const FoundMotion& found);

  [[nodiscard]] const AuditCounts& totals() const { return totals_; }
  [[nodiscard]] const AuditCounts& totals(int plane) const { return plane_totals_[static_cast<std::size_t>(plane)]; }
  /// The first difference of all calls of add(); empty if there is none.
  [[nodiscard]] const std::optional<MotionDifference>& first() const { return first_; }
  /// The differences of the last add().
  [[nodiscard]] std::span<const MotionDifference> differences() const { return differences_; }
  /// The exact vectors of the last add().
  [[nodiscard]] std::span<const MotionVector> exact_vectors() const { return exact_.vectors; }
  /// Likely causes of the differences, the most likely first; empty if nothing differs. Also says what all differing
  /// blocks have in common, such as the first column.
  [[nodiscard]] std::vector<MotionSuspicion> suspicions() const;

 private:
  /// The results of one mistake that was tried on blocks. A differing block is one whose result is wrong; the mistake
  /// explains it if it gives the same wrong vector.
  struct Tried {
    std::int64_t wrong = 0;      ///< differing blocks on which it was tried
    std::int64_t explained = 0;  ///< differing blocks for which it gives the found vector
    std::int64_t right = 0;      ///< right blocks on which it was tried
    std::int64_t kept = 0;       ///< right blocks for which it gives the found vector

    [[nodiscard]] bool refuted() const {
      return (wrong >= 16 && explained * 2 < wrong) || (right >= 16 && kept * 4 < right * 3);
    }
    [[nodiscard]] bool fits() const { return explained > 0 && explained * 10 >= wrong * 9 && kept * 10 >= right * 9; }
  };
  /// The numbers of blocks with wrong results in the first and last columns and rows, and in chroma.
  struct Places {
    std::int64_t first_column = 0;
    std::int64_t last_column = 0;
    std::int64_t first_row = 0;
    std::int64_t last_row = 0;
    std::int64_t chroma = 0;
  };

  [[nodiscard]] MotionDifference judge(const FoundMotion& found, int column, int row) const;
  void note_place(const FoundMotion& found, const MotionDifference& difference);
  void try_mistakes(const FoundMotion& found);

  AuditCounts totals_;
  std::array<AuditCounts, 3> plane_totals_;
  std::optional<MotionDifference> first_;
  std::vector<MotionDifference> differences_;
  MotionField exact_;
  std::vector<Tried> tried_;  ///< for each of motion_mistakes(); empty before the first difference
  std::int64_t blocks_tried_ = 0;
  Places places_;
  std::int64_t sads_8_bits_ = 0;
  std::int64_t sads_untold_ = 0;  ///< blocks whose vector is right and whose SAD is reported as 0, although it is not 0
};

}  // namespace c63
