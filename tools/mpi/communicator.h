#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace c63::tools {

/// Throws Error (internal, C63-MPI) if a call of MPI failed.
void check_mpi(int code, const char* call);

/// MPI in this process, from start to end, and the ranks of the job. All calls come from one thread. A call that waits
/// for other ranks sleeps meanwhile, because they may use the same CPU. It throws Stopped once `stop` is requested: a
/// rank that must end waits for nobody.
class Communicator {
 public:
  struct Stopped {};

  explicit Communicator(std::stop_token stop);
  /// Ends MPI together with all ranks. If a call failed or a stop was requested, others may never come.
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] bool is_first() const { return rank_ == 0; }
  /// Number of this rank among the ranks of its machine.
  [[nodiscard]] int local_rank() const { return local_rank_; }
  [[nodiscard]] int local_size() const { return local_size_; }
  [[nodiscard]] const std::string& host() const { return host_; }

  /// Returns true if this rank is where the others expect it: nothing threw between two calls that belong together.
  [[nodiscard]] bool orderly() const { return orderly_; }

  /// Calls `work` on every rank and waits for all of them. If one threw, all throw the Error of the lowest rank that
  /// did.
  void together(const std::function<void()>& work);

  /// Sends the first rank's value to all.
  [[nodiscard]] std::string broadcast(std::string text);
  /// Collects all ranks' values on the first rank. Returns an empty list on others.
  [[nodiscard]] std::vector<std::string> gather(const std::string& text);
  /// Returns the sums over the ranks, of each element.
  [[nodiscard]] std::vector<std::uint64_t> sum(std::vector<std::uint64_t> values);

  /// Waits for a call that was started.
  void wait(MPI_Request& request);

 private:
  friend class JobCounters;

  std::stop_token stop_;
  bool orderly_ = true;
  int rank_ = 0;
  int size_ = 1;
  int local_rank_ = 0;
  int local_size_ = 1;
  std::string host_;
};

/// Counters of the job's progress in the memory of the first rank. All ranks read and change them.
class JobCounters {
 public:
  enum Counter : int { segments_taken, frames_done, bytes_done, faults, kCounters };

  /// All ranks make and end it together.
  explicit JobCounters(Communicator& ranks);
  ~JobCounters();
  JobCounters(const JobCounters&) = delete;
  JobCounters& operator=(const JobCounters&) = delete;

  /// Adds, and returns the earlier value, in one step.
  std::int64_t add(Counter counter, std::int64_t value);
  [[nodiscard]] std::int64_t get(Counter counter) { return add(counter, 0); }

 private:
  Communicator& ranks_;
  MPI_Win window_ = MPI_WIN_NULL;
};

}  // namespace c63::tools
