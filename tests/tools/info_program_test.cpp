// Tests what c63info prints: for streams of every preset, for damaged streams, and as JSON.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools_test_support.h"

namespace c63::test {
namespace {

class InfoProgram : public ToolsTest {
 protected:
  void SetUp() override {
    ASSERT_EQ(run({kGen, "--quiet", "-w", "64", "-h", "48", "-f", "10", "-o", path("in.y4m")}).exit_code, 0);
  }

  std::string encoded(std::vector<std::string> options) const {
    options.insert(options.begin(), {kEnc, "--quiet", "--backend", "cpu", "--keyint", "4"});
    options.insert(options.end(), {path("in.y4m"), path("s.c63")});
    EXPECT_EQ(run(options).exit_code, 0);
    return path("s.c63");
  }
  [[nodiscard]] static nlohmann::json info(std::vector<std::string> options) {
    options.insert(options.begin(), {kInfo, "--json", "-"});
    return nlohmann::json::parse(run(options).out);
  }
};

TEST_F(InfoProgram, CountsFramesGopsAndBits) {
  const std::string stream = encoded({"--json", path("e.json")});
  const auto of_encoder = nlohmann::json::parse(read_file(path("e.json")));
  const auto json = info({stream});
  EXPECT_EQ(json["width_pixels"], 64);
  EXPECT_EQ(json["height_pixels"], 48);
  EXPECT_EQ(json["frames"], 10);
  EXPECT_EQ(json["bytes"], std::filesystem::file_size(stream));
  ASSERT_EQ(json["gops"].size(), 3U);
  EXPECT_EQ(json["gops"][2]["first_frame"], 8);
  EXPECT_EQ(json["gops"][2]["frames"], 2);
  EXPECT_EQ(json["gop_frames"]["largest"], 4);
  EXPECT_EQ(json["kinds"]["key"]["frames"], 3);
  EXPECT_EQ(json["kinds"]["inter"]["frames"], 7);
  EXPECT_EQ(json["kinds"]["key"]["bytes"].get<std::uint64_t>() + json["kinds"]["inter"]["bytes"].get<std::uint64_t>(),
            json["bytes"]);
  std::uint64_t bits = 0;
  for (const auto& [kind, count] : json["bits_by_kind"].items()) bits += count.get<std::uint64_t>();
  EXPECT_EQ(bits, 8 * json["bytes"].get<std::uint64_t>());
  // c63info counts the bits of vectors and of their flags separately. The encoder reports their sum.
  EXPECT_EQ(
      json["bits_by_kind"]["vector_bits"].get<std::uint64_t>() + json["bits_by_kind"]["flag_bits"].get<std::uint64_t>(),
      of_encoder["bits"]["motion_bits"].get<std::uint64_t>());
  EXPECT_EQ(json["blocks"]["with_vector"], json["blocks"]["of_inter_frames"]);
  EXPECT_TRUE(json["complete"]);
  EXPECT_TRUE(json["rate_numerator"].is_null());

  const auto quick = info({"--quick", stream});
  EXPECT_TRUE(quick["bits_by_kind"].is_null());
  EXPECT_EQ(quick["kinds"], json["kinds"]);
  EXPECT_EQ(quick["gops"], json["gops"]);
}

TEST_F(InfoProgram, KnowsWhatPresetsWrite) {
  const auto presets = [&](std::vector<std::string> options) { return info({encoded(std::move(options))})["presets"]; };
  EXPECT_EQ(presets({}), nlohmann::json({"reference"}));
  EXPECT_EQ(presets({"--preset", "fast"}), nlohmann::json({"fast", "good", "best"}));
  for (const char* preset : {"good", "best"}) {
    const auto names = presets({"--preset", preset});
    EXPECT_NE(std::ranges::find(names, preset), names.end()) << names;
  }
  EXPECT_TRUE(presets({"--preset", "fast", "--headers", "full"}).empty());
  EXPECT_TRUE(presets({"--headers", "compact"}).empty());

  const auto reference = info({encoded({"--qp", "18"})});
  EXPECT_TRUE(reference["marks"].empty());
  EXPECT_EQ(reference["tables"][0]["shape"], "course");
  EXPECT_LE(reference["tables"][0]["lowest_qp"], 18);
  EXPECT_GE(reference["tables"][0]["highest_qp"], 18);
  const auto flat = info({encoded({"--preset", "fast", "--qp", "10"})});
  EXPECT_EQ(flat["tables"][0]["shape"], "flat");
  EXPECT_EQ(flat["tables"][0]["step"], 20);
  EXPECT_LE(flat["tables"][0]["lowest_qp"], 10);
  EXPECT_GE(flat["tables"][0]["highest_qp"], 10);
  EXPECT_EQ(info({encoded({"--preset", "fast", "--qp", "2"})})["tables"][0]["lowest_qp"], 2);  // below the course tables' range

  // Preset best may give key frames finer tables, which look like those of a higher qp. No qp is reported for them.
  for (const auto& tables : info({encoded({"--preset", "best"})})["tables"]) {
    EXPECT_EQ(tables["lowest_qp"].is_null(), tables["step"] != 12) << tables;
  }
}

TEST_F(InfoProgram, ADamagedStreamIsToldUpToItsFault) {
  const std::string whole = read_file(encoded({}));
  const std::string cut = write_file("cut.c63", whole.substr(0, whole.size() - 3));
  const ProcessResult result = run({kInfo, "--quiet", "--json", path("i.json"), cut});
  expect_one_line(result, 4, "c63info", "C63-TRUNCATED");
  EXPECT_FALSE(nlohmann::json::parse(read_file(path("i.json")))["complete"]);
}

}  // namespace
}  // namespace c63::test
