#include <fmt/format.h>
#include <spdlog/logger.h>

#include <algorithm>
#include <array>
#include <exception>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "c63/error.h"
#include "common/errors.h"
#include "common/json.h"
#include "common/log.h"
#include "common/options.h"
#include "common/outputs.h"
#include "common/report.h"
#include "common/values.h"
#include "common/video_input.h"
#include "compare/commands.h"
#include "decode/frame_task.h"
#include "decode/picture_pool.h"
#include "decode/stream_reader.h"
#include "io/input_file.h"
#include "race/motion_audit.h"

namespace c63::tools {
namespace {

using nlohmann::ordered_json;

constexpr std::array kFaultsShown = {MotionFault::not_smallest, MotionFault::not_first, MotionFault::leaves_window,
                                     MotionFault::leaves_plane};

/// A coded frame, its vectors, and the planes that they refer to.
struct FrameMotion {
  std::int64_t index = 0;
  bool has_vectors = false;                 ///< false for key frames and repeats
  std::array<MotionField, 3> motion;        ///< the vectors, including those inherited from the frame before
  std::array<ConstPlaneView, 3> reference;  ///< the reference's padded planes; valid until the next call of next()
};

/// Decodes a stream frame by frame. Keeps each frame's reference with its padding, which FrameDecoder leaves out.
class StreamMotion {
 public:
  /// Throws Error (input, limit) if the stream has no first frame.
  StreamMotion(const std::string& path, const Limits& limits, std::stop_token stop)
      : path_(path),
        limits_(limits),
        bytes_(open_byte_source(path, std::move(stop))),
        reader_(*bytes_, limits),
        task_(DecoderSettings{.execution = {.limits = limits}}),
        trace_(nullptr, TraceTrack::thread) {
    try {
      ahead_ = reader_.next();
      if (!ahead_) throw Error(ErrorKind::input, "C63-STREAM-EMPTY", "the stream is empty");
    } catch (const Error& error) {
      throw error.at({.file = path_});
    }
  }

  /// Returns the size of the first frame's picture. Decodes no samples. Call it before next().
  [[nodiscard]] VideoFormat format() const {
    return {.width = ahead_->parsed.geometry.width(), .height = ahead_->parsed.geometry.height()};
  }

  /// Returns the next frame; nothing at the end. Throws Error (input, limit) with file, frame and offset.
  [[nodiscard]] std::optional<FrameMotion> next() {
    if (!ahead_) return std::nullopt;
    try {
      FrameMotion frame = decode(std::move(*ahead_));
      ahead_ = reader_.next();
      return frame;
    } catch (const Error& error) {
      throw error.at({.file = path_});
    }
  }

 private:
  [[nodiscard]] FrameMotion decode(StreamFrame&& coded) {
    FrameMotion frame;
    frame.index = coded.index;
    const ParsedFrame& parsed = coded.parsed;
    if (parsed.repeat) return frame;
    // The memory for three pictures, a decoding task, the source's frame, and the copies that exact search makes.
    const std::uint64_t needed = 9 * parsed.geometry.padded_samples();
    if (needed > limits_.max_memory) {
      throw Error(ErrorKind::limit, "C63-MAX-MEMORY",
                  fmt::format("checking the vectors of {}x{} takes {} bytes; the limit is {} (--max-memory)",
                              parsed.geometry.width(), parsed.geometry.height(), needed, limits_.max_memory));
    }
    if (!parsed.key && !chain_.current()) {
      throw Error(ErrorKind::input, "C63-NO-REFERENCE", "the stream does not begin with a key frame",
                  {.frame = coded.index});
    }
    const bool key = parsed.key;
    pictures_ = {};
    DecodedPicture* const free = pool_.find_free();
    if (free == nullptr) throw Error(ErrorKind::internal, "C63-INTERNAL", "a decoder needs more than three pictures");
    pictures_ = chain_.next(key, parsed.advances_reference, *free);
    task_.begin(std::move(coded), FramePictures(pictures_));
    static_cast<void>(task_.run(trace_));  // returns only when the frame is done, because its reference is complete
    const std::exception_ptr fault = task_.fault();
    if (!key && !fault) frame.motion = task_.motion();
    task_.end();
    if (fault) std::rethrow_exception(fault);
    if (key) return frame;
    frame.has_vectors = true;
    for (int p = 0; p < 3; ++p)
      frame.reference[static_cast<std::size_t>(p)] = std::as_const(pictures_.reference->samples).plane(p);
    return frame;
  }

