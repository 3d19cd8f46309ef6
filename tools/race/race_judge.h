#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "race/motion_audit.h"
#include "race/race_cases.h"

namespace c63::race {

/// The results that a search has written.
struct SearchResults {
  std::vector<MotionVector> vectors;
  std::vector<std::uint16_t> sads;

  /// Returns results before a search, with each byte set to `poison`.
  static SearchResults poisoned(std::size_t blocks, std::uint8_t poison);
  friend bool operator==(const SearchResults&, const SearchResults&) = default;
};

inline constexpr std::uint8_t kPoison = 0x80;  ///< no component of a vector, and no SAD, has such bytes
inline constexpr std::uint8_t kOtherPoison = 0xA5;

/// How a case lies in memory for one search.
struct CaseLayout {
  std::uint8_t poison = kPoison;  ///< each byte of the results, and of what is around them, before the search
  std::uint8_t around = 0x33;     ///< each byte around the planes
  bool at_end =
      false;  ///< on a CPU: planes and results end at a page that may not be touched; false: they begin at one
  std::uint32_t place = 0;  ///< on a CPU: layouts with the same number have the same addresses; 0: any addresses
};

/// What one search has left of a case.
struct SearchedCase {
  SearchResults results;
  bool past_results = false;  ///< bytes around the results were overwritten
  bool wrote_planes = false;  ///< bytes of the planes, or around them, were overwritten
  bool works_after = false;   ///< this search, or the one before, went on after it had returned
  double seconds = 0;         ///< how long it took, if that was measured
  double cpu_seconds = 0;     ///< CPU time of all its threads, if that was measured
};

/// Searches cases in one call.
using SearchCases = std::function<std::vector<SearchedCase>(std::span<const RaceCase>, const CaseLayout&)>;

/// The judgement of a search.
struct Verdict {
  bool is_right = false;
  std::string first;  ///< the first mistake; empty if there is none
  std::vector<MotionSuspicion> suspicions;
  AuditCounts totals;
  int cases = 0;
  int wrong_cases = 0;
};

/// Times of a search, in seconds.
struct RaceTimes {
  double median = 0;
  double fastest = 0;   ///< with planes that nobody knew
  double again = 0;     ///< the fastest with planes that it had just seen
  double read = 0;      ///< that the hardware needs to read the planes; 0: unknown
  double shortest = 0;  ///< shorter times are too inaccurate to compare `fastest` and `again`
  const char* hardware = "CPU";  ///< for messages
};

/// Judges one search, case by case.
class Judge {
 public:
  /// With `inexact`, vectors need neither be the first with the smallest SAD nor be candidates. Reported SADs must fit
  /// the vectors.
  explicit Judge(bool inexact) : inexact_(inexact) {}

  /// Has all test cases of a seed searched, several times each, and judges the results. Call i searches
  /// calls[i % calls.size()] cases. A second search of the same samples is repeated up to `searches_again` times,
  /// because a data race shows only sometimes. Stops early if there are enough mistakes to tell the cause. Before each
  /// call, tells `next` which cases it searches. The cases are those of race_cases().
  void judge(const SearchCases& search, std::uint32_t seed, int range, std::span<const std::size_t> calls,
             int searches_again, const std::function<void(const std::string&)>& next, int part = 1);
  /// Judges one search of a case, as after a timed run.
  void check(const RaceCase& c, const SearchedCase& found);
  /// Judges whether the times can be those of searches that do their work.
  void check_times(const RaceTimes& times);
  /// Reports something that ended the search, such as a crash: what happened, and its likely cause.
  void stopped(const std::string& what, MotionSuspicion cause);

  [[nodiscard]] Verdict verdict() const;

 private:
  /// Judges three searches of a case: into bytes kPoison; the same again, into bytes kOtherPoison; with other bytes
  /// between and around the rows. All must give the same, because neither bytes outside the samples nor old results may
  /// matter.
  void add(const RaceCase& c, const SearchResults& first, const SearchResults& again,
           const SearchResults& other_padding);
  /// Reports what a search of the case has done to other memory than its results.
  void add_harm(const RaceCase& c, const SearchedCase& found);
  /// Reports a mistake that belongs to no block, such as a write past the results.
  void broke(const RaceCase& c, const std::string& what, MotionSuspicion cause);
  /// Returns true if an inexact search may find such a vector.
  [[nodiscard]] bool accepts(const MotionDifference& difference) const;
  void add_cause(MotionSuspicion cause);
  /// Returns true if planes of one size are always right, and all others always wrong, smaller ones too.
  [[nodiscard]] bool only_one_size_is_right() const;

  bool inexact_;
  MotionAudit audit_;
  std::map<std::size_t, std::vector<MotionVector>>
      previous_;  ///< exact result of the last case with the same number of blocks
  int cases_ = 0;
  int wrong_cases_ = 0;
  std::multiset<std::pair<int, int>> right_sizes_;  ///< one entry for each right case
  std::set<std::pair<int, int>> wrong_sizes_;
  int wrong_with_pitch_ = 0;
  int right_with_pitch_ = 0;
  int wrong_after_first_ = 0;     ///< number of wrong cases after the first case
  bool first_was_right_ = false;  ///< of the first case
  std::set<std::string> wrong_contents_;
  std::int64_t untold_sads_ = 0;
  std::int64_t false_sads_ = 0;
  std::int64_t impossible_sads_ = 0;  ///< number of SADs below the smallest possible one
  std::string first_;
  std::vector<MotionSuspicion> causes_;
};

/// Returns the verdict in one word: "right", "wrong", or "impossible" for a search that is faster than its planes can be read.
[[nodiscard]] std::string name_of(const Verdict& verdict);

/// Returns a few lines for the user: the verdict, the first mistake, and suspicions.
[[nodiscard]] std::string to_string(const Verdict& verdict);

}  // namespace c63::race
