#include "decode/decode_program.h"

#include <fmt/format.h>
#include <spdlog/logger.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "c63/device_choice.h"
#include "c63/error.h"
#include "common/backends.h"
#include "common/digest.h"
#include "common/errors.h"
#include "common/outputs.h"
#include "common/report.h"
#include "common/text.h"
#include "common/trace_file.h"
#include "io/input_file.h"
#include "files/frame_writer.h"
#include "io/text.h"
#include "pictures/picture_file.h"

namespace c63::tools {
namespace {

/// Returns true if only a list of frames is wanted, so that nothing needs to be decoded.
bool lists_only(const DecodeOptions& o) {
  return (o.list || !o.index.empty()) && o.output.empty() && !o.md5 && !o.statistics && o.trace.empty();
}

/// Returns true if each frame becomes a picture file: the output's name ends in .png or .ppm.
bool writes_pictures(const DecodeOptions& o) {
  const std::string extension = extension_of(o.output);
  return o.format == OutputFormat::automatic && (extension == "png" || extension == "ppm");
}

void check_command_line(const Session& session, const DecodeOptions& o) {
  if (o.input.empty()) throw Error(ErrorKind::usage, "C63-USAGE", "no input file was given");
  const bool lists = o.list || !o.index.empty();
  if (o.output.empty() && !o.md5 && !lists) throw Error(ErrorKind::usage, "C63-USAGE", "no output file was given");
  if (o.output == "-" && (o.md5 || o.list)) {
    throw Error(ErrorKind::usage, "C63-USAGE",
                std::string("standard output cannot carry both the video and ") + (o.md5 ? "--md5" : "--list"));
  }
  if (o.index == "-") throw Error(ErrorKind::usage, "C63-USAGE", "--index needs a file name; use --list to print");
  check_distinct_files(
      {{"the input", o.input}},
      {{"the output", o.output}, {"--index", o.index}, {"--trace", o.trace}, {"--log-file", session.common.log.file}});
  check_apart_from_log({"the output", o.output});
  if (o.format == OutputFormat::automatic && !writes_pictures(o)) {
    check_no_container({"the output", o.output},
                       "write .y4m, or to a pipe: c63dec IN - | ffmpeg -f rawvideo -s WxH -i - OUT");
  }
}

bool writes_y4m(const DecodeOptions& o) {
  return o.format == OutputFormat::y4m || (o.format == OutputFormat::automatic && extension_of(o.output) == "y4m");
}

/// Writes each frame to a picture file.
class PictureFiles {
 public:
  /// Throws Error (usage): C63-OUTPUT-NAME if one name is for several pictures, C63-NO-PNG if it ends in .png and FFmpeg's PNG
  /// encoder is missing.
  explicit PictureFiles(const DecodeOptions& options) : options_(options), name_(options.output) {
    if (!name_.is_numbered() && options.max_frames != 1) {
      throw Error(ErrorKind::usage, "C63-OUTPUT-NAME",
                  "this name is for one picture: write one frame (-f 1), or number the files as in out_%04d.png",
                  {.file = options.output});
    }
    check_picture_name(options.output);
  }

  /// Writes the picture of a frame. It does not replace the input. Throws Error (output), Error (limit) if the memory does not
  /// suffice, or the errors of check_distinct_files().
  void write(const FrameView& frame, const std::array<std::span<const std::uint8_t>, 3>& planes) {
    const std::string name = name_.of(frame.index);
    const std::uint64_t samples = frame_bytes(frame.width, frame.height);
    const std::uint64_t bytes = 3 * samples + memory_to_save(name, 2 * samples);
    if (bytes > options_.picture_memory) {
      throw Error(ErrorKind::limit, "C63-MAX-MEMORY",
                  fmt::format("writing a picture takes {} bytes; the limit is a quarter of --max-memory, {}", bytes, options_.picture_memory),
                  {.frame = frame.index});
    }
    std::vector<std::uint8_t> all;
    all.reserve(samples);
    for (const auto& plane : planes) all.insert(all.end(), plane.begin(), plane.end());
    check_distinct_files({{"the input", options_.input}}, {{"the picture", name}});
    save_picture(name, to_image(all, frame.width, frame.height), options_.durability);
  }

 private:
  const DecodeOptions& options_;
  NumberedName name_;
};

/// Collects the statistics of --stats.
class StreamStatistics {
 public:
  /// Adds a frame, which must have been decoded with its vectors.
  void add(const FrameView& frame);
  [[nodiscard]] std::vector<std::string> lines() const;

 private:
  struct Sizes {
    std::int64_t frames = 0;
    std::uint64_t bytes = 0;
    std::uint64_t smallest = 0;
    std::uint64_t largest = 0;
  };

