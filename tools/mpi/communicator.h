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

/// Starts MPI for this process and ends it, and communicates with the other ranks of the job. All calls must come from
/// one thread. A call that waits for other ranks sleeps, because they may need the same CPU. It throws Stopped when
/// `stop` is requested, so that a rank that must end waits for no other.
class Communicator {
 public:
  struct Stopped {};

  explicit Communicator(std::stop_token stop);
  /// Ends MPI, which waits for all ranks. Does not end MPI if a call failed or a stop was requested, because other
  /// ranks may never get here.
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] bool is_first() const { return rank_ == 0; }
  /// Returns the number of this rank among the ranks on its machine.
  [[nodiscard]] int local_rank() const { return local_rank_; }
  [[nodiscard]] int local_size() const { return local_size_; }
  [[nodiscard]] const std::string& host() const { return host_; }

  /// Returns false if an exception has ended a call that needs other ranks. They may then still wait in it.
  [[nodiscard]] bool orderly() const { return orderly_; }

  /// Calls `work` on every rank and waits for all. If it threw on some ranks, all ranks throw the Error of the lowest
  /// of them.
  void together(const std::function<void()>& work);

  /// Sends the text of rank `from` to all ranks, and returns it.
  [[nodiscard]] std::string broadcast(std::string text, int from = 0);
  /// Returns the texts of all ranks on rank 0, in their order, and an empty list on other ranks.
  [[nodiscard]] std::vector<std::string> gather(const std::string& text);

  /// Waits for an MPI call that has been started.
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

/// Counters of the job's progress. They are in the memory of rank 0, and all ranks read and change them.
class JobCounters {
 public:
  enum Counter : int { segments_taken, frames_done, bytes_done, faults, kCounters };

  /// All ranks must create and destroy it together.
  explicit JobCounters(Communicator& ranks);
  ~JobCounters();
  JobCounters(const JobCounters&) = delete;
  JobCounters& operator=(const JobCounters&) = delete;

  /// Adds to a counter and returns its value before, as one atomic step.
  std::int64_t add(Counter counter, std::int64_t value);
  [[nodiscard]] std::int64_t get(Counter counter) { return add(counter, 0); }

 private:
  Communicator& ranks_;
  MPI_Win window_ = MPI_WIN_NULL;
};

}  // namespace c63::tools
