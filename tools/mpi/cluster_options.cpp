#include "mpi/cluster_options.h"

#include <CLI/App.hpp>
#include <CLI/Validators.hpp>

#include "common/values.h"
#include "segments/segment_record.h"

namespace c63::tools {

void add_options(CLI::App& app, ClusterOptions& o) {
  const std::string group = "Segments";
  add_coding_run_options(app, o.encode);
  app.add_option("--segments", o.segments,
                 "Number of parts that the video is divided into; each rank encodes one after another. 0: one per GOP, "
                 "at most 1024. To continue a stopped run, give the same number")
      ->check(whole_number(0, kMostSegments))
      ->type_name("N")
      ->capture_default_str()
      ->group(group);
  app.add_option("--segment-dir", o.segment_folder,
                 "Folder for finished segments, on storage that all ranks share; without this option OUTPUT.segments. "
                 "It is removed at the end")
      ->type_name("DIR")
      ->group(group);
  add_plan_option(app, o.encode.segment_plan);
}

}  // namespace c63::tools
