#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace c63::test {

/// Expects that a trace follows the Trace Event Format (JSON object form). Every event needs a phase, a name, a process
/// and a thread. Metadata must come before the spans that they name. Times must be in microseconds and not negative.
/// The spans of a thread must be in order, and must not partly overlap. Returns the numbers of the frames that spans
/// have, by the spans' name.
inline std::map<std::string, std::multiset<std::int64_t>> check_trace(const std::string& text) {
  std::map<std::string, std::multiset<std::int64_t>> frames;
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object() || !json.contains("traceEvents") || !json["traceEvents"].is_array()) {
    ADD_FAILURE() << "no JSON object with traceEvents";
    return frames;
  }
  if (json.contains("displayTimeUnit")) {
    EXPECT_TRUE(json["displayTimeUnit"] == "ms" || json["displayTimeUnit"] == "ns");
  }
  std::set<std::pair<int, int>> named;
  std::map<std::pair<int, int>, std::vector<double>> open;  // by thread: ends of the spans that are still open
  std::map<std::pair<int, int>, double> last;
  for (const auto& event : json["traceEvents"]) {
    SCOPED_TRACE(event.dump());
    const std::string phase = event.at("ph");
    const std::pair thread(event.at("pid").get<int>(), event.at("tid").get<int>());
    EXPECT_TRUE(event.at("name").is_string());
    if (event.contains("args")) {
      EXPECT_TRUE(event["args"].is_object());
    }
    if (phase == "M") {
      const std::string what = event["name"];
      if (what == "thread_name" || what == "process_name") {
        EXPECT_TRUE(event.at("args").at("name").is_string());
      }
      if (what == "thread_name") named.insert(thread);
      continue;
    }
    EXPECT_EQ(phase, "X") << "nothing but metadata and complete events is written";
    EXPECT_TRUE(event.at("cat").is_string());
    EXPECT_TRUE(named.contains(thread)) << "a span before its thread has a name";
    const double start = event.at("ts");
    const double end = start + event.at("dur").get<double>();
    EXPECT_GE(start, last[thread]);
    EXPECT_GE(end, start);
    last[thread] = start;
    constexpr double kDigits = 2e-3;  // times are written in thousandths
    auto& ends = open[thread];
    while (!ends.empty() && ends.back() <= start + kDigits) ends.pop_back();
    if (!ends.empty()) {
      EXPECT_LE(end, ends.back() + kDigits) << "spans of one thread cross";
    }
    ends.push_back(end);
    if (event.contains("args")) frames[event["name"]].insert(event["args"].at("frame").get<std::int64_t>());
  }
  return frames;
}

}  // namespace c63::test
