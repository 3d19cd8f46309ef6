// c63enc: encodes video to c63 streams. Accepts the command line of the course codec's c63enc.

#include "encode/encode_program.h"

int main(int argc, char** argv) {
  c63::tools::EncodeOptions options;
  return c63::tools::run_main(
      argc, argv,
      {.name = "c63enc",
       .description = "Encode video to a c63 stream.",
       .add_options = [&](CLI::App& app) { c63::tools::add_options(app, options); },
       .run = [&](const c63::tools::Session& session) { return c63::tools::run_encode(session, options); },
       .examples =
           {{"c63enc -w 352 -h 288 FOREMAN_352x288.yuv foreman.c63",
             "Encode raw video to the bytes of the course encoder"},
            {"c63enc foreman.mp4 -o foreman.c63 --preset good --ssim --verify",
             "Encode a video that FFmpeg reads, with fewer bits, measure SSIM, and decode every frame to check it"},
            {"c63enc FOREMAN_352x288.yuv foreman.c63 --backend cuda --compare-cpu",
             "Compare a GPU with the CPU: times, speed-up, whether the bytes agree"},
            {"ffmpeg -i in.mkv -f yuv4mpegpipe - | c63enc - out.c63", "Encode from a pipe"}}});
}
