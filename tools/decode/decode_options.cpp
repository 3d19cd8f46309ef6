#include "decode/decode_program.h"

#include <map>

#include "common/command_line.h"
#include "common/options.h"
#include "common/values.h"

namespace c63::tools {
namespace {

const std::map<std::string, OutputFormat> kFormats = {
    {"auto", OutputFormat::automatic}, {"raw", OutputFormat::raw}, {"y4m", OutputFormat::y4m}};

}  // namespace

void add_options(CLI::App& app, DecodeOptions& o) {
  const OptionGroup group(app, "Input and output");
  group.add_daily("-i,--input,input", o.input, "FILE", "Stream to read; - is stdin");
  group.add_daily("-o,--output,output", o.output, "FILE",
                  "Video to write: Y4M if the name ends in .y4m, else raw YUV 4:2:0; - is stdout. A name like "
                  "out_%04d.png (or .ppm) writes one picture per frame");
  group
      .add(
          "--output-format", [&o](const std::string& text) { o.format = kFormats.at(text); }, "FORMAT",
          "What to write: auto (by the name), raw or y4m")
      ->check(CLI::IsMember(kFormats))
      ->default_str("auto");
  group.add_daily("-f,--frames", o.max_frames, "N", "Write no more frames than this; 0: all")->check(whole_number());
  group.add_daily(
      "--seek",
      parsed("--seek", o.seek, video_place_from, "is neither a frame number like 250 nor a time like 12.5s or 1:02.5"),
      "PLACE", "Start writing at this frame (counted from 0), or at this time: 12.5s, 1:02.5");
  group.flag("--key-frames", o.decoder.key_frames_only, "Write key frames only");
  group.daily_flag("--list", o.list,
                   "Print the offset, bytes, kind and tables of each frame; no output file is needed then");
  group.add("--index", o.index, "FILE",
            "Write the list of --list and the quantization tables as JSON, for other programs");
  group.add("--fps", parsed_rate(o.rate), "RATE",
            "Frames per second, for .y4m, --seek and --index; a stream has none, so 25 without this option");
  group.daily_flag("--md5", o.md5, "Print the MD5 of the written frames' samples; no output file is needed then");
  group.daily_flag("--stats", o.statistics, "Print sizes of frames by kind, and a summary of the motion");
  group.add("--trace", o.trace, "FILE", "Write a trace of the run, as JSON for Perfetto or Chrome's about:tracing");
  const OptionGroup machine(app, "Machine");
  machine
      .add("--backend", o.backend, "NAME",
           "Where to decode: auto, cpu or cuda; auto starts on the CPU, and a GPU takes over if enough work is left")
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
      ->capture_default_str();
  machine.add("--device", o.device, "N", "Number of the GPU to decode on; without this option the first")
      ->check(CLI::Range(0, 1023));
  add_simd_option(app, o.decoder.execution.simd);
  add_sync_option(app, o.durability);
  add_keep_partial_option(app, o.keep_partial);
  add_limit_options(app, o.decoder.execution.limits);
}

}  // namespace c63::tools