  std::array<Sizes, 2> sizes_;  // of inter frames, of key frames
  std::int64_t replacing_ = 0;  // inter frames that replace the previous frame
  std::int64_t repeats_ = 0;
  std::uint64_t blocks_ = 0;   // luma blocks in inter frames
  std::uint64_t vectors_ = 0;  // those among them with a vector
  std::uint64_t zero_vectors_ = 0;
  double length_sum_ = 0;
  int largest_component_ = 0;
};

void StreamStatistics::add(const FrameView& frame) {
  if (frame.repeat) {
    ++repeats_;
    return;
  }
  if (!frame.advances_reference) ++replacing_;
  Sizes& sizes = sizes_[frame.key ? 1 : 0];
  sizes.smallest = sizes.frames == 0 ? frame.coded_bytes : std::min(sizes.smallest, frame.coded_bytes);
  sizes.largest = std::max(sizes.largest, frame.coded_bytes);
  sizes.bytes += frame.coded_bytes;
  ++sizes.frames;
  const MotionField& motion = frame.motion[0];
  blocks_ += motion.vectors.size();
  for (std::size_t block = 0; block < motion.vectors.size(); ++block) {
    if (motion.inter[block] == 0) continue;
    const MotionVector mv = motion.vectors[block];
    ++vectors_;
    if (mv == MotionVector{}) ++zero_vectors_;
    length_sum_ += std::hypot(mv.x, mv.y);
    largest_component_ = std::max({largest_component_, std::abs(mv.x), std::abs(mv.y)});
  }
}

std::vector<std::string> StreamStatistics::lines() const {
  std::vector<std::string> lines;
  for (const int key : {1, 0}) {
    const Sizes& s = sizes_[key];
    if (s.frames == 0) continue;
    lines.push_back(fmt::format("{} frames: {}, {} bytes, {:.1f} a frame ({} to {})", key == 1 ? "key" : "inter",
                                s.frames, s.bytes, static_cast<double>(s.bytes) / static_cast<double>(s.frames),
                                s.smallest, s.largest));
  }
  if (replacing_ > 0) lines.push_back(fmt::format("inter frames without SOF: {}", replacing_));
  if (repeats_ > 0) lines.push_back(fmt::format("repeat frames: {}", repeats_));
  if (blocks_ > vectors_)
    lines.push_back(fmt::format("luma blocks without a vector: {} of {}", blocks_ - vectors_, blocks_));
  if (vectors_ > 0) {
    const auto n = static_cast<double>(vectors_);
    lines.push_back(fmt::format("luma vectors: {}, {:.1f} % zero, mean length {:.2f}, largest component {}", vectors_,
                                100 * static_cast<double>(zero_vectors_) / n, length_sum_ / n, largest_component_));
  }
  return lines;
}

/// Writes decoded frames to the outputs.
class DecodeSink {
 public:
  DecodeSink(const DecodeOptions& options, DecodeOutput what)
      : writer_(options.output.empty() || writes_pictures(options)
                    ? make_null_writer()
                    : open_frame_writer(options.output, options.rate.value_or(FrameRate()), options.durability,
                                        options.format)),
        what_(what),
        with_md5_(options.md5) {
    if (writes_pictures(options)) pictures_.emplace(options);
    if (options.statistics) statistics_.emplace();
  }

  void take(const FrameView& frame) {
    const auto& planes = what_ == DecodeOutput::picture ? frame.picture : frame.prediction;
    writer_->write_planes(frame.width, frame.height, planes);
    if (pictures_) pictures_->write(frame, planes);
    for (const auto& plane : planes) {
      if (with_md5_) md5_.add(plane);
      bytes_ += plane.size();
    }
    if (statistics_) statistics_->add(frame);
    ++frames_;
  }

  void commit() { writer_->commit(); }
  [[nodiscard]] std::string commit_part() { return writer_->commit_part(); }

  [[nodiscard]] std::int64_t frames() const { return frames_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] std::string md5() { return md5_.finish(); }
  [[nodiscard]] std::vector<std::string> statistics() const {
    return statistics_ ? statistics_->lines() : std::vector<std::string>{};
  }

