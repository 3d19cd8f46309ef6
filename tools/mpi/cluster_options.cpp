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
                 "Parts that ranks take one after another, runs of whole groups of pictures; 0: as many as there are "
                 "groups, at "
                 "most 1024. A run that goes on with an older one needs the same number")
      ->check(whole_number(0, kMostSegments))
      ->type_name("N")
      ->capture_default_str()
      ->group(group);
  app.add_option(
         "--segment-dir", o.segment_folder,
         "Folder in which finished segments wait, seen by all ranks; without it OUTPUT.segments. It goes away with the "
         "last segment")
      ->type_name("DIR")
      ->group(group);
  app.add_option(
         "--segment-plan", o.encode.segment_plan,
         "Where segments begin, for what takes a pass over the whole input (--scenecut, containers): read from this "
         "file, or found and written to it")
      ->type_name("FILE")
      ->group(group);
}

}  // namespace c63::tools
