#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace c63::tools {

/// Throws Error (internal, C63-MPI) for a call of MPI that failed.
void check_mpi(int code, const char* call);

/// MPI, from its start to its end in this process, and the ranks of the job. All calls come from one thread. Whatever
/// waits for other ranks sleeps meanwhile: they may have the same CPU. Calls that wait throw Stopped once `stop` is
/// asked for: a rank that was told to end waits for nobody.
class Communicator {
 public:
  struct Stopped {};

  explicit Communicator(std::stop_token stop);
  /// Ends MPI where all ranks do. Where a call failed or a stop was asked for, others may never come.
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] bool is_first() const { return rank_ == 0; }
  /// Among the ranks of this machine.
  [[nodiscard]] int local_rank() const { return local_rank_; }
  [[nodiscard]] int local_size() const { return local_size_; }
  [[nodiscard]] const std::string& host() const { return host_; }

  /// Whether this rank is where the others expect it: nothing threw between two calls that belong together.
  [[nodiscard]] bool orderly() const { return orderly_; }

  /// Calls `work` on every rank and waits for all of them. Where one threw, all throw that Error, of the lowest such
  /// rank.
  void together(const std::function<void()>& work);

  /// What the first rank has, on all.
  [[nodiscard]] std::string broadcast(std::string text);
  /// What all ranks have, on the first; empty elsewhere.
  [[nodiscard]] std::vector<std::string> gather(const std::string& text);
  /// Sums over the ranks, of each element.
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

/// How far a job is, in the memory of the first rank, which all read and change by themselves.
class JobCounters {
 public:
  enum Counter : int { segments_taken, frames_done, bytes_done, faults, kCounters };

  /// All ranks make it together, and end it together.
  explicit JobCounters(Communicator& ranks);
  ~JobCounters();
  JobCounters(const JobCounters&) = delete;
  JobCounters& operator=(const JobCounters&) = delete;

  /// Adds and returns what was there before, in one step.
  std::int64_t add(Counter counter, std::int64_t value);
  [[nodiscard]] std::int64_t get(Counter counter) { return add(counter, 0); }

 private:
  Communicator& ranks_;
  MPI_Win window_ = MPI_WIN_NULL;
};

}  // namespace c63::tools
