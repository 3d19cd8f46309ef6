// c63filter: filters and scans of signals and video.

#include "common/command_line.h"
#include "filter/filter_run.h"

int main(int argc, char** argv) {
  c63::tools::FilterOptions options;
  return c63::tools::run_main(
      argc, argv,
      {.name = "c63filter",
       .description = "Filter signals and video: mean, convolution, histogram, reduction, scan, shift, whitening.",
       .add_options = [&](CLI::App& app) { c63::tools::add_options(app, options); },
       .subcommands = filter_commands(options),
       .examples = {{"c63filter mean signal.txt smooth.txt --width 5",
                     "Write the moving mean of a signal, one value per line"},
                    {"c63filter convolve in.y4m out.y4m --kernel gauss:1.5", "Smooth a video"},
                    {"c63filter reduce signal.txt --op argmax", "Print the place of the largest value"},
                    {"c63filter shift foreman.y4m shifts.csv", "Measure the shift of every frame against the first"}}});
}