  std::string path_;
  Limits limits_;
  std::unique_ptr<ByteSource> bytes_;
  StreamReader reader_;
  std::optional<StreamFrame> ahead_;  ///< the next frame, not yet decoded
  PicturePool pool_{3};  ///< the picture of the frame, and two earlier ones that it may refer to
  ReferenceChain chain_;
  FrameTask task_;
  TraceRow trace_;
  FramePictures pictures_;  ///< those of the last frame
};

/// The planes of a source's frames in the codec's layout: the samples one after another, then zeros up to the padded
/// size.
class SourcePlanes {
 public:
  SourcePlanes(FrameSource& source, const std::string& path) : source_(source), path_(path) {}

  /// Reads frame `index`. Frames must be read in order, because some sources have no other order.
  void read(std::int64_t index) {
    const VideoFormat format = source_.format();
    frame_.resize(frame_bytes(format.width, format.height));
    if (!source_.read(index, frame_)) {
      throw Error(ErrorKind::comparison, "C63-CMP-COUNT", "the source ends before the stream",
                  {.file = path_, .frame = index});
    }
  }
  /// Copies the frame that was read last into planes of the sizes of `like`.
  void lay_out(const std::array<ConstPlaneView, 3>& like) {
    const VideoFormat format = source_.format();
    const auto planes = split_planes(std::span<const std::uint8_t>(frame_), format.width, format.height);
    for (std::size_t p = 0; p < 3; ++p) {
      planes_[p].assign(static_cast<std::size_t>(like[p].width) * static_cast<std::size_t>(like[p].height), 0);
      std::ranges::copy(planes[p], planes_[p].begin());
      views_[p] = {planes_[p].data(), like[p].width, like[p].height, like[p].width};
    }
  }
  [[nodiscard]] ConstPlaneView plane(std::size_t p) const { return views_[p]; }

