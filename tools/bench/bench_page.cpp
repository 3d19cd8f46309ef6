// c63bench page: makes the page of c63bench me --html from a file of results. Needs no GPU.
#include <nlohmann/json.hpp>

#include "bench/bench_command.h"
#include "bench/benches.h"
#include "bench/ladder_page.h"
#include "c63/error.h"

namespace c63::bench {

tools::Subcommand page_bench() {
  return bench_command<PageOptions>("page", "Make an HTML page about motion kernels from a result file",
                                    [](const PageOptions& options, const tools::Session&) {
                                      if (options.figures.empty()) {
                                        throw Error(ErrorKind::usage, "C63-USAGE", "no result file was given");
                                      }
                                      if (options.output.empty()) {
                                        throw Error(ErrorKind::usage, "C63-USAGE", "no output file was given (-o)");
                                      }
                                      write_ladder_page(options.output, read_figures(options.figures), options.cpu);
                                    });
}

}  // namespace c63::bench
