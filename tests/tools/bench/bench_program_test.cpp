// Tests c63bench as a program: whether it writes its figures in the one form that all its parts share. Whether the figures are
// good is not tested.

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "tools/browser.h"
#include "support/shared_data.h"
#include "support/shell.h"
#include "support/temporary_folder.h"

namespace c63::tools {
namespace {

using Json = nlohmann::json;

test::ShellResult bench(const std::string& arguments) { return test::shell("'" C63_BIN_DIR "/c63bench' " + arguments + " 2>&1"); }

/// Runs a subcommand of c63bench and returns the JSON that it writes.
Json figures_of(const std::string& arguments) {
  const test::TemporaryFolder folder;
  const std::string file = folder.file("figures.json");
  test::expect_success(bench(arguments + " --json '" + file + "'"));
  const auto bytes = test::read_bytes(file);
  return Json::parse(bytes.begin(), bytes.end());
}

std::set<std::string> values_of(const Json& figures, const std::vector<const char*>& keys) {
  std::set<std::string> values;
  for (const auto& row : figures.at("results")) {
    std::string value;
    for (const char* key : keys) value += (value.empty() ? "" : " ") + (row.at(key).is_string() ? row.at(key).get<std::string>() : row.at(key).dump());
    values.insert(value);
  }
  return values;
}

TEST(BenchProgram, AllPartsWriteOneForm) {
  C63_NEEDS_SHARED("golden/static_152x100.c63");
  const std::string stream = test::shared_path("golden/static_152x100.c63").string();
  struct Part {
    const char* name;
    std::string arguments;
    std::vector<const char*> keys;
    std::set<std::string> values;
    const char* measured;
  };
  const std::vector<Part> parts = {
      {"cpu", "--rounds 1 --only 'sad scalar',entropy -w 64 -h 48", {"kernel"},
       {"clock", "code by code", "entropy decode", "entropy encode", "sad"}, "us"},
      {"decode", "'" + stream + "' --repeats 1 --thread-counts 1,3", {"output", "threads"}, {"copies 1", "copies 3", "views 1", "views 3"},
       "frames_per_s"},
      {"filter", "--no-cuda --threads 1 --mb 1 --repeats 1 --only 'u8 video'", {"utility", "variant"},
       {"copy (read + write) ", "histogram, u8 video fast", "histogram, u8 video serial"}, "ms"},
      {"scan", "--no-cuda --threads 1 --mb 1 --repeats 1 --only maximum", {"utility", "variant"},
       {"copy (read + write) ", "maximum, float fast", "maximum, float serial"}, "ms"},
      {"estimate", "--size 96x64 --frames 3 --repeats 1 --only ffmpeg,nvidia --python /no/python", {"clip"}, {"objects", "pan", "zoom"},
       "frames_per_s"},
  };
  for (const Part& part : parts) {
    SCOPED_TRACE(part.name);
    const Json figures = figures_of(part.name + (" " + part.arguments));
    EXPECT_EQ(figures.at("bench").get<std::string>(), part.name);
    EXPECT_FALSE(figures.at("revision").get<std::string>().empty());
    std::set<std::string> values = values_of(figures, part.keys);
    if (std::string(part.name) == "cpu") std::erase_if(values, [](const std::string& v) { return v.starts_with("load") || v.find(" + ") != std::string::npos; });
    EXPECT_EQ(values, part.values);
    for (const auto& row : figures.at("results")) EXPECT_GT(row.at(part.measured).at("median").get<double>(), 0) << row;
    if (std::string(part.name) != "estimate") continue;
    EXPECT_TRUE(figures.at("not_measured").contains("ffmpeg"));
    for (const auto& row : figures.at("results")) {
      const bool is_plain = row.at("estimator") == "c63, CPU";
      EXPECT_TRUE(!is_plain || row.at("sad_of_exact") == 1.0) << row;
      const bool is_pan = row.at("clip") == "pan" && row.at("estimator") == "c63, smooth, CPU";
      EXPECT_TRUE(!is_pan || row.at("mean_error_samples").get<double>() < 0.02) << row;
    }
    EXPECT_GT(figures.at("results").at(0).at("share_within_half_a_sample").get<double>(), 0.7) << "a pan by whole samples";
  }
}

TEST(BenchProgram, SharesOfCeilingsAreTold) {
  const Json cpu = figures_of("cpu --rounds 1 --only '' -w 64 -h 48");
  EXPECT_GT(cpu.at("clock_ghz").get<double>(), 0);
  EXPECT_LT(cpu.at("clock_ghz").get<double>(), 8) << "several additions in one clock";
  for (const auto& row : cpu.at("results")) {
    if (row.value("share_of_ceiling", 0.0) > 1) {
      EXPECT_FALSE(row.value("note", "").empty()) << row;
    }
  }
}

TEST(BenchProgram, ExitCodes) {
  EXPECT_EQ(bench("--version").exit_code, 0);
  EXPECT_EQ(bench("").exit_code, 2);
  EXPECT_EQ(bench("board").exit_code, 2);
  EXPECT_EQ(bench("board /no/such/file.json").exit_code, 4);
  EXPECT_EQ(bench("decode").exit_code, 2);
  EXPECT_EQ(bench("decode /no/such/file.c63").exit_code, 4);
  EXPECT_EQ(bench("cpu --yuv /no/such/file.yuv").exit_code, 4);
  EXPECT_EQ(bench("estimate --only nothing").exit_code, 2);
  if (bench("--version").output.find("CUDA not built in") == std::string::npos) return;
  for (const char* options : {"me --frames 3 more", "encode", "decide"}) EXPECT_EQ(bench(options).exit_code, 8) << options;
}

TEST(BenchProgram, PeersSayTheirVersion) {
  const Json figures = figures_of("filter --no-cpu --cuda --mb 1 --repeats 1 --only 'u8 random'");
  if (figures.at("results").empty()) GTEST_SKIP() << "no GPU can be used";
  for (const auto& row : figures.at("results")) EXPECT_EQ(row.contains("peer"), row.at("variant") == "cub") << row;
}

TEST(BenchProgram, AllMotionKernelsOfAGpuFindTheSame) {
  const test::TemporaryFolder folder;
  const std::string file = folder.file("me.json");
  const auto result = bench("me --sizes 96x80 --range 7 --jobs 1,3 --frames 3 --repeats 1 --verify --json '" + file + "'");
  if (result.exit_code == 8) GTEST_SKIP() << "no GPU can be used";
  ASSERT_EQ(result.exit_code, 0) << result.output;
  const std::set<std::string> kernels = values_of(Json::parse(std::ifstream(file)), {"kernel"});
  for (const char* kernel : {"textbook", "shared-window", "packed", "registers", "ahead", "sums", "fast", "eliminate"}) {
    EXPECT_TRUE(kernels.contains(kernel)) << kernel;
  }
}

class Board : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.file(name)) << text;
    return "'" + folder_.file(name) + "' ";
  }
  std::string result(const std::string& name, const std::string& kernel, const std::string& verdict, double us) const {
    Json rows = {{{"kernel", "textbook"}, {"size", "352x288"}, {"content", "natural"}, {"jobs", 1}, {"us", {{"median", 38}}}, {"share_of_ceiling", 0.04}}};
    rows.push_back({{"kernel", "packed"}, {"size", "352x288"}, {"not_measured", "does not fit"}});
    if (us > 0) {
      rows.push_back(rows[0]);
      rows.back().update({{"kernel", kernel}, {"us", {{"median", us}}}});
    }
    const Json entrant = {{"name", kernel}, {"verdict", verdict}, {"first", "block (1, 2): <wrong>\x1b[31m</script>"}};
    return write(name, Json{{"bench", "me"}, {"device", "Some GPU"}, {"entrants", {entrant}}, {"results", rows}}.dump());
  }
  std::string three() const {
    return result("anna.json", "anna.cu", "right", 9.5) + result("ben.json", "ben.cu", "right", 6.25) + result("carl.json", "<carl>.cu", "wrong", 0);
  }

  test::TemporaryFolder folder_;
};

