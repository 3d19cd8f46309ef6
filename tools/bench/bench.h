#pragma once

#include <climits>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "c63/motion_search.h"
#include "common/command_line.h"

// What all benchmarks share: options, cases that are timed in turns, and the report that prints and writes their results.

namespace c63::bench {

using Json = nlohmann::ordered_json;

/// The options of all benchmarks. A benchmark has those that its entry in the list of benchmarks names.
struct Options {
  std::string yuv = {};  ///< raw 4:2:0; empty: generated frames
  std::vector<std::string> sizes = {"352x288", "1920x1080"};
  std::string size = "1920x1080";
  int width = 352;
  int height = 288;
  int first_frame = 60;
  int frames = 9;
  int range = 16;
  std::vector<std::string> contents = {"natural", "noise"};
  std::vector<std::string> presets = {"reference"};
  std::string tune = "psnr";
  double qp = 25;
  std::vector<int> lanes = {0, 1};
  std::vector<int> jobs = {1, 8};  ///< numbers of frames that one call searches
  std::vector<int> devices = {};
  int device = 0;
  std::vector<int> cards = {};  ///< architectures of the GPUs to pretend
  int threads = 0;  ///< threads of the CPU; 0: one for each CPU
  int repeats = 15;
  std::string json = {};

  std::vector<std::string> only = {};  ///< measure only what has one of these in its name; empty: everything
  std::string kernel = "automatic";
  std::vector<std::string> kernels = {};  ///< built-in motion kernels; empty: all
  std::string upload = "frame";
  std::vector<std::string> launch = {"auto"};
  std::vector<std::string> from = {"memory"};
  int key_interval = 100;
  int gops = 16;
  std::vector<std::string> streams = {};
  std::vector<int> thread_counts = {1, 2};
  std::vector<std::string> outputs = {"views", "copies"};
  std::vector<std::string> backends = {"cpu"};
  double megabytes = 256;  ///< size of the input of filters that memory limits
  bool cpu = true;
  bool cuda = true;
  bool verify = false;
  std::string python = "python3";

  // Races
  std::vector<std::string> files = {};  ///< users' searches
  bool inexact = false;
  bool counters = false;  ///< ask ncu what limits a kernel
  bool emulate = false;   ///< judge kernels without a GPU
  bool in_process = false;
  std::uint32_t seed = 0;  ///< of the test cases and timed planes; 0: one that nobody can know
  bool seed_was_given = false;
  double limit_s = 60;     ///< time limit for each file
  std::vector<std::string> results = {};
  std::string output = {};

  /// Returns true if `only` is empty or one of its texts is in the name.
  [[nodiscard]] bool wants(std::string_view name) const;
};

/// Median and 10th and 90th percentile of repeated measurements.
struct Sample {
  double median = 0;
  double low = 0;   ///< 10th percentile
  double high = 0;  ///< 90th percentile

  /// Returns the percentiles of the values times `factor`, for example microseconds of seconds.
  [[nodiscard]] Sample times(double factor) const { return {median * factor, low * factor, high * factor}; }
  /// Returns the percentiles of `amount` divided by the values, for example a rate.
  [[nodiscard]] Sample rate(double amount) const { return {amount / median, amount / high, amount / low}; }
};
[[nodiscard]] Sample summarize(std::vector<double> values);
void to_json(Json& json, const Sample& sample);

/// Something to time. One run takes the returned number of seconds.
struct Case {
  Json labels = {};  ///< what it is, for its row of results
  std::function<double()> run;
  int most_rounds = INT_MAX;
};

/// Makes a function for Case that returns the seconds which `work` takes by the clock.
[[nodiscard]] std::function<double()> timed(std::function<void()> work);

/// Returns the seconds of each case. The cases take turns, so that a temporary disturbance affects all of them alike. The
/// first round is not counted.
[[nodiscard]] std::vector<Sample> measure(std::span<const Case> cases, int rounds);
[[nodiscard]] Sample measure(const std::function<double()>& run, int rounds);

/// A column of a report's table: a member of each row, if the row has it.
struct Column {
  std::string member;  ///< a path such as "us/median"
  std::string title;
  int width = 10;  ///< negative: text, left-aligned
  int digits = 0;
  double factor = 1;
  std::string unit = {};  ///< printed after the number
};

/// The results of one benchmark. They are printed as a table, row by row, and written as JSON with --json: an object with
/// `bench`, `revision`, `date`, what was measured, and `results`, the rows. A time is in `us`, `ms` or another member with
/// its unit in the name, and has `median`, `p10` and `p90`.
class Report {
 public:
  Report(std::string_view bench, const Options& options, std::vector<Column> columns);

  /// Members of the object in addition to the rows.
  [[nodiscard]] Json& about() { return json_; }
  [[nodiscard]] Json& rows() { return json_["results"]; }
  /// Prints the titles of the columns.
  void print_titles() const;
  /// Adds a row, prints it, and writes the file, so that a later failure does not lose it.
  void add(Json row);
  void print(const Json& row) const;
  /// Writes the file, unless it is standard output.
  void save() const;
  /// Writes the file or standard output.
  void finish() const;

 private:
  std::string file_;
  std::vector<Column> columns_;
  Json json_;
};

/// Returns how many candidates an exhaustive search of a plane tests. Its sides are multiples of 8.
[[nodiscard]] double count_candidates(int width, int height, int range);

// The benchmarks. Those of GPUs throw Error (device) if no GPU can be used.
void bench_cpu(const Options& options);
void bench_decode(const Options& options);
void bench_estimate(const Options& options);
void bench_filters(const Options& options);
void bench_scans(const Options& options);
void make_board(const Options& options);
void bench_encode(const Options& options);
void bench_decide(const Options& options);
void bench_me(const Options& options);
/// Times the search of true motion on a GPU, with frames and results in its memory. `pairs` and `results` are in host memory.
[[nodiscard]] Sample time_fine_search(std::span<const MotionPair> pairs, const FineMotionSettings& settings, const MotionResults& results, int repeats);
void race_emulated(const Options& options);  ///< c63bench me --emulate, which needs no GPU

/// Returns all benchmarks of this build.
[[nodiscard]] std::vector<tools::Subcommand> benches();

}  // namespace c63::bench
