#include "segments/segment_record.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <utility>

#include "c63/error.h"
#include "common/json.h"
#include "common/digest.h"
#include "io/descriptor.h"
#include "io/input_file.h"

namespace c63::tools {
namespace {

using nlohmann::ordered_json;

constexpr int kRecordVersion = 1;

template <typename Value>
ordered_json or_null(const std::optional<Value>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

}  // namespace

bool same_content(const InputIdentity& a, const InputIdentity& b) {
  return a.bytes == b.bytes && a.sample_sha256 == b.sample_sha256;
}

InputIdentity identify_input(const std::string& path) {
  constexpr std::int64_t kPieces = 64;
  constexpr std::int64_t kPiece = 4096;
  const InputFile file(path);
  if (path == "-" || !file.size()) {
    throw Error(ErrorKind::usage, "C63-SEGMENT-INPUT",
                "to encode segments, the input must be a file, not a pipe or device", {.file = file.name()});
  }
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    throw system_fault(ErrorKind::input, "C63-INPUT-OPEN", "cannot open for reading", errno, {.file = path});
  }
  InputIdentity identity;
  identity.bytes = static_cast<std::uint64_t>(*file.size());
  identity.modified_ns = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
  Sha256 sum;
  const std::int64_t last = std::max<std::int64_t>(0, *file.size() - kPiece);
  for (std::int64_t i = 0; i < kPieces; ++i) {
    std::array<std::uint8_t, kPiece> piece{};
    // Dividing first avoids an overflow for files of more than 2^57 bytes.
    const std::int64_t at = last / (kPieces - 1) * i + last % (kPieces - 1) * i / (kPieces - 1);
    sum.add(std::span(piece).first(file.read_at(at, piece)));
  }
  identity.sample_sha256 = sum.finish();
  return identity;
}

ordered_json to_json(const SegmentRecord& r) {
  const ordered_json input = {{"bytes", r.input.bytes}, {"sample_sha256", r.input.sample_sha256}, {"modified_ns", r.input.modified_ns}};
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
          {"input", input},
          {"settings", r.settings},
          {"squared_errors", or_null(r.squared_errors)},
          {"mean_ssim", or_null(r.mean_ssim)},
          {"key_frames", key_frames}};
}

SegmentRecord record_from(const ordered_json& json) {
  if (json.at("c63_segment_record") != kRecordVersion) throw std::runtime_error("it comes from another version of c63");
  SegmentRecord r;
  r.segment = {.number = whole_number_from<int>(json.at("segment"), 1),
               .of = whole_number_from<int>(json.at("segments"), 1),
               .first = whole_number_from<std::int64_t>(json.at("first_frame")),
               .frames = whole_number_from<std::int64_t>(json.at("frames"))};
  r.video_frames = whole_number_from<std::int64_t>(json.at("video_frames"));
  r.bytes = whole_number_from<std::uint64_t>(json.at("bytes"));
  r.sha256 = json.at("sha256").get<std::string>();
  const ordered_json& input = json.at("input");
  r.input = {.bytes = whole_number_from<std::uint64_t>(input.at("bytes")),
             .sample_sha256 = input.at("sample_sha256").get<std::string>(),
             .modified_ns = whole_number_from(input.at("modified_ns"), std::numeric_limits<std::int64_t>::min())};
  r.settings = json.at("settings");
  if (const ordered_json& errors = json.at("squared_errors"); !errors.is_null()) {
    const auto sum = [&](std::size_t p) { return whole_number_from<std::uint64_t>(errors.at(p)); };
    r.squared_errors = {sum(0), sum(1), sum(2)};
  }
  if (const ordered_json& means = json.at("mean_ssim"); !means.is_null()) {
    // JSON has null for NaN, which is the SSIM of planes that are too small for it.
    const auto mean = [&](std::size_t p) { return means.at(p).is_null() ? std::nan("") : means.at(p).get<double>(); };
    r.mean_ssim = {mean(0), mean(1), mean(2)};
  }
  for (const ordered_json& key : json.at("key_frames")) {
    r.key_frames.push_back(
        {whole_number_from<std::int64_t>(key.at("frame")), whole_number_from<std::uint64_t>(key.at("offset_bytes"))});
  }
  if (r.segment.of > kMostSegments || r.segment.number > r.segment.of ||
      r.segment.frames > r.video_frames - r.segment.first) {
    throw std::runtime_error("its numbers contradict each other");
  }
  return r;
}

std::string record_path(const std::string& stream) { return stream + ".json"; }

SegmentRecord read_record(const std::string& stream) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;
  const std::string path = record_path(stream);
  SegmentRecord record;
  try {
    read_json(path, kMostBytes, "C63-SEGMENT-RECORD", "is not the record of a segment",
              [&](const ordered_json& json) { record = record_from(json); });
  } catch (const Error& error) {
    if (error.id() != "C63-INPUT-OPEN") throw;
    throw Error(ErrorKind::input, "C63-SEGMENT-NO-RECORD", "the segment needs this record file, " + error.message(),
                {.file = path});
  }
  return record;
}

void write_record(const std::string& stream, const SegmentRecord& record, Durability durability) {
  write_json(record_path(stream), to_json(record), durability);
}

void check_stream(const std::string& stream, const SegmentRecord& record) {
  const auto bytes = InputFile(stream).size();
  std::string what;
  if (!bytes || static_cast<std::uint64_t>(*bytes) != record.bytes) {
    what = fmt::format("the segment has {} bytes, but its record says {}", bytes.value_or(0), record.bytes);
  } else if (sha256_of_file(stream, record.bytes) != record.sha256) {
    what = "the segment's bytes do not match its record";
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
      reason = "the input is different, or was modified";
    } else if (record.settings != video.settings) {
      reason = "the settings are different";
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
    throw Error(ErrorKind::input, "C63-SEGMENT-SHORT",
                fmt::format("segment {} of {} should have {} frames, but the input gave {}", s.number, s.of, s.frames,
                            frames_));
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