TEST_F(Board, HasTheFastestFirstAndBuiltInOnesOnce) {
  const std::string page = folder_.file("board.html");
  const auto text = test::expect_success(bench("board " + three() + "-o '" + page + "'"));
  std::size_t last = 0;
  for (const char* kernel : {"ben.cu", "anna.cu", "textbook", "<carl>.cu"}) {
    const std::size_t place = text.output.find(kernel);
    ASSERT_NE(place, std::string::npos) << text.output;
    EXPECT_GT(place, last) << kernel << ": " << text.output;
    EXPECT_EQ(text.output.find(kernel, place + 1), std::string::npos) << "once: " << text.output;
    last = place;
  }
  EXPECT_EQ(text.output.find('\x1b'), std::string::npos) << "texts of others do not control the terminal";
  const auto html = test::read_bytes(page);
  const std::string_view shown(reinterpret_cast<const char*>(html.data()), html.size());
  EXPECT_EQ(shown.find("<carl>"), std::string_view::npos) << "texts of others are not code of the page";
  EXPECT_EQ(shown.find("http"), std::string_view::npos) << "the page needs no network";
}

TEST_F(Board, RefusesFilesOfAnotherForm) {
  const std::string row = R"({"kernel":"a","us":{"median":1}})";
  for (const std::string& text : {std::string("{}"), std::string("[]"), std::string("no JSON"), std::string(R"({"results":[{}]})"),
                                  std::string(R"({"results":[{"kernel":"a"}]})"), std::string(R"({"results":[{"kernel":3,"us":{"median":1}}]})"),
                                  std::string(R"({"results":[{"kernel":"a","us":{"median":"fast"}}]})"), std::string(R"({"results":[{"kernel":"a","us":7}]})"),
                                  std::string(R"({"device":[],"results":[]})"), R"({"entrants":[{}],"results":[)" + row + "]}",
                                  R"({"entrants":[{"name":"a","verdict":"\" onclick=\"x"}],"results":[)" + row + "]}",
                                  R"({"entrants":7,"results":[)" + row + "]}",
                                  R"({"entrants":)" + std::string(200'000, '[') + std::string(200'000, ']') + R"(,"results":[)" + row + "]}"}) {
    const auto refused = bench("board " + write("other.json", text));
    EXPECT_EQ(refused.exit_code, 4) << text.substr(0, 100);
    EXPECT_NE(refused.output.find("[C63-BENCH-FIGURES]"), std::string::npos) << refused.output.substr(0, 300);
  }
}

