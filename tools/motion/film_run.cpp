#include "motion/film_run.h"

#include <fmt/format.h>
#include <spdlog/logger.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "c63/device_choice.h"
#include "c63/error.h"
#include "c63/film_motion.h"
#include "common/backends.h"
#include "common/options.h"
#include "common/outputs.h"
#include "common/values.h"
#include "common/video_input.h"
#include "io/source_parts.h"
#include "io/text.h"

namespace c63::tools {
namespace {

std::uint8_t clamped(std::span<const std::uint8_t> plane, int width, int height, int x, int y) {
  return plane[static_cast<std::size_t>(std::clamp(y, 0, height - 1)) * static_cast<std::size_t>(width) +
               static_cast<std::size_t>(std::clamp(x, 0, width - 1))];
}

/// Predicts a frame from its reference by its vectors. Chroma uses half of each vector; if a side is odd, it is not
/// predicted. A frame without a reference becomes grey.
std::vector<std::uint8_t> predicted(const FilmFrame& film, const VideoFormat& format) {
  std::vector<std::uint8_t> prediction(film.picture.size(), 128);
  if (film.reference < 0) return prediction;
  const auto from = split_planes(film.reference_picture, format.width, format.height);
  const auto to = split_planes(std::span(prediction), format.width, format.height);
  const int planes = format.width % 2 == 0 && format.height % 2 == 0 ? 3 : 1;  // no chroma rows if a side is odd
  for (int p = 0; p < planes; ++p) {
    const int part = p == 0 ? 1 : 2;  // chroma has half the samples in each direction
    const int width = format.width / part;
    const int height = format.height / part;
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const auto block = static_cast<std::size_t>(y * part / 8) * static_cast<std::size_t>(film.columns) +
                           static_cast<std::size_t>(x * part / 8);
        const MotionVector v = film.vectors[block];
        to[static_cast<std::size_t>(p)]
          [static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)] =
              clamped(from[static_cast<std::size_t>(p)], width, height, x + v.x / part, y + v.y / part);
      }
    }
  }
  return prediction;
}

/// The settings of the search in a film.
MotionSettings film_search(const MotionOptions& o) {
  return {.range = std::min(o.range, 127), .zero_bias = o.zero_bias, .guarded = true, .fine = o.fine()};
}

/// Sets what the outputs need of a film's frame.
void set_frame(MotionFrame& frame, const FilmFrame& film, const VideoFormat& format) {
  frame.film = &film;
  frame.index = film.index;
  frame.sad_of_source = true;
  frame.blocks.width = format.width;
  frame.blocks.height = format.height;
  frame.blocks.key = film.reference < 0;
  PlaneBlocks& luma = frame.blocks.planes[0];
  luma.columns = film.columns;
  luma.rows = film.rows;
  const auto blocks = static_cast<std::size_t>(film.columns) * static_cast<std::size_t>(film.rows);
  luma.inter.assign(blocks, frame.blocks.key ? 0 : 1);
  luma.vectors.assign(film.vectors.begin(), film.vectors.end());
  luma.vectors.resize(blocks);
  frame.sads[0].assign(film.sads.begin(), film.sads.end());
  frame.sads[0].resize(blocks);
}

}  // namespace

