#include "encode/encode_program.h"

#include "c63/error.h"
#include "common/outputs.h"
#include "encode/encode_target.h"
#include "segments/segment_record.h"

namespace c63::tools {

void settle_encode(EncodeOptions& o, const CommonSettings& common) {
  settle_options(o, common.threads);
  if (o.segment && o.output == "-") {
    throw Error(ErrorKind::usage, "C63-SEGMENT-OUTPUT",
                "--segment needs an output file, because it writes a record file next to it");
  }
  if (o.segment && o.target.target) {
    throw Error(ErrorKind::usage, "C63-SEGMENT-TARGET",
                "a target is for the whole video, but --segment encodes a part of it");
  }
  if (!o.segment && !o.segment_plan.empty()) {
    throw Error(ErrorKind::usage, "C63-USAGE", "--segment-plan needs --segment");
  }
  if (o.source.path == "-" && o.compare_cpu) {
    throw Error(ErrorKind::usage, "C63-USAGE",
                "--compare-cpu reads the input twice, but stdin can be read only once");
  }
  if (!o.target.target && (!o.target.stats.empty() || !o.target.spool.empty())) {
    throw Error(ErrorKind::usage, "C63-USAGE",
                "--stats and --spool need a target: --bitrate, --size, --target-psnr or --target-ssim");
  }
  if (o.target.target && o.target.spool.empty() && !can_be_read_again(o.source.path)) {
    throw Error(ErrorKind::usage, "C63-TARGET-INPUT",
                "a target needs several passes, but this input can be read only once: give a file, or a folder for a "
                "copy (--spool)",
                {.file = o.source.path == "-" ? "stdin" : o.source.path});
  }
  check_distinct_files({{"the input", o.source.path}},
                       {{"--output", o.output},
                        {"--recon", o.reconstruction},
                        {"--pred", o.prediction},
                        {"--csv", o.csv},
                        {"--json", o.json},
                        {"--stats-yuview", o.yuview},
                        {"--trace", o.trace},
                        {"--stats", o.target.stats},
                        {"--segment-plan", o.segment_plan},
                        {"the segment's record", o.segment ? record_path(o.output) : ""},
                        {"--log-file", common.log.file}});
  check_apart_from_log({"--output", o.output});
  check_no_container({"--output", o.output}, "a c63 stream has a name like video.c63");
  o.encoder.measurement.keep_reconstruction = o.verify || !o.reconstruction.empty();
  o.encoder.measurement.keep_prediction = !o.prediction.empty();
  o.encoder.measurement.keep_motion = !o.yuview.empty();
  if (o.target.target) {
    o.encoder.measurement.psnr = true;
    o.encoder.measurement.ssim = o.encoder.measurement.ssim || o.target.target->kind == Target::Kind::ssim_y;
  }
}

}  // namespace c63::tools
