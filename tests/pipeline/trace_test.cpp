#include "c63/trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <thread>

#include "c63/encoder.h"

namespace c63 {
namespace {

using std::chrono::microseconds;

class NoiseSource final : public FrameSource {
 public:
  NoiseSource(int width, int height, std::int64_t frames) : format_{width, height, {}}, frames_(frames) {}
  [[nodiscard]] VideoFormat format() const override { return format_; }
  [[nodiscard]] std::optional<std::int64_t> frame_count() const override { return frames_; }
  [[nodiscard]] bool seekable() const override { return true; }
  [[nodiscard]] bool read(std::int64_t index, std::span<std::uint8_t> frame) override {
    std::minstd_rand random(static_cast<unsigned>(index) + 1);
    for (std::uint8_t& sample : frame) sample = static_cast<std::uint8_t>(random() >> 8);
    return index < frames_;
  }

 private:
  VideoFormat format_;
  std::int64_t frames_;
};

EncodeSummary encode_traced(EncoderSettings settings, std::int64_t frames, TraceRecorder& trace) {
  settings.trace = &trace;
  NoiseSource source(settings.width, settings.height, frames);
  return Encoder(settings).encode(source, [](EncodedFrame&&) {});
}

double milliseconds(TraceSpan::Clock::duration d) { return std::chrono::duration<double, std::milli>(d).count(); }

TEST(TraceTest, JsonFollowsTheTraceEventFormat) {
  TraceRecorder trace;
  encode_traced({.width = 64, .height = 48, .key_interval = 3, .threads = 2, .lanes = 2}, 7, trace);
  const auto json = nlohmann::json::parse(trace.chrome_json());
  ASSERT_TRUE(json.at("traceEvents").is_array());
  std::set<std::pair<int, int>> named;
  std::map<std::string, std::multiset<std::int64_t>> frames;
  std::map<std::pair<int, int>, std::vector<std::pair<double, double>>> rows;
  for (const auto& event : json["traceEvents"]) {
    const std::string phase = event.at("ph");
    const std::pair row(event.at("pid").get<int>(), event.at("tid").get<int>());
    ASSERT_TRUE(event.at("name").is_string());
    if (phase == "M") {
      if (event["name"] == "thread_name") named.insert(row);
      continue;
    }
    ASSERT_EQ(phase, "X");
    EXPECT_TRUE(named.contains(row)) << "a span before its row has a name";
    ASSERT_GE(event.at("ts").get<double>(), 0);
    ASSERT_GE(event.at("dur").get<double>(), 0);
    rows[row].emplace_back(event["ts"], event["dur"]);
    if (event.contains("args")) frames[event["name"]].insert(event["args"].at("frame").get<std::int64_t>());
  }
  const std::multiset<std::int64_t> all = {0, 1, 2, 3, 4, 5, 6};
  for (const std::int64_t frame : all) EXPECT_EQ(frames["read"].count(frame), 1U);  // and attempts behind the end
  for (const char* stage : {"load", "code", "measure", "entropy", "write"}) EXPECT_EQ(frames[stage], all) << stage;
  EXPECT_EQ(frames["search"], (std::multiset<std::int64_t>{1, 2, 4, 5})) << "key frames are not searched";
  for (const auto& [row, spans] : rows) {
    std::vector<double> open;  // ends of the spans around the present one
    for (const auto& [start, duration] : spans) {
      while (!open.empty() && open.back() <= start + 1e-3) open.pop_back();
      if (!open.empty()) {
        EXPECT_LE(start + duration, open.back() + 2e-3) << "spans of one row cross";
      }
      open.push_back(start + duration);
    }
  }
}

TEST(TraceTest, OneThreadDoesOneStageAfterAnother) {
  // One thread and one lane: stages cannot overlap, so together they take no longer than the run. How little of the run
  // they leave unnamed depends on what else the machine does; docs/profiling.md shows how to look at that.
  TraceRecorder trace;
  const EncodeSummary summary =
      encode_traced({.width = 176, .height = 144, .threads = 1, .lanes = 1, .simd = SimdLevel::scalar}, 12, trace);
  for (const bool of_worker : {true, false}) {
    std::vector<std::pair<TraceSpan::Clock::time_point, TraceSpan::Clock::time_point>> spans;
    double total = 0;
    for (const TraceSpan& span : trace.spans()) {
      const bool worker = span.track == TraceTrack::lane || span.track == TraceTrack::entropy;
      if (worker != of_worker || (!worker && span.track != TraceTrack::loop)) continue;
      spans.emplace_back(span.start, span.end);
      total += milliseconds(span.end - span.start);
    }
    ASSERT_FALSE(spans.empty());
    EXPECT_LE(total, summary.elapsed_ms);
    std::ranges::sort(spans);
    for (std::size_t i = 1; i < spans.size(); ++i) EXPECT_LE(spans[i - 1].second, spans[i].first) << "span " << i;
  }
}

TEST(TraceTest, TracingChangesNoByte) {
  EncoderSettings settings{.width = 48, .height = 32, .key_interval = 2};
  const auto bytes_of = [&settings] {
    NoiseSource source(settings.width, settings.height, 5);
    std::vector<std::uint8_t> stream;
    Encoder(settings).encode(source, [&](EncodedFrame&& f) { stream.insert(stream.end(), f.bytes.begin(), f.bytes.end()); });
    return stream;
  };
  const auto plain = bytes_of();
  TraceRecorder trace;
  settings.trace = &trace;
  EXPECT_EQ(bytes_of(), plain);
  EXPECT_FALSE(trace.spans().empty());
}

TEST(TraceTest, DeviceSpansHaveAProcessOfTheirOwnAndShareTheClock) {
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

TEST(TraceTest, AnEmptyTraceIsStillATrace) {
  EXPECT_TRUE(nlohmann::json::parse(TraceRecorder().chrome_json()).at("traceEvents").is_array());
}

TEST(TraceTest, ManyThreadsMayReport) {
  TraceRecorder trace;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&trace, i] {
        for (int k = 0; k < 250; ++k) const TraceScope scope(&trace, "work", TraceTrack::lane, i, k);
      });
    }
  }
  EXPECT_EQ(trace.spans().size(), 1000U);
  EXPECT_EQ(trace.dropped(), 0U);
}

}  // namespace
}  // namespace c63
