#include "bench/benches.h"

namespace c63::bench {

std::vector<tools::Subcommand> benches() {
  return {
    cpu_bench(), stage_bench(), filter_bench(), scan_bench(), decode_bench(), page_bench(),
#if defined(C63_HAVE_CUDA)
        encode_bench(), frame_bench(), decide_bench(), me_bench(),
#endif
  };
}

}  // namespace c63::bench
