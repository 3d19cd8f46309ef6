#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "c63/motion_audit.h"
#include "race/race_cases.h"

namespace c63::race {

/// What a search wrote.
struct Field {
  std::vector<MotionVector> vectors;
  std::vector<std::uint16_t> sads;

  /// As it is before a search: every byte is `poison`.
  static Field poisoned(std::size_t blocks, std::uint8_t poison);
  friend bool operator==(const Field&, const Field&) = default;
};

inline constexpr std::uint8_t kPoison = 0x5A;
inline constexpr std::uint8_t kOtherPoison = 0xA5;

/// The three searches of a case. What is outside the samples, and what was in the results before, must not matter.
struct CaseResults {
  Field first;          ///< into kPoison
  Field again;          ///< the same once more, into kOtherPoison
  Field other_padding;  ///< with other bytes between and around the rows, into kPoison
};

/// What is said of an entrant.
struct Verdict {
  bool is_right = false;
  std::string first;  ///< the first thing that is wrong; empty if nothing is
  std::vector<MotionSuspicion> suspicions;
  AuditCounts totals;
  int cases = 0;
  int wrong_cases = 0;
};

/// Judges one entrant, case by case.
class Judge {
 public:
  /// With `inexact`, vectors that are no first minimum are no fault.
  explicit Judge(bool inexact) : inexact_(inexact) {}

  void add(const RaceCase& c, const CaseResults& results);
  /// Something that ended the entrant, such as a crash: what happened, and its likely cause.
  void stopped(const std::string& what, MotionSuspicion cause);
  /// Something that is wrong without a block, such as a write past the results.
  void broke(const RaceCase& c, const std::string& what, MotionSuspicion cause);

  /// Returns true if enough is wrong to tell the cause. The rest of the cases need not be searched.
  [[nodiscard]] bool has_enough() const { return wrong_cases_ >= 24 && cases_ >= 32; }

  [[nodiscard]] Verdict verdict() const;

 private:
  [[nodiscard]] std::int64_t faults_of_last() const;

  bool inexact_;
  MotionAudit audit_;
  std::map<std::size_t, std::vector<MotionVector>>
      previous_;  ///< the exact result of the last case with so many blocks
  int cases_ = 0;
  int wrong_cases_ = 0;
  std::set<std::pair<int, int>> right_sizes_;
  std::set<std::pair<int, int>> wrong_sizes_;
  int wrong_with_pitch_ = 0;
  int right_with_pitch_ = 0;
  int wrong_after_first_ = 0;     ///< cases
  bool first_was_right_ = false;  ///< the first search of all
  std::set<std::string> wrong_contents_;
  std::int64_t untold_sads_ = 0;
  std::int64_t false_sads_ = 0;
  std::int64_t impossible_sads_ = 0;  ///< less than the least
  std::string first_;
  std::vector<MotionSuspicion> causes_;
};

/// A few lines for a person: the verdict, the first fault, suspicions.
[[nodiscard]] std::string to_string(const Verdict& verdict);

}  // namespace c63::race
