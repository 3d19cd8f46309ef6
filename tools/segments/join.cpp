#include "segments/join.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/logger.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <system_error>

#include "c63/error.h"
#include "common/errors.h"
#include "common/options.h"
#include "common/outputs.h"
#include "common/report.h"
#include "common/text.h"

namespace c63::tools {
namespace {

/// Returns true if the file is one that a program did not complete: NAME.part-PID-N, without a record.
bool is_unfinished(const std::string& path) {
  constexpr std::string_view kMark = ".part-";
  constexpr std::string_view kDigits = "0123456789";
  const std::size_t mark = path.rfind(kMark);
  if (mark == std::string::npos) return false;
  const std::string_view numbers = std::string_view(path).substr(mark + kMark.size());
  const std::size_t dash = std::min(numbers.find_first_not_of(kDigits), numbers.size());
  const bool are_two = dash > 0 && dash + 1 < numbers.size() && numbers[dash] == '-' &&
                       numbers.find_first_not_of(kDigits, dash + 1) == std::string_view::npos;
  std::error_code ignored;
  return are_two && !std::filesystem::exists(record_path(path), ignored);
}

[[noreturn]] void refuse(const char* id, const std::string& what, const SegmentFile& file) {
  throw Error(ErrorKind::input, id, what, {.file = file.stream});
}

/// Returns the first setting that differs, with both values.
std::string difference(const nlohmann::ordered_json& a, const nlohmann::ordered_json& b) {
  for (const auto& [key, value] : a.items()) {
    if (!b.contains(key) || b.at(key) != value)
      return key + " " + value.dump() + " and " + (b.contains(key) ? b.at(key).dump() : "none");
  }
  return "settings of another version";
}

void check_same_video(const SegmentFile& first, const SegmentFile& other) {
  const SegmentRecord& a = first.record;
  const SegmentRecord& b = other.record;
  if (a.segment.of != b.segment.of) {
    refuse("C63-JOIN-COUNT",
           fmt::format("is one of {} segments, but {} is one of {}", b.segment.of, first.stream, a.segment.of), other);
  }
  if (!same_content(a.input, b.input)) refuse("C63-JOIN-INPUT", "comes from another input than " + first.stream, other);
  if (a.settings != b.settings) {
    refuse("C63-JOIN-SETTINGS",
           fmt::format("was encoded with other settings than {}: {}", first.stream, difference(b.settings, a.settings)),
           other);
  }
  if (a.video_frames != b.video_frames) {
    refuse("C63-JOIN-FRAMES",
           fmt::format("comes from a video of {} frames, but {} from one of {}", b.video_frames, first.stream,
                       a.video_frames),
           other);
  }
}

}  // namespace

void add_options(CLI::App& app, JoinOptions& o) {
  add_options(app, "Input and output",
              {{"segments", &o.segments, "FILE...", "All segments of a video, as c63enc --segment writes them, in any order"},
               {"-o,--output", &o.output, "FILE", "Stream to write; - is stdout"}});
  add_output_options(app, o.durability);
}

std::vector<std::string> streams_among(const std::vector<std::string>& names) {
  const std::string suffix = record_path("");
  std::vector<std::string> streams;
  std::set<std::string> seen_by_record;
  for (const std::string& name : names) {
    if (is_unfinished(name)) continue;
    if (!name.ends_with(suffix)) {
      streams.push_back(name);
      continue;
    }
    const std::string stream = name.substr(0, name.size() - suffix.size());
    if (std::ranges::find(names, stream) == names.end() && seen_by_record.insert(stream).second)
      streams.push_back(stream);
  }
  return streams;
}

void order_segments(std::vector<SegmentFile>& segments) {
  for (const SegmentFile& segment : segments) check_same_video(segments.front(), segment);
  std::ranges::stable_sort(segments, {}, [](const SegmentFile& file) { return file.record.segment.number; });
  constexpr std::size_t kMostNamed = 16;
  std::vector<int> missing;  // at most kMostNamed of them
  int number = 0;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const Segment& s = segments[i].record.segment;
    if (s.number == number) {
      refuse("C63-JOIN-TWICE", fmt::format("is segment {} of {}, but so is {}", s.number, s.of, segments[i - 1].stream),
             segments[i]);
    }
    for (++number; number < s.number && missing.size() < kMostNamed; ++number) missing.push_back(number);
    number = s.number;
  }
  const int of = segments.front().record.segment.of;
  while (number < of && missing.size() < kMostNamed) missing.push_back(++number);
  if (!missing.empty()) {
    const std::size_t all = static_cast<std::size_t>(of) - segments.size();  // each number occurs at most once
    throw Error(ErrorKind::input, "C63-JOIN-MISSING",
                fmt::format("segment{} {}{} of {} {} missing", all == 1 ? "" : "s", fmt::join(missing, ", "),
                            all > kMostNamed ? ", …" : "", of, all == 1 ? "is" : "are"));
  }
  std::int64_t frames = 0;
  for (const SegmentFile& file : segments) {
    if (file.record.segment.first != frames) {
      refuse("C63-JOIN-FRAMES",
             fmt::format("begins at frame {}, but the segments before it end at frame {}", file.record.segment.first,
                         frames),
             file);
    }
    frames += file.record.segment.frames;
  }
  if (frames != segments.front().record.video_frames) {
    refuse(
        "C63-JOIN-FRAMES",
        fmt::format("the video has {} frames, but its segments have {}", segments.front().record.video_frames, frames),
        segments.back());
  }
}

void append_segments(OutputFile& output, const std::vector<SegmentFile>& segments, const std::function<bool()>& is_stopped) {
  for (const SegmentFile& file : segments) {
    if (is_stopped()) return;
    check_stream(file.stream, file.record);
    output.append_file(file.stream, file.record.bytes);
  }
}

int run_join(const Session& session, const JoinOptions& options) {
  if (options.segments.empty()) throw Error(ErrorKind::usage, "C63-USAGE", "no segments were given");
  if (options.output.empty()) throw Error(ErrorKind::usage, "C63-USAGE", "no output file was given (-o)");
  std::vector<NamedPath> inputs;
  const std::vector<std::string> streams = streams_among(options.segments);
  for (const std::string& name : options.segments) inputs.push_back({"a segment", name});
  for (const std::string& stream : streams) {
    inputs.push_back({"a segment", stream});  // only its record was named on the command line
    inputs.push_back({"a segment's record", record_path(stream)});
  }
  check_distinct_files(inputs, {{"--output", options.output},
                                {"--log-file", session.common.log.file}});
  check_apart_from_log({"--output", options.output});
  std::vector<SegmentFile> segments;
  for (const std::string& stream : streams) segments.push_back({stream, read_record(stream)});
  if (segments.empty()) throw Error(ErrorKind::usage, "C63-USAGE", "none of the files is a segment");
  order_segments(segments);
  OutputFile output(options.output, options.durability);
  append_segments(output, segments, [&] { return session.stop.stop_requested(); });
  if (session.stop.stop_requested()) return kExitDone;
  output.commit();
  session.summary->info("joined {}: {}, {} bytes", counted(std::ssize(segments), "segment"),
                        counted(segments.front().record.video_frames, "frame"), output.bytes_written());
  return kExitDone;
}

}  // namespace c63::tools
