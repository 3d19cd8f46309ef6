#include "c63/trace.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "c63/decoder.h"
#include "c63/encoder.h"
#include "c63/thread_pool.h"
#include "support/sources.h"
#include "support/trace_format.h"

namespace c63::trace_test {
namespace {

using std::chrono::microseconds;

test::Bytes noise(const CodingSettings& coding, int frames) { return test::random_video(coding.width, coding.height, frames); }

EncodeSummary encode_traced(EncoderSettings settings, int frames, TraceRecorder& trace) {
  settings.measurement.trace = &trace;
  test::VideoSource source(noise(settings.coding, frames), settings.coding.width, settings.coding.height);
  return Encoder(settings).encode(source, [](EncodedFrame&&) {});
}

double milliseconds(TraceSpan::Clock::duration d) { return std::chrono::duration<double, std::milli>(d).count(); }

DecodeSummary decode_traced(DecoderSettings settings, std::span<const std::uint8_t> stream, TraceRecorder& trace) {
  settings.trace = &trace;
  return Decoder(settings).decode(stream, [](DecodedFrame&&) {});
}

test::Bytes noise_stream(const EncoderSettings& settings, int frames) { return encode(noise(settings.coding, frames), settings); }

/// Sorts the spans of a trace into rows. A row is a track with an index, such as lane 0. Spans are in order of their
/// start.
std::map<std::pair<TraceTrack, int>, std::vector<TraceSpan>> rows_of(const TraceRecorder& trace) {
  std::map<std::pair<TraceTrack, int>, std::vector<TraceSpan>> rows;
  for (const TraceSpan& span : trace.spans()) rows[{span.track, span.index}].push_back(span);
  return rows;
}

/// Expects that each span begins exactly where the previous one ends, so the row has no gaps.
void expect_no_gap(const std::vector<TraceSpan>& row) {
  for (std::size_t i = 1; i < row.size(); ++i) {
    EXPECT_EQ((row[i].start - row[i - 1].end).count(), 0) << "ns between " << row[i - 1].name << " and " << row[i].name;
  }
}

double total_ms(const std::vector<TraceSpan>& row, std::string_view but_not) {
  double total = 0;
  for (const TraceSpan& span : row) total += span.name == but_not ? 0 : milliseconds(span.end - span.start);
  return total;
}

TEST(TraceTest, JsonFollowsTheTraceEventFormat) {
  const EncoderSettings settings{.coding = {.width = 64, .height = 48, .key_interval = 3}, .execution = {.threads = 2, .lanes = 2}};
  const std::multiset<std::int64_t> all = {0, 1, 2, 3, 4, 5, 6};
  TraceRecorder encoding;
  encode_traced(settings, 7, encoding);
  auto frames = test::check_trace(encoding.chrome_json());
  // The trace may also contain reads of frames after the last one, which find the end of the video.
  for (const std::int64_t frame : all) EXPECT_EQ(frames["read"].count(frame), 1U);
  for (const char* stage : {"load", "code", "measure", "entropy", "write"}) EXPECT_EQ(frames[stage], all) << stage;
  EXPECT_EQ(frames["search"], (std::multiset<std::int64_t>{1, 2, 4, 5})) << "key frames are not searched";

  TraceRecorder decoding;
  decode_traced({.execution = {.threads = 2}}, noise_stream(settings, 7), decoding);
  frames = test::check_trace(decoding.chrome_json());
  EXPECT_EQ(frames["write"], all);
  // A frame is decoded a few rows at a time. So each frame has several spans of these stages.
  for (const char* stage : {"entropy", "restore"}) {
    EXPECT_EQ(std::set(frames[stage].begin(), frames[stage].end()), std::set(all.begin(), all.end())) << stage;
  }
}

// Tests that the rows of the calling thread, of lanes and of threads have no gaps: at each moment of a run, a span says
// what happens. This must be true even on a busy machine.
TEST(TraceTest, SpansOfARowAddUpToTheRun) {
  for (const auto& [threads, lanes] : {std::pair{1, 1}, {2, 1}, {2, 3}}) {
    const EncoderSettings settings{.coding = {.width = 96, .height = 96, .key_interval = 5}, .execution = {.threads = threads, .lanes = lanes, .simd = SimdLevel::scalar}};
    TraceRecorder encoding;
    const EncodeSummary encoded = encode_traced(settings, 12, encoding);
    auto rows = rows_of(encoding);
    const auto loop = rows.at({TraceTrack::loop, 0});
    expect_no_gap(loop);
    EXPECT_NEAR(total_ms(loop, "open"), encoded.elapsed_ms, 1e-6);
    for (int lane = 0; lane < lanes; ++lane) {
      const auto& row = rows.at({TraceTrack::chain, lane});
      expect_no_gap(row);
      EXPECT_LE(row.front().start, loop.front().end) << "opening the backend opens the row";
      EXPECT_GE(row.back().end, loop.back().end);
    }

    TraceRecorder decoding;
    const DecodeSummary decoded = decode_traced({.execution = {.pool = std::make_shared<ThreadPool>(threads)}}, noise_stream(settings, 12), decoding);
    rows = rows_of(decoding);
    const auto decode_loop = rows.at({TraceTrack::loop, 0});
    expect_no_gap(decode_loop);
    EXPECT_NEAR(total_ms(decode_loop, "open"), decoded.elapsed_ms, 1e-6);
    for (int thread = 0; thread < threads; ++thread) {
      const auto& row = rows.at({TraceTrack::thread, thread});
      expect_no_gap(row);
      EXPECT_LE(row.front().start, decode_loop.front().end);
      EXPECT_GE(row.back().end, decode_loop.back().end);
    }
  }
}

TEST(TraceTest, ARowNamesWhatWasDoneSinceTheCallBefore) {
  TraceRecorder trace;
  TraceRow row(&trace, TraceTrack::chain, 3);
  const auto first = row.did("first", 7);
  EXPECT_EQ(row.did("nothing", 7, first), first) << "no time, no span";
  const auto second = row.did("second");
  const auto spans = trace.spans();
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_STREQ(spans[0].name, "first");
  EXPECT_EQ(spans[0].frame, 7);
  EXPECT_EQ(spans[0].index, 3);
  EXPECT_EQ(spans[0].end, first);
  EXPECT_EQ(spans[1].start, first);
  EXPECT_EQ(spans[1].end, second);
  TraceRow().did("told to nobody");
}

TEST(TraceTest, TracingChangesNoByte) {
  EncoderSettings settings{.coding = {.width = 48, .height = 32, .key_interval = 2}};
  const auto plain = noise_stream(settings, 5);
  TraceRecorder trace;
  settings.measurement.trace = &trace;
  EXPECT_EQ(noise_stream(settings, 5), plain);
  EXPECT_FALSE(trace.spans().empty());
}

TEST(TraceTest, DeviceSpansHaveTheirOwnProcessAndShareTheClock) {
  TraceRecorder trace;
  const auto now = TraceSpan::Clock::now();
  trace.span({"search", TraceTrack::device, 2, 5, now + microseconds(30), now + microseconds(50)});
  trace.span({"read", TraceTrack::loop, 0, 5, now, now + microseconds(20)});
  const auto json = nlohmann::json::parse(trace.chrome_json());
  std::vector<nlohmann::json> spans;
  for (const auto& event : json["traceEvents"]) {
    if (event["ph"] == "X") spans.push_back(event);
  }
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(spans[0]["name"], "read");
  EXPECT_EQ(spans[1]["name"], "search");
  EXPECT_NE(spans[0]["pid"], spans[1]["pid"]);
  EXPECT_NEAR(spans[1]["ts"].get<double>() - spans[0]["ts"].get<double>(), 30, 0.01);
  EXPECT_NEAR(spans[1]["dur"].get<double>(), 20, 0.01);
}

TEST(TraceTest, NoMoreSpansAreKeptThanWereAllowed) {
  TraceRecorder trace(3);
  EXPECT_TRUE(nlohmann::json::parse(trace.chrome_json()).at("traceEvents").is_array()) << "an empty trace is a trace, too";
  const auto now = TraceSpan::Clock::now();
  for (int i = 0; i < 10; ++i) trace.span({"read", TraceTrack::loop, 0, i, now + microseconds(i), now + microseconds(i + 1)});
  EXPECT_EQ(trace.spans().size(), 3U);
  EXPECT_EQ(trace.dropped(), 7U);
  EXPECT_EQ(nlohmann::json::parse(trace.chrome_json())["otherData"]["dropped_spans"], "7");
}

}  // namespace
}  // namespace c63::trace_test
