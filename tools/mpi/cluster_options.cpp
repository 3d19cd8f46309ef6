#include "mpi/cluster_options.h"

#include "common/options.h"
#include "common/values.h"
#include "segments/segment_record.h"

namespace c63::tools {

void add_options(CLI::App& app, ClusterOptions& o) {
  const OptionGroup group(app, "Segments");
  add_coding_run_options(app, o.encode);
  group
      .add("--segments", o.segments, "N",
           "Number of parts that the video is divided into; each rank encodes one after another. 0: one per GOP, at "
           "most 1024. To continue a stopped run, give the same number")
      ->check(whole_number(0, kMostSegments))
      ->capture_default_str();
  group.add("--segment-dir", o.segment_folder, "DIR",
            "Folder for finished segments, on storage that all ranks share; without this option OUTPUT.segments. It is "
            "removed at the end");
  add_plan_option(app, o.encode.segment_plan);
}

}  // namespace c63::tools
