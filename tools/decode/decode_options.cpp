#include "decode/decode_program.h"

#include <array>
#include <string_view>
#include <utility>

#include "common/command_line.h"
#include "common/options.h"
#include "common/values.h"

namespace c63::tools {

void add_options(CLI::App& app, DecodeOptions& o) {
  static constexpr std::array<std::pair<OutputFormat, std::string_view>, 3> kFormats = {
      {{OutputFormat::automatic, "auto"}, {OutputFormat::raw, "raw"}, {OutputFormat::y4m, "y4m"}}};
  add_options(
      app, "Input and output",
      {{"-i,--input,input", &o.input, "FILE", "Stream to read; - is stdin", {.daily = true}},
       {"-o,--output,output", &o.output, "FILE",
        "Video to write: Y4M if the name ends in .y4m, else raw YUV 4:2:0; - is stdout. A name like out_%04d.png (or .ppm) "
        "writes one picture per frame",
        {.daily = true}},
       {"--output-format", choice(o.format, kFormats), "FORMAT", "What to write: auto (by the name), raw or y4m"},
       {"-f,--frames", &o.max_frames, "N", "Write no more frames than this; 0: all", {.daily = true, .least = 0}},
       {"--seek", into(o.seek, video_place_from), "PLACE", "Start writing at this frame (counted from 0), or at this time: 12.5s, 1:02.5",
        {.daily = true, .example = "250, 12.5s or 1:02.5"}},
       {"--key-frames", &o.decoder.key_frames_only, "", "Write key frames only"},
       {"--list", &o.list, "", "Print the offset, bytes, kind and tables of each frame (of those that -f, --seek and --key-frames choose); no output file is needed then", {.daily = true}},
       {"--index", &o.index, "FILE", "Write the list of all frames and the quantization tables as JSON, for other programs"},
       {"--fps", into(o.rate, frame_rate_from), "RATE",
        "Frames per second, for .y4m, --seek and --index; a stream has none, so 25 without this option", {.example = "30000/1001"}},
       {"--md5", &o.md5, "", "Print the MD5 of the written frames' samples; no output file is needed then", {.daily = true}},
       {"--stats", &o.statistics, "", "Print sizes of frames by kind, and a summary of the motion", {.daily = true}},
       {"--trace", &o.trace, "FILE", "Write a trace of the run, as JSON for Perfetto or Chrome's about:tracing"}});
  add_options(app, "Machine",
              {{"--backend", &o.backend, "NAME", "Where to decode: auto, cpu or cuda; auto takes a GPU if the CPU would need longer than a GPU needs to start",
                {.choices = {"auto", "cpu", "cuda"}}},
               {"--device", &o.device, "N", "Number of the GPU to decode on; without this option the first", {.least = 0, .most = 1023}}});
  add_simd_option(app, o.decoder.execution.simd);
  add_output_options(app, o.durability, &o.keep_partial);
  add_limit_options(app, o.decoder.execution.limits);
}

}  // namespace c63::tools