OpenedFilm open_film(const Session& session, const MotionOptions& o, std::unique_ptr<InputFile> file) {
  OpenedFilm film;
  // The GPU that decodes also searches.
  const std::string backend = o.hwaccel == "cuda" && o.backend == "auto" ? "cuda" : o.backend;
  film.searches_on_device = backend == "cuda" && o.hwaccel == "cuda" && !o.shows_pictures();
  const auto select_search = [&](std::optional<double> cpu_ms) {
    film.search = select_pair_search(backend, o.device, cpu_ms, film_search(o),
                                     [log = session.log](const std::string& text) { log->info("{}", text); });
  };
  // A GPU that is demanded starts while the film is opened. "auto" decides when the film's length is known.
  const bool decides_by_length = backend == "auto" && !o.device;
  if (!decides_by_length) select_search({});
  SourceOptions source = o.film;
  if (o.hwaccel == "cuda") source.device = open_film_device();
  source.path = o.input;
  source.limits = o.limits;
  source.stop = session.stop;
  source.warn = [&session, &o](const std::string& text) { session.log->warn("{}: {}", o.input, text); };
  source.luma_only = !o.shows_pictures();
  source.ignore_times = true;
  if (source.width == 0) {
    if (const auto size = size_from_name(o.input); size && extension_of(o.input) == "yuv")
      std::tie(source.width, source.height) = *size;
  }
  if (o.codec_vectors || !o.codec_list.empty()) {
    film.details = std::make_shared<FrameDetails>();
    source.details = film.details;
    source.codec_vectors = true;
  }
  film.source = open_video(std::move(file), source);
  SourceAdaptation how{.first = o.first_frame, .count = o.max_frames == 0 ? -1 : o.max_frames, .stop = session.stop};
  if (!o.codec_list.empty()) {
    film.list = std::make_shared<TextFile>(o.codec_list, o.durability);
    film.list->add("frame,source,width,height,from_x,from_y,to_x,to_y,flags,motion_x,motion_y,scale\n");
    how.take = [list = film.list, details = film.details, first = o.first_frame](std::int64_t index) {
      for (const CodecVector& v : details->vectors) {
        list->add("{},{},{},{},{},{},{},{},{},{},{},{}\n", first + index, v.source, v.width, v.height, v.from_x, v.from_y,
                  v.to_x, v.to_y, v.flags, v.motion_x, v.motion_y, v.scale);
      }
    };
  }
  film.source = adapt(std::move(film.source), std::move(how));
  if (decides_by_length) {
    const VideoFormat format = film.source->format();
    select_search(cpu_ms_to_search(format.width, format.height, film.source->expected_frame_count(), session.common.threads));
  }
  return film;
}

MotionSummary show_film(const Session& session, const MotionOptions& o, OpenedFilm film, const MotionTruth* truth,
                        MotionOutput* output) {
  const std::optional<std::int64_t> total = film.source->expected_frame_count();
  const VideoFormat format = film.source->format();
  FilmMotion motion(std::move(film.source), film.details,
                    {.search = film_search(o),
                     .distance = o.distance,
                     .seconds = o.second,
                     .quarters = o.quarters,
                     .codec_vectors = o.codec_vectors,
                     .first_index = o.first_frame,
                     .threads = session.common.threads,
                     .limits = o.limits,
                     .reserve = output != nullptr ? output->memory(format.width, format.height) : 0,
                     .pair_search = std::move(film.search),
                     .searches_on_device = film.searches_on_device});
  const auto progress = session.progress(total, format.rate.value());
  MotionSummary summary;
  std::int64_t frames = 0;
  MotionFrame frame;
  frame.full_range = motion.full_range();
  while (!session.stop.stop_requested()) {
    const FilmFrame* const film_frame = motion.next();
    if (film_frame == nullptr) {
      if (truth != nullptr && frames > 0 && o.first_frame == 0 && o.max_frames == 0) truth->check_length(frames, true);
      break;
    }
    ++frames;
    set_frame(frame, *film_frame, format);
    if (o.shows_pictures()) frame.picture.assign(film_frame->picture.begin(), film_frame->picture.end());
    if (o.shows_pictures() && o.overlay == "pred") frame.prediction = predicted(*film_frame, format);
    if (truth != nullptr) truth->check_length(frame.index + 1, false);
    summary.add(frame, truth);
    if (output != nullptr) output->add(frame, truth);
    progress->advance(0);
  }
  progress->finish();
  if (frames == 0 && !session.stop.stop_requested()) {
    throw Error(ErrorKind::input, "C63-NO-FRAMES",
                o.first_frame == 0 ? "no frame" : fmt::format("no frame after the first {}", o.first_frame),
                {.file = o.input});
  }
  if (film.list != nullptr) {
    motion.stop();
    if (session.stop.stop_requested()) {
      (void)commit_stopped(*film.list, o.codec_list, o.keep_partial || o.input == "-", *session.log);
    } else {
      film.list->commit();
    }
  }
  return summary;
}

