#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "c63/motion_kernel.h"
#include "race/race_judge.h"

namespace c63::race {

/// A search for the CPU, as c63/motion_kernel.h describes it.
using HostSearch = std::function<void(const c63_motion_job&)>;

/// Pages that two processes share: a plane or results, with pages around them that the search may not touch.
struct SharedArea {
  std::uint8_t* slot = nullptr;  ///< the first page
  std::size_t slot_bytes = 0;
  bool is_result = false;
  std::uint8_t* data = nullptr;  ///< what the search may use
  std::size_t bytes = 0;
  std::uint8_t around = 0;       ///< each byte of the rest of the first and the last page

  [[nodiscard]] std::span<const std::uint8_t> content() const { return {data, bytes}; }
  /// Returns the pages that hold the content.
  [[nodiscard]] std::span<std::uint8_t> pages() const;
  /// Moves the content to another page, and fills its pages. Returns `data`.
  std::uint8_t* fill(std::span<const std::uint8_t> values, std::uint8_t fill_around, bool at_end, std::size_t page);
  [[nodiscard]] bool is_untouched_around() const;
};

/// How a SearchProcess runs.
struct SearchProcessOptions {
  std::size_t most_samples = std::size_t{1} << 18;  ///< of the largest plane, with the bytes between its rows
  double seconds = 0;                               ///< most time by the clock of all searches together; 0: no limit
  double cpu_seconds = 0;
  std::uint64_t memory = 0;      ///< bytes of address space
  std::uint64_t file_bytes = 0;  ///< size of each file that it writes
  int files = 0;                 ///< number of files open at the same time
  bool in_process = false;       ///< search in this process, for profilers and debuggers
  std::function<void()> starts = [] {};         ///< called first in the new process
  std::function<void()> while_waiting = [] {};  ///< called from time to time; may throw
};

/// What SearchProcess throws if its process ends.
struct SearchEnded : std::exception {
  int exit_code = 0;     ///< 128 + the signal's number if a signal ended it
  bool timed_out = false;
  double cpu_s = 0;
  std::string place;     ///< what the crash touched; may be empty
  std::string cause;     ///< id of what a crash was; empty: unknown
  [[nodiscard]] const char* what() const noexcept override { return "the search's process has ended"; }
};

/// Returns the likely cause.
[[nodiscard]] MotionSuspicion cause_of(const SearchEnded& end);

/// What SearchProcess throws if the search threw something else than an Error.
struct SearchFailed : std::exception {
  explicit SearchFailed(std::string message) : text(std::move(message)) {}
  std::string text;
  [[nodiscard]] const char* what() const noexcept override { return text.c_str(); }
};

/// A process that runs a search, and nothing else. This process fills planes and results in memory that both share, has them
/// searched, takes the time, and copies the results when the clock has stopped. So the search has no clock and no verdict that it
/// could change. Planes and results are next to pages that may not be touched, and planes are read-only.
class SearchProcess {
 public:
  /// Starts the process. `open` makes the search, in the new process.
  SearchProcess(const std::function<HostSearch()>& open, const SearchProcessOptions& options);
  /// Kills it.
  ~SearchProcess();
  SearchProcess(const SearchProcess&) = delete;
  SearchProcess& operator=(const SearchProcess&) = delete;

  /// Searches one case. Throws SearchEnded, SearchFailed, or an Error that `open` has thrown.
  [[nodiscard]] SearchedCase search(const RaceCase& c, const CaseLayout& layout);

  /// Searches the test cases, and judges the results. Before each case, calls `next` with its name.
  void judge(Judge& judge, std::uint32_t seed, int range, const std::function<void(const std::string&)>& next);

 private:
  struct Shared;
  void wait_until(std::uint32_t state);
  [[noreturn]] void throw_end();
  [[noreturn]] void throw_what_it_threw();

  SearchProcessOptions options_;
  Shared* shared_ = nullptr;
  std::array<SharedArea, 4> areas_;  ///< two planes, vectors, SADs
  HostSearch here_;                 ///< the search, if it runs in this process
  int process_ = 0;
  double waited_s_ = 0;
  double cpu_after_ = 0;      ///< CPU time of the process when its last search was done
  SearchResults last_;        ///< results of the last search
};

}  // namespace c63::race