/// Looks at the page in light and in dark mode.
constexpr const char* kLooks = R"js(
addEventListener("load", () => {
  try {
    const papers = [1, 2].map(() => {
      document.getElementById("theme").click();
      return getComputedStyle(document.body).backgroundColor;
    });
    const bars = [...document.querySelectorAll(".bar")].map((bar) => bar.getBoundingClientRect().width);
    const good = {
      "light and dark": papers[0] !== papers[1],
      "nothing is wider than the window": document.documentElement.scrollWidth <= innerWidth,
      "rows": document.querySelectorAll("tbody tr").length === 4 && bars.length === 3,
      "the fastest first, with the shortest bar": bars.every((width, i) => width > 0 && (!i || width >= bars[i - 1])),
      "own ones are marked": document.querySelectorAll("tr.right").length === 2 && document.querySelectorAll("tr.wrong").length === 1,
    };
    const failures = Object.keys(good).filter((what) => !good[what]);
    document.title = failures.length ? "FAILED: " + failures.join("; ") : "ALL GOOD";
  } catch (e) { document.title = "FAILED: " + e.stack; }
});
)js";

TEST_F(Board, PageHasTheLadder) {
  const std::string browser = test::find_browser();
  if (browser.empty()) GTEST_SKIP() << "no Chromium on the PATH (package chromium): the page is not clicked through";
  const std::string page = folder_.file("board.html");
  ASSERT_EQ(bench("board " + three() + "-o '" + page + "'").exit_code, 0);
  EXPECT_EQ(test::title_after_script(browser, folder_, page, kLooks), "ALL GOOD");
}

}  // namespace
}  // namespace c63::tools