void check_film_options(const MotionOptions& o) {
  const auto refuse = [](const std::string& why) { throw Error(ErrorKind::usage, "C63-USAGE", why); };
  if (o.distance == 0) refuse("--distance 0 would search every frame in itself");
  if (!o.beside.empty()) refuse("--beside is for two c63 streams, not for films");
  if (!o.source.empty()) refuse("--source is for c63 streams, not for films");
  if (!o.truth.empty() && o.distance != 1)
    refuse("--truth holds the motion from one frame to the next, so it needs --distance 1");
  if (!o.truth.empty() && (o.first_frame != 0 || o.codec_vectors))
    refuse("--truth cannot be used with --seek or --codec-vectors");
  if (o.codec_vectors && o.distance != 1) refuse("--codec-vectors chooses the distance itself");
  if (o.fine() && (o.second || o.quarters || o.zero_bias != 0))
    refuse("--second, --quarters and --zero-bias are for the plain search: 8x8 blocks, whole samples, a range of at most 127, no --smooth, no --check");
  if (o.types.size() == 1 && o.types[0] == "bits")
    refuse("--type bits is for c63 streams; for a film, the bits of blocks are not known");
}

std::optional<FineMotionSettings> MotionOptions::fine() const {
  const FineMotionSettings wanted{.range = range, .block = block, .fraction = fraction, .smooth = smooth,
                                  .check = check ? *check * (kFineUnits / 4) : -1};
  return wanted.is_plain() ? std::nullopt : std::optional(wanted);
}

void add_film_options(CLI::App& app, MotionOptions& o) {
  const auto resolution = [&o](const std::string& text) {
    std::tie(o.film.width, o.film.height) = require_size("--input-res", text);
    return true;
  };
  add_options(
      app, "Films",
      {{"--search", &o.search, "", "Search the pictures of a c63 stream like those of a film, instead of showing the stream's own vectors"},
       {"--merange", &o.range, "N", "Search range: vectors from -N to N-1 samples; above 127 by a pyramid of exact searches", {.least = 1, .most = 512}},
       {"--fraction", &o.fraction, "N", "Find vectors in fractions of 1/N samples", {.choices = {"1", "2", "4", "32"}}},
       {"--block", &o.block, "N", "Sides of the searched blocks; outputs have the vector and the SAD of each 8x8 block", {.choices = {"8", "16", "32"}}},
       {"--smooth", &o.smooth, "N", "Add N for each sample of distance to the neighbours' vectors to the SAD: true motion instead of the least difference",
        {.least = 0, .most = 1000}},
       {"--check", &o.check, "N",
        "Also search from the reference to the frame, and mark blocks whose vectors differ by more than N quarter samples (csv, json, npz)",
        {.least = 0, .most = 4096}},
       {"--distance", &o.distance, "N", "Search each frame in the frame N before it; negative: in a later frame", {.least = -64, .most = 64}},
       {"--zero-bias", &o.zero_bias, "N", "Take the zero vector if its SAD is less than the best SAD plus N", {.least = 0, .most = 16320}},
       {"--second", &o.second, "", "Also find the second smallest SAD of each block (csv, json, npz)"},
       {"--quarters", &o.quarters, "", "Also write the SADs of the four 4x4 quarters of each block (csv, json, npz)"},
       {"--codec-vectors", &o.codec_vectors, "",
        "Compare with the vectors that the film was coded with. Each frame is then searched in the frame to which they refer"},
       {"--codec-list", &o.codec_list, "FILE", "Write all vectors that the film was coded with as CSV, as FFmpeg exports them"},
       {"--hwaccel", &o.hwaccel, "NAME", "What decodes a film: none (the CPU), or cuda (a GPU, if it decodes this kind of film to the same pictures; not tested on a GPU yet)",
        {.choices = {"none", "cuda"}}},
       {"--backend", &o.backend, "NAME", "Where to search; auto takes a GPU if the CPU would need longer than a GPU needs to start",
        {.choices = {"auto", "cpu", "cuda"}}},
       {"--device", &o.device, "N", "Number of the GPU to search on", {.least = 0, .most = 1023}},
       {"-w,--width", &o.film.width, "PIXELS", "Width of raw video", {.least = 1, .most = 65535}},
       {"-h,--height", &o.film.height, "PIXELS", "Height of raw video", {.least = 1, .most = 65535}},
       {"--input-res", resolution, "WxH", "Size of raw video, such as 352x288", {.excludes = {"--width", "--height"}}},
       {"--tolerant", &o.film.tolerant, "",
        "If a video that FFmpeg reads is damaged, skip the damaged parts and warn how many there are"}});
}

}  // namespace c63::tools
