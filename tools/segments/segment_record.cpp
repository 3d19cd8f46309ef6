#include "segments/segment_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <new>
#include <utility>

#include "c63/error.h"
#include "c63/version.h"
#include "common/json_number.h"
#include "io/input_file.h"

namespace c63::tools {
namespace {

using nlohmann::ordered_json;

constexpr int kRecordVersion = 1;

template <typename Value>
ordered_json or_null(const std::optional<Value>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

/// Of the first bytes of a file.
std::string sha256_of_file(const std::string& path, std::uint64_t bytes) {
  InputFile file(path);
  Sha256 sum;
  std::vector<std::uint8_t> buffer(1 << 20);
  while (bytes > 0) {
    const auto wanted =
        std::span(buffer).first(static_cast<std::size_t>(std::min<std::uint64_t>(bytes, buffer.size())));
    if (file.read(wanted) != wanted.size()) {
      throw Error(ErrorKind::input, "C63-INPUT-SHRUNK", "the file became shorter while it was read",
                  {.file = path, .offset = file.position()});
    }
    sum.add(wanted);
    bytes -= wanted.size();
  }
  return sum.finish();
}

std::string text_of(const std::string& path, std::uint64_t most_bytes) {
  InputFile file(path);
  const auto bytes = file.size();
  if (!bytes || static_cast<std::uint64_t>(*bytes) > most_bytes) {
    throw Error(ErrorKind::input, "C63-SEGMENT-RECORD", "is no segment's record", {.file = path});
  }
  std::string text(static_cast<std::size_t>(*bytes), '\0');
  text.resize(file.read({reinterpret_cast<std::uint8_t*>(text.data()), text.size()}));
  return text;
}

}  // namespace

ordered_json to_json(const SegmentRecord& r) {
  ordered_json key_frames = ordered_json::array();
  for (const auto& [frame, offset] : r.key_frames) key_frames.push_back({{"frame", frame}, {"offset_bytes", offset}});
  return {{"c63_segment_record", kRecordVersion},
          {"segment", r.segment.number},
          {"segments", r.segment.of},
          {"first_frame", r.segment.first},
          {"frames", r.segment.frames},
          {"video_frames", r.video_frames},
          {"bytes", r.bytes},
          {"sha256", r.sha256},
          {"input",
           {{"bytes", r.input.bytes}, {"sample_sha256", r.input.sample_sha256}, {"modified_ns", r.input.modified_ns}}},
          {"settings", r.settings},
          {"squared_errors", or_null(r.squared_errors)},
          {"mean_ssim", or_null(r.mean_ssim)},
          {"key_frames", key_frames}};
}

SegmentRecord record_from(const ordered_json& json) {
  if (json.at("c63_segment_record") != kRecordVersion) throw std::runtime_error("a record of another version of c63");
  SegmentRecord r;
  const auto small = [&](const char* key) {
    const std::int64_t number = whole_number(json.at(key), 1);
    if (number > std::numeric_limits<int>::max()) throw std::runtime_error("a number is out of range: " + json.at(key).dump());
    return static_cast<int>(number);
  };
  r.segment = {.number = small("segment"),
               .of = small("segments"),
               .first = whole_number(json.at("first_frame")),
               .frames = whole_number(json.at("frames"))};
  r.video_frames = whole_number(json.at("video_frames"));
  r.bytes = json.at("bytes").get<std::uint64_t>();
  r.sha256 = json.at("sha256").get<std::string>();
  const ordered_json& input = json.at("input");
  r.input = {.bytes = input.at("bytes").get<std::uint64_t>(),
             .sample_sha256 = input.at("sample_sha256").get<std::string>(),
             .modified_ns = input.at("modified_ns").get<std::int64_t>()};
  r.settings = json.at("settings");
  if (!json.at("squared_errors").is_null())
    r.squared_errors = json.at("squared_errors").get<std::array<std::uint64_t, 3>>();
  if (const ordered_json& means = json.at("mean_ssim"); !means.is_null()) {
    // NaN, of planes too small for it, is null in JSON.
    const auto mean = [&](std::size_t p) { return means.at(p).is_null() ? std::nan("") : means.at(p).get<double>(); };
    r.mean_ssim = {mean(0), mean(1), mean(2)};
  }
  for (const ordered_json& key : json.at("key_frames")) {
    r.key_frames.push_back({key.at("frame").get<std::int64_t>(), key.at("offset_bytes").get<std::uint64_t>()});
  }
  if (r.segment.number > r.segment.of || r.segment.frames > r.video_frames - r.segment.first) {
    throw std::runtime_error("numbers that contradict each other");
  }
  return r;
}

ordered_json settings_of_record(const CodingSettings& c, std::int64_t first_frame, std::int64_t max_frames,
                                const std::optional<Prefilter>& prefilter) {
  // Names all fields, so that a new one is thought of here.
  const auto& [width, height, preset, qp, key_interval, scene_cuts, search_range, method, rate] = c;
  const auto& [tables, headers, choose_levels, candidates, beam, unpredicted, repeats, adaptive_reference,
               temporal_filter, propagated_weights, chroma_lambda, tune, lambda_scale] = rate;
  const auto number_of = [](const auto& choice) {
    return choice ? ordered_json(static_cast<int>(*choice)) : ordered_json(nullptr);
  };
  return {{"version", version() + " " + revision()},
          {"width", width},
          {"height", height},
          {"preset", name(preset)},
          {"qp", qp},
          {"keyint", key_interval},
          {"scenecut", scene_cuts},
          {"merange", search_range},
          // Exhaustive methods differ in time only.
          {"me", is_exhaustive(method) ? "full" : name(method)},
          {"tables", number_of(tables)},
          {"headers", number_of(headers)},
          {"rdoq", or_null(choose_levels)},
          {"candidates", or_null(candidates)},
          {"beam", or_null(beam)},
          {"unpredicted", or_null(unpredicted)},
          {"repeats", or_null(repeats)},
          {"adaptive-reference", or_null(adaptive_reference)},
          {"temporal-filter", number_of(temporal_filter)},
          {"propagated-weights", number_of(propagated_weights)},
          {"chroma-lambda", or_null(chroma_lambda)},
          {"tune", name(tune)},
          {"lambda-scale", lambda_scale},
          {"seek", first_frame},
          {"frames", max_frames},
          {"prefilter", prefilter ? ordered_json(name(*prefilter)) : ordered_json(nullptr)}};
}

std::string record_path(const std::string& stream) { return stream + ".json"; }

SegmentRecord read_record(const std::string& stream) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;
  const std::string path = record_path(stream);
  std::string text;
  try {
    text = text_of(path, kMostBytes);
  } catch (const Error& error) {
    if (error.id() != "C63-INPUT-OPEN") throw;
    throw Error(ErrorKind::input, "C63-SEGMENT-NO-RECORD", "a segment has its record beside it, " + error.message(),
                {.file = path});
  }
  try {
    return record_from(ordered_json::parse(text));
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& fault) {
    throw Error(ErrorKind::input, "C63-SEGMENT-RECORD", std::string("is no segment's record: ") + fault.what(),
                {.file = path});
  }
}

void write_record(const std::string& stream, const SegmentRecord& record, Durability durability) {
  write_json(record_path(stream), to_json(record), durability);
}

void check_stream(const std::string& stream, const SegmentRecord& record) {
  const auto bytes = InputFile(stream).size();
  std::string what;
  if (!bytes || static_cast<std::uint64_t>(*bytes) != record.bytes) {
    what = fmt::format("the segment has {} bytes, its record says {}", bytes.value_or(0), record.bytes);
  } else if (sha256_of_file(stream, record.bytes) != record.sha256) {
    what = "the segment's bytes are not those that its record is of";
  }
  if (!what.empty()) throw Error(ErrorKind::input, "C63-SEGMENT-DAMAGED", what, {.file = stream});
}

std::optional<SegmentRecord> find_whole_segment(const std::string& stream, const SegmentedVideo& video,
                                                const Segment& segment, const MeasurementSettings& wanted,
                                                std::string& reason) {
  try {
    SegmentRecord record = read_record(stream);
    const Segment& s = record.segment;
    if (s.number != segment.number || s.of != segment.of || s.first != segment.first || s.frames != segment.frames ||
        record.video_frames != video.plan.frames) {
      reason = "it is another segment";
    } else if (!same_content(record.input, video.input) || record.input.modified_ns != video.input.modified_ns) {
      reason = "the input is another one, or was modified";
    } else if (record.settings != video.settings) {
      reason = "the settings are others";
    } else if (s.frames > 0 && ((wanted.psnr && !record.squared_errors) || (wanted.ssim && !record.mean_ssim))) {
      reason = "its quality was not measured";
    } else {
      check_stream(stream, record);
      return record;
    }
  } catch (const Error& error) {
    reason = error.message();
  }
  return std::nullopt;
}

SegmentRecorder::SegmentRecorder(const SegmentedVideo& video, const Segment& segment) {
  record_.segment = segment;
  record_.video_frames = video.plan.frames;
  record_.input = video.input;
  record_.settings = video.settings;
}

void SegmentRecorder::add(const EncodedFrame& frame, const EncoderSettings& settings) {
  if (frame.key) record_.key_frames.push_back({frame.index, record_.bytes});
  sum_.add(frame.bytes);
  record_.bytes += frame.bytes.size();
  ++frames_;
  measured_ = settings.measurement;
  for (std::size_t p = 0; p < 3; ++p) {
    squared_errors_[p] += frame.statistics.sse[p];
    ssim_[p] += frame.statistics.ssim[p];
  }
}

SegmentRecord SegmentRecorder::finish() {
  const Segment& s = record_.segment;
  if (frames_ != s.frames) {
    throw Error(
        ErrorKind::input, "C63-SEGMENT-SHORT",
        fmt::format("segment {} of {} should have {} frames, the input gave {}", s.number, s.of, s.frames, frames_));
  }
  record_.sha256 = sum_.finish();
  if (measured_.psnr && frames_ > 0) record_.squared_errors = squared_errors_;
  if (measured_.ssim && frames_ > 0) {
    for (double& ssim : ssim_) ssim /= static_cast<double>(frames_);
    record_.mean_ssim = ssim_;
  }
  return std::move(record_);
}

}  // namespace c63::tools
