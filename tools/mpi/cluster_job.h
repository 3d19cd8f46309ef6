#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/backends.h"
#include "common/command_line.h"
#include "encode/encode_options.h"
#include "files/output_file.h"
#include "mpi/communicator.h"
#include "segments/segment_record.h"

namespace c63::tools {

/// The command line of c63mpi.
struct ClusterOptions {
  EncodeOptions encode;
  int segments = 0;            ///< 0: the program chooses
  std::string segment_folder;  ///< folder of finished segments; empty: next to the output
};

void add_options(CLI::App& app, ClusterOptions& options);

/// What all ranks know before the work begins, and the files and devices that this rank has opened.
struct ClusterJob {
  ClusterOptions options;
  VideoFormat format;
  SegmentedVideo video;
  std::vector<Segment> segments;
  std::string folder;  ///< for finished segments
  bool made_folder = false;
  std::unique_ptr<OutputFile> output;  ///< on rank 0 only
  SelectedBackend backend;
  int threads = 0;

  ClusterJob() = default;
  ClusterJob(const ClusterJob&) = delete;
  ClusterJob& operator=(const ClusterJob&) = delete;
  /// Removes the segment folder if this job has created it and it is empty.
  ~ClusterJob();

  /// Returns the path of a segment's stream.
  [[nodiscard]] std::string stream_of(const Segment& segment) const;
};

/// Opens the output. Pipes and devices get their bytes at commit(), because a better pass may follow.
[[nodiscard]] std::unique_ptr<OutputFile> open_output(const EncodeOptions& options);

/// Completes the options. Throws Error (usage) for mistakes that can be found before the input is opened.
void check_command_line(ClusterOptions& options, const Session& session);

/// Prepares `job` on all ranks; job.options must be set. Rank 0 opens input and output and plans the segments. The
/// other ranks check that they have the same input and options. Throws the same Error on all ranks.
void prepare_job(ClusterJob& job, const Session& session, Communicator& ranks);

/// Encodes on all ranks of an MPI job. Returns the exit code. Throws the same Error on all ranks; only rank 0 reports
/// it.
[[nodiscard]] int run_cluster(const Session& session, ClusterOptions options);

}  // namespace c63::tools
