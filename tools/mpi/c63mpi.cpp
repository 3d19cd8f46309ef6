// c63mpi: encodes a video on all ranks of an MPI job.

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "mpi/cluster_job.h"

namespace {

/// Returns true if the launcher's environment variables say that this is not rank 0. They are known before MPI starts,
/// so that a wrong command line is reported by rank 0 only.
bool is_another_rank() {
  constexpr std::array kNames = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
  for (const char* name : kNames) {
    if (const char* rank = std::getenv(name)) return std::strcmp(rank, "0") != 0;
  }
  return false;
}

/// Discards the output of this process. Rank 0 reports the errors of all ranks.
void be_silent() {
  const int nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nothing < 0) return;
  static_cast<void>(::dup2(nothing, STDOUT_FILENO));
  static_cast<void>(::dup2(nothing, STDERR_FILENO));
  ::close(nothing);
}

/// When one rank fails, the launcher ends all of them. Rank 0 gets time to report why.
void let_first_rank_report() { std::this_thread::sleep_for(std::chrono::seconds(2)); }

constexpr int kFirstSignalCode = 128;

}  // namespace

int main(int argc, char** argv) {
  const bool another = is_another_rank();
  if (another) be_silent();
  c63::tools::ClusterOptions options;
  const int code = c63::tools::run_main(
      argc, argv,
      {.name = "c63mpi",
       .description =
           "Encode video to a c63 stream on all ranks of an MPI job, as in mpirun -n 64 c63mpi in.yuv -o out.c63.",
       .add_options = [&](CLI::App& app) { c63::tools::add_options(app, options); },
       .run = [&](const c63::tools::Session& session) { return c63::tools::run_cluster(session, options); },
       .examples = {{"c63mpi in.yuv -o out.c63", "Encode on one rank, as mpirun -n 1 does"},
                    {"mpirun -n 16 c63mpi in.yuv -o out.c63 --preset good", "Encode on sixteen ranks of this machine"},
                    {"srun --mpi=pmix -N 8 --gpus-per-node=4 --ntasks-per-node=4 c63mpi in.yuv -o out.c63",
                     "Encode on the GPUs of eight machines that Slurm gives"}}});
  if (another && code != 0 && code < kFirstSignalCode) let_first_rank_report();
  return code;
}