 private:
  std::unique_ptr<FrameWriter> writer_;
  std::optional<PictureFiles> pictures_;  // if set, frames are written here and not by writer_
  DecodeOutput what_;
  bool with_md5_;
  Md5 md5_;
  std::optional<StreamStatistics> statistics_;
  std::int64_t frames_ = 0;
  std::uint64_t bytes_ = 0;
};

/// Decodes the requested frames. If the input is seekable, decoding begins with the key frame of the GOP that has the first of
/// them, and earlier bytes are only searched for markers.
DecodeSummary decode(const Session& session, const DecodeOptions& options, const Decoder::ViewSink& take) {
  const DecoderSettings& settings = options.decoder;
  auto source = open_byte_source(options.input, session.stop);
  if (settings.first_frame > 0 && source->size()) {
    SeekableDecoder decoder(std::move(source), settings);
    if (decoder.has_frame(settings.first_frame)) {
      return decoder.frames(settings.first_frame, settings.max_frames, take, session.stop);
    }
    source = open_byte_source(options.input, session.stop);
  }
  return Decoder(settings).decode_views(*source, take, session.stop);
}

/// Decodes. If an error other than a failed write ends the decoding, the outputs keep the frames before it.
DecodeSummary decode_and_keep(const Session& session, const DecodeOptions& options, DecodeSink& sink,
                              const ErrorPlace& place) {
  const auto progress = session.progress(std::nullopt, options.rate.value_or(FrameRate()).value());
  const bool assumes_rate = !options.rate && (writes_y4m(options) || options.seek.seconds);
  const auto take = [&](const FrameView& frame) {
    // This comes with the first frame, so that an error before it is the only line.
    if (sink.frames() == 0 && assumes_rate) {
      session.log->info("a c63 stream has no frame rate; {:.6g} frames per second are assumed (--fps sets another rate)",
                        FrameRate().value());
    }
    sink.take(frame);
    progress->advance(frame.coded_bytes);
  };
  try {
    const DecodeSummary summary = decode(session, options, take);
    progress->finish();
    return summary;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::output) throw;
    // The frames before the error are complete, so they are kept.
    if (sink.frames() > 0) sink.commit();
    throw NotedError(error.at(place),
                     counted(sink.frames(), "frame") + (options.output.empty() ? " read" : " written"));
  } catch (const std::exception&) {
    if (sink.frames() > 0) sink.commit();
    throw;
  }
}

}  // namespace

int run_decode(const Session& session, DecodeOptions options, DecodeOutput what) {
  check_command_line(session, options);
  options.decoder.execution.threads = session.common.threads;
  options.decoder.max_frames = options.max_frames > 0 ? options.max_frames : -1;
  options.decoder.keep_prediction = what == DecodeOutput::prediction;
  options.decoder.keep_motion = options.statistics;
  options.decoder.first_frame = options.seek.frame_at(options.rate.value_or(FrameRate()));
  if (writes_pictures(options)) {
    options.picture_memory = options.decoder.execution.limits.max_memory / 4;
    options.decoder.execution.limits.max_memory -= options.picture_memory;
  }
  const ErrorPlace place{.file = options.input == "-" ? "stdin" : options.input};

  if (options.list || !options.index.empty()) list_frames(options, place);
  if (lists_only(options)) return kExitDone;
  // Of a part of a stream, the number of bytes is not known before it is decoded.
  const bool is_whole = options.max_frames <= 0 && options.decoder.first_frame == 0 && !options.decoder.key_frames_only;
  std::error_code no_file;
  const std::uintmax_t bytes = std::filesystem::file_size(options.input, no_file);  // fails for a pipe
  select_decode_device(options.backend, options.device,
                       cpu_ms_to_decode(is_whole && !no_file ? std::optional<std::uint64_t>(bytes) : std::nullopt,
                                        options.decoder.execution.threads),
                       options.decoder, [&](const std::string& note) { session.log->debug(note); });
  DecodeSink sink(options, what);
  TraceFile trace(options.trace, options.durability, options.decoder.execution.limits.max_memory);
  options.decoder.trace = trace.sink();
  const DecodeSummary summary = decode_and_keep(session, options, sink, place);
  if (sink.frames() > 0 && summary.stopped) {
    std::error_code fault;
    const bool from_file = options.input != "-" && std::filesystem::is_regular_file(options.input, fault);
    (void)commit_stopped(sink, options.output, options.keep_partial || !from_file, *session.log);
  } else if (sink.frames() > 0) {
    sink.commit();
  } else if (!summary.stopped) {
    throw Error(ErrorKind::input, summary.bytes == 0 ? "C63-STREAM-EMPTY" : "C63-NO-FRAMES",
                summary.bytes == 0
                    ? "the stream is empty"
                    : fmt::format("the stream has no frame after the first {}", options.decoder.first_frame),
                place);
  }
  trace.commit(*session.log);
  if (options.md5) {
    write_stdout(sink.md5() + "  " + (options.output.empty() ? std::string("-") : options.output) + "\n");
  }
  for (const std::string& line : sink.statistics()) session.log->info("{}", line);
  const double seconds = summary.elapsed_ms / 1000;
  session.summary->info("{}decoded {} of {}x{} in {:.2f} s ({:.1f} fps), {} bytes",
                        summary.stopped ? stopped_text(sink.frames(), {}) + ": " : "", counted(sink.frames(), "frame"),
                        summary.width, summary.height, seconds,
                        seconds > 0 ? static_cast<double>(sink.frames()) / seconds : 0, sink.bytes());
  return kExitDone;
}

}  // namespace c63::tools