 private:
  FrameSource& source_;
  std::string path_;
  std::vector<std::uint8_t> frame_;
  std::array<std::vector<std::uint8_t>, 3> planes_;
  std::array<ConstPlaneView, 3> views_;
};

/// The results for the whole stream.
struct StreamAudit {
  MotionAudit all;
  std::int64_t frames = 0;
  std::int64_t frames_with_vectors = 0;
  std::int64_t blocks_without_vector = 0;
  std::optional<MotionDifference> costliest;
  std::vector<MotionDifference> shown;
};

std::string share_text(std::int64_t some, std::int64_t all) {
  return fmt::format("{:.3g} %", all > 0 ? 100.0 * static_cast<double>(some) / static_cast<double>(all) : 0.0);
}

std::string more_text(const AuditCounts& t) {
  const double more = t.exact_sad > 0 ? 100.0 * (static_cast<double>(t.sad) / static_cast<double>(t.exact_sad) - 1) : 0;
  return fmt::format("SAD {}, {:.3g} % more than exact search ({})", t.sad, more, t.exact_sad);
}

std::string faults_text(const AuditCounts& totals) {
  std::string text;
  for (const MotionFault fault : kFaultsShown) {
    if (totals.count(fault) > 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", totals.count(fault), to_string(fault));
  }
  return text;
}

std::string report_text(const MotionAuditOptions& o, const StreamAudit& audit) {
  const AuditCounts& all = audit.all.totals();
  std::string text = fmt::format("{}: {} frames, {} with vectors; {} vectors compared with exact search of range {}\n",
                                 o.stream, audit.frames, audit.frames_with_vectors, all.blocks, o.search_range);
  if (audit.blocks_without_vector > 0) {
    text += fmt::format("  {} blocks of these frames have no vector\n", audit.blocks_without_vector);
  }
  if (all.differing() == 0) return text + "all vectors are equal to those of exact search\n";
  text += fmt::format("first difference: {}\n", to_string(*audit.all.first(), "its"));
  if (audit.costliest) {
    text += fmt::format("largest cost: {}; the SAD is {} larger\n", to_string(*audit.costliest, "its"),
                        audit.costliest->lost());
  }
  for (int p = 0; p < 3; ++p) {
    const AuditCounts& plane = audit.all.totals(p);
    text += fmt::format("{}: {} of {} differ ({}{}{}); {}\n", "YUV"[p], plane.differing(), plane.blocks,
                        share_text(plane.differing(), plane.blocks), plane.differing() > 0 ? ": " : "",
                        faults_text(plane), more_text(plane));
  }
  text += fmt::format("all: {} of {} differ ({}); {}\n", all.differing(), all.blocks,
                      share_text(all.differing(), all.blocks), more_text(all));
  for (const MotionSuspicion& suspicion : audit.all.suspicions()) {
    text += fmt::format("suspicion: {} [{}, explains {:.0f} % of the differences]\n", suspicion.text, suspicion.id,
                        100 * suspicion.share);
  }
  for (const MotionDifference& d : audit.shown)
    text += fmt::format("  {}; the SAD is {} larger\n", to_string(d, "its"), d.lost());
  if (const auto rest = all.differing() - static_cast<std::int64_t>(audit.shown.size());
      rest > 0 && !audit.shown.empty()) {
    text += fmt::format("  and {} more; --csv lists all of them\n", rest);
  }
  return text;
}

ordered_json json_of(const MotionDifference& d) {
  return {{"frame", d.frame},
          {"plane", std::string(1, "YUV"[d.plane])},
          {"column", d.column},
          {"row", d.row},
          {"fault", to_string(d.fault)},
          {"vector", {d.vector.x, d.vector.y}},
          {"sad", d.fault == MotionFault::leaves_plane ? ordered_json(nullptr) : ordered_json(d.sad)},
          {"exact_vector", {d.exact.x, d.exact.y}},
          {"exact_sad", d.exact_sad},
          {"text", to_string(d, "its")}};
}

ordered_json json_of(const AuditCounts& t) {
  ordered_json json = {{"vectors", t.blocks}, {"differing", t.differing()}, {"sad", t.sad}, {"exact_sad", t.exact_sad}};
  for (const MotionFault fault : kFaultsShown) json[to_string(fault)] = t.count(fault);
  return json;
}

void write_json(const MotionAuditOptions& o, const StreamAudit& audit) {
  ordered_json json = environment_json("c63cmp");
  json["stream"] = o.stream;
  json["source"] = o.source;
  json["search_range"] = o.search_range;
  json["frames"] = audit.frames;
  json["frames_with_vectors"] = audit.frames_with_vectors;
  json["blocks_without_vector"] = audit.blocks_without_vector;
  json["all"] = json_of(audit.all.totals());
  for (int p = 0; p < 3; ++p) json["planes"][std::string(1, "YUV"[p])] = json_of(audit.all.totals(p));
  json["first_difference"] = audit.all.first() ? json_of(*audit.all.first()) : ordered_json(nullptr);
  json["costliest"] = audit.costliest ? json_of(*audit.costliest) : ordered_json(nullptr);
  json["suspicions"] = ordered_json::array();
  for (const MotionSuspicion& s : audit.all.suspicions()) {
    json["suspicions"].push_back({{"id", s.id}, {"text", s.text}, {"share", json_number(s.share)}});
  }
  TextFile file(o.json, o.durability);
  file.add("{}\n", json.dump(2));
  file.commit();
}

void check_command_line(const Session& session, const MotionAuditOptions& o) {
  if (o.stream.empty() || o.source.empty()) {
    throw Error(ErrorKind::usage, "C63-USAGE",
                "a c63 stream and the video that was encoded are needed: c63cmp motion STREAM SOURCE");
  }
  if (o.stream == "-" && o.source == "-") throw Error(ErrorKind::usage, "C63-USAGE", "stdin can be read only once");
  check_distinct_files({{"the stream", o.stream}, {"the source", o.source}},
                       {{"--csv", o.csv}, {"--json", o.json}, {"--log-file", session.common.log.file}});
}

}  // namespace

void add_options(CLI::App& app, MotionAuditOptions& o) {
  add_options(
      app, "Audit",
      {{"stream", &o.stream, "STREAM", "c63 stream of any encoder"},
       {"source", &o.source, "SOURCE", "The video that was encoded: raw YUV 4:2:0, Y4M, c63, or anything FFmpeg decodes"},
       {"--merange", &o.search_range, "SAMPLES", "Luma search range that the encoder used; chroma has half of it", {.least = 1, .most = 127}},
       {"-f,--frames", &o.max_frames, "N", "Check no more frames than this; 0: all", {.least = 0}},
       {"--show", &o.shown, "N", "Print this many differences", {.least = 0}},
       {"--exact", &o.exact, "", "Fail (exit code 3) if a vector differs from exact search"},
       {"--csv", &o.csv, "FILE", "Write a CSV row per difference, with its SAD and how much larger that is than the smallest SAD"},
       {"--json", &o.json, "FILE", "Write all results as JSON"}});
  add_output_options(app, o.durability);
  add_limit_options(app, o.limits);
}

int run_motion_audit(const Session& session, const MotionAuditOptions& o) {
  check_command_line(session, o);
  Notices notices(session.log);
  StreamMotion stream(o.stream, {o.limits.max_pixels, o.limits.max_memory / 2}, session.stop);
  const VideoFormat size = stream.format();
  const auto source =
      open_video({.path = o.source,
                  .width = o.source.ends_with(".c63") ? 0 : size.width,
                  .height = o.source.ends_with(".c63") ? 0 : size.height,
                  .limits = {o.limits.max_pixels, o.limits.max_memory / 2},
                  .stop = session.stop,
                  .warn = [&](const std::string& message) { notices.warn(o.source + ": " + message); }});
  const VideoFormat format = source->format();
  if (format.width != size.width || format.height != size.height) {
    throw Error(
        ErrorKind::comparison, "C63-CMP-SIZE",
        fmt::format("the source is {}x{}, the stream {}x{}", format.width, format.height, size.width, size.height),
        {.file = o.source});
  }
  std::optional<TextFile> csv;
  if (!o.csv.empty()) {
    csv.emplace(o.csv, o.durability);
    csv->add("frame,plane,column,row,fault,mv_x,mv_y,sad,exact_mv_x,exact_mv_y,exact_sad,cost\n");
  }
  const auto progress =
      session.progress(o.max_frames > 0 ? std::optional(o.max_frames) : source->expected_frame_count(), format.rate.value());
  notices.begin();
  StreamAudit audit;
  SourcePlanes planes(*source, o.source);
  while (!session.stop.stop_requested() && (o.max_frames == 0 || audit.frames < o.max_frames)) {
    const std::optional<FrameMotion> frame = stream.next();
    if (!frame) break;
    ++audit.frames;
    planes.read(frame->index);
    if (frame->has_vectors) {
      ++audit.frames_with_vectors;
      planes.lay_out(frame->reference);
      for (std::size_t p = 0; p < 3; ++p) {
        const MotionField& motion = frame->motion[p];
        const FoundMotion found{.current = planes.plane(p),
                                .reference = frame->reference[p],
                                .range = p == 0 ? o.search_range : o.search_range / 2,
                                .vectors = motion.vectors,
                                .audited = motion.inter,
                                .frame = frame->index,
                                .plane = static_cast<int>(p)};
        audit.blocks_without_vector += std::ranges::count(motion.inter, std::uint8_t{0});
        audit.all.add(found);
        for (const MotionDifference& d : audit.all.differences()) {
          if (static_cast<std::int64_t>(audit.shown.size()) < o.shown) audit.shown.push_back(d);
          if (d.lost() > (audit.costliest ? audit.costliest->lost() : 0)) audit.costliest = d;
          if (csv) {
            csv->add("{},{},{},{},{},{},{},{},{},{},{},{}\n", d.frame, "YUV"[p], d.column, d.row, to_string(d.fault),
                     d.vector.x, d.vector.y,
                     d.fault == MotionFault::leaves_plane ? std::string() : std::to_string(d.sad), d.exact.x, d.exact.y,
                     d.exact_sad, d.lost());
          }
        }
      }
    }
    progress->advance(0);
  }
  progress->finish();
  if (session.stop.stop_requested()) return kExitDone;
  if (csv) csv->commit();
  if (!o.json.empty()) write_json(o, audit);
  if (o.csv != "-" && o.json != "-") write_stdout(report_text(o, audit));
  if (o.exact && audit.all.totals().differing() > 0) {
    throw Error(ErrorKind::comparison, "C63-CMP-MOTION",
                fmt::format("{} of {} vectors differ from exact search: {}", audit.all.totals().differing(),
                            audit.all.totals().blocks, to_string(*audit.all.first(), "its")),
                {.file = o.stream});
  }
  return kExitDone;
}

}  // namespace c63::tools
