#include "decode/decode_options.h"

#include <CLI/App.hpp>
#include <CLI/Validators.hpp>
#include <map>

#include "common/command_line.h"
#include "common/help.h"
#include "common/values.h"

namespace c63::tools {
namespace {

const std::map<std::string, OutputFormat> kFormats = {
    {"auto", OutputFormat::automatic}, {"raw", OutputFormat::raw}, {"y4m", OutputFormat::y4m}};

}  // namespace

void add_options(CLI::App& app, DecodeOptions& o) {
  const std::string group = "Input and output";
  app.add_option("-i,--input,input", o.input, "Stream to read; - is stdin")->type_name("FILE")->group(daily(group));
  app.add_option("-o,--output,output", o.output,
                 "Video to write: Y4M if the name ends in .y4m, else raw YUV 4:2:0; - is stdout. A name like "
                 "out_%04d.png (or .ppm) writes one picture per frame")
      ->type_name("FILE")
      ->group(daily(group));
  app.add_option_function<std::string>(
         "--output-format", [&o](const std::string& text) { o.format = kFormats.at(text); },
         "What to write: auto (by the name), raw or y4m")
      ->check(CLI::IsMember(kFormats))
      ->type_name("FORMAT")
      ->default_str("auto")
      ->group(group);
  app.add_option("-f,--frames", o.max_frames, "Write no more frames than this; 0: all")
      ->check(whole_number())
      ->type_name("N")
      ->group(daily(group));
  add_seek_option(app, "Start writing at this frame (counted from 0), or at this time: 12.5s, 1:02.5",
                  [&o](VideoPlace place) { o.seek = place; })
      ->group(daily(group));
  app.add_flag("--key-frames", o.decoder.key_frames_only, "Write key frames only")->group(group);
  app.add_flag("--list", o.list,
               "Print the offset, bytes, kind and tables of each frame; no output file is needed then")
      ->group(daily(group));
  app.add_option("--index", o.index, "Write the list of --list and the quantization tables as JSON, for other programs")
      ->type_name("FILE")
      ->group(group);
  add_frame_rate_option(app,
                        "Frames per second, for .y4m, --seek and --index; without this option the rate in the stream's "
                        ".json file (from c63enc --sidecar), else 25",
                        [&o](FrameRate rate) { o.rate = rate; })
      ->group(group);
  app.add_flag("--md5", o.md5, "Print the MD5 of the written frames' samples; no output file is needed then")
      ->group(daily(group));
  app.add_flag("--stats", o.statistics, "Print sizes of frames by kind, and a summary of the motion")->group(daily(group));
  app.add_option("--trace", o.trace, "Write a trace of the run, as JSON for Perfetto or Chrome's about:tracing")
      ->type_name("FILE")
      ->group(group);
  app.add_option(
         "--backend", o.backend,
         "Where to decode: auto, cpu or cuda; auto starts on the CPU, and a GPU takes over if enough work is left")
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
      ->type_name("NAME")
      ->capture_default_str()
      ->group("Machine");
  app.add_option("--device", o.device, "Number of the GPU to decode on; without this option the first")
      ->check(CLI::Range(0, 1023))
      ->type_name("N")
      ->group("Machine");
  add_simd_option(app, o.decoder.execution.simd);
  add_sync_option(app, o.durability);
  add_keep_partial_option(app, o.keep_partial);
  add_limit_options(app, o.decoder.execution.limits);
}

}  // namespace c63::tools
