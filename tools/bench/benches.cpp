#include "bench/benches.h"

#include "common/errors.h"

namespace c63::bench {

std::vector<tools::Subcommand> benches() {
  return {
    cpu_bench(), stage_bench(), filter_bench(), scan_bench(), decode_bench(), estimate_bench(), page_bench(),
        board_bench(),
#if defined(C63_HAVE_CUDA)
        encode_bench(), frame_bench(), decide_bench(), me_bench(),
#else
        tools::subcommand_without_cuda("encode"), tools::subcommand_without_cuda("frame"),
        tools::subcommand_without_cuda("decide"), tools::subcommand_without_cuda("me"),
#endif
  };
}

}  // namespace c63::bench
