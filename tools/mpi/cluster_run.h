#pragma once

#include "common/command_line.h"
#include "mpi/cluster_job.h"

namespace c63::tools {

/// Encodes on all ranks of an MPI job. Returns the exit code. Throws the same Error on all ranks; only rank 0 reports
/// it.
[[nodiscard]] int run_cluster(const Session& session, ClusterOptions options);

}  // namespace c63::tools
