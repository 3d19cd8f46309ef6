// Tests c63cmp ab as a program. Tests its report in a browser.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <tuple>

#include "support/generators.h"
#include "support/shared_data.h"
#include "support/shell.h"
#include "support/temporary_folder.h"
#include "support/trace_format.h"
#include "tools/browser.h"

namespace c63::tools {
namespace {

class AbProgramTest : public testing::Test {
 protected:
  AbProgramTest() {
    const test::Bytes video = test::generate_b(64, 48, 6);
    test::write_bytes(input_, video);
  }
  test::ShellResult run(const std::string& arguments) {
    return test::shell("'" C63_BIN_DIR "/c63cmp' ab '" + input_ + "' " + arguments + " 2>&1");
  }
  nlohmann::json json() { return nlohmann::json::parse(std::ifstream(folder_.file("r.json"))); }
  std::string json_option() { return " --json '" + folder_.file("r.json") + "' "; }
  static std::uint64_t bits_of(const nlohmann::json& point) {
    const auto bits = point["frames"]["bits"].get<std::vector<std::uint64_t>>();
    return std::accumulate(bits.begin(), bits.end(), std::uint64_t{0});
  }

  test::TemporaryFolder folder_;
  std::string input_ = folder_.file("small_64x48.yuv");
};

TEST_F(AbProgramTest, ThreadsChangeNoByte) {
  test::expect_success(run("--a '--backend cpu --threads 1' --b '--backend cpu --threads 2' --repeat 2 --warmup 0 --bitexact" + json_option()));
  const auto data = json();
  EXPECT_EQ(data["points"].size(), 8U);
  for (const auto& point : data["points"]) {
    EXPECT_EQ(point["encode_s"].size(), 2U);
    EXPECT_EQ(point["frames"]["bits"].size(), 6U);
    EXPECT_EQ(bits_of(point), 8 * point["bytes"].get<std::uint64_t>());
    EXPECT_TRUE(point["reproducible"]);
  }
  for (const auto& delta : data["deltas"]) {
    if (delta["metric"] == "psnr_y" && !delta["bd_rate_percent"].is_null()) {
      EXPECT_NEAR(delta["bd_rate_percent"].get<double>(), 0, 1e-9);
    }
  }
  EXPECT_TRUE(data["speeds"][0]["low"].is_null()) << "an interval of two rounds";
  for (const auto& bytes : data["bytes"]) EXPECT_TRUE(bytes["same_settings"] && bytes["identical"]) << bytes;
}

TEST_F(AbProgramTest, EverySideIsComparedWithEveryOther) {
  test::expect_success(run("--a '--backend cpu' --b '--backend cpu --preset fast' --side 'c=--backend cpu --me full-brute' --qp 25 --repeat 3 "
                           "--warmup 0" + json_option()));
  const auto data = json();
  std::map<std::pair<int, int>, double> ratios;
  for (const auto& s : data["speeds"]) {
    EXPECT_FALSE(s["low"].is_null());
    EXPECT_LE(s["low"], s["ratio"]);
    if (s["input"].is_null()) ratios[{s["anchor"], s["configuration"]}] = s["ratio"];
  }
  EXPECT_EQ(ratios.size(), 6U);
  EXPECT_NEAR((ratios[{0, 1}] * ratios[{1, 0}]), 1, 1e-9);
  for (const auto& bytes : data["bytes"]) {
    EXPECT_EQ(bytes["same_settings"], bytes["anchor"] != 1 && bytes["configuration"] != 1);
    EXPECT_EQ(bytes["identical"], bytes["same_settings"]);
  }
}

TEST_F(AbProgramTest, DifferentBytesFailIfTheyMust) {
  const std::string sides = "--a '--backend cpu --keyint 2' --b '--backend cpu --keyint 3' --qp 25 --repeat 1 --warmup 0 ";
  EXPECT_EQ(run(sides).exit_code, 0);
  const auto strict = run(sides + "--bitexact");
  EXPECT_EQ(strict.exit_code, 3);
  EXPECT_NE(strict.output.find("C63-CMP-DIFFERENT"), std::string::npos) << strict.output;
}

TEST_F(AbProgramTest, TakesTheWholeCommandOfAnotherEncoder) {
  if (!test::have_command("ffmpeg")) GTEST_SKIP() << "no ffmpeg on the PATH";
  // FFV1 is lossless. So c63cmp must find no error if it decodes the frames correctly and compares the right pairs.
  test::expect_success(run("--a '--backend cpu' --side 'ffv1=ffmpeg -nostdin -v error -f rawvideo -pix_fmt yuv420p -s {w}x{h} -r {fps} -i {in} -c:v ffv1 -y {out}.mkv'"
                           " --side 'pipe=ffmpeg -v error -f rawvideo -pix_fmt yuv420p -s {w}x{h} -r {fps} -i - -c:v ffv1 -f matroska -'"
                           " --repeat 1 --warmup 0" + json_option()));
  const auto data = json();
  EXPECT_EQ(data["clock"], "process");
  int lossless = 0;
  for (const auto& point : data["points"]) {
    if (point["configuration"] == 0) continue;
    EXPECT_TRUE(point["psnr_all_db"].is_null()) << "not lossless: " << point["psnr_all_db"];
    EXPECT_EQ(point["ssim_y"], 1.0);
    ++lossless;
    if (!test::have_command("ffprobe")) continue;
    ASSERT_EQ(point["frames"]["bits"].size(), 6U) << point["frames"];
    EXPECT_EQ(point["frames"]["key"].size(), 6U);
    EXPECT_LT(bits_of(point), 8 * point["bytes"].get<std::uint64_t>()) << "the container takes some";
    EXPECT_GT(bits_of(point), 4 * point["bytes"].get<std::uint64_t>());
  }
  EXPECT_EQ(lossless, 2);
  EXPECT_EQ(data["deltas"][0]["why_not"], "fewer than four points");
  EXPECT_FALSE(data["configurations"][0].contains("version"));
  EXPECT_EQ(data["configurations"][1]["version"].get<std::string>().rfind("ffmpeg version ", 0), 0U);
}

TEST_F(AbProgramTest, TwoBuildsOfTheEncoderAreRaced) {
  // A side may be another c63enc with its options, or its whole command. What comes out is recognized by its bytes.
  std::filesystem::create_directory(folder_.file("old"));
  std::filesystem::create_symlink(C63_BIN_DIR "/c63enc", folder_.file("old/c63enc"));
  const std::string old = folder_.file("old/c63enc");
  test::expect_success(run("--a '--backend cpu' --side 'old=" + old + " --backend cpu' --side 'command=" + old +
                           " --backend cpu --quiet -w {w} -h {h} -q {qp} {in} {out}' --qp 20,25 --repeat 1 --warmup 0 --bitexact --keep '" +
                           folder_.file("kept") + "'" + json_option()));
  const auto data = json();
  ASSERT_EQ(data["points"].size(), 6U);
  for (const auto& point : data["points"]) {
    const auto& same = data["points"][point["quantizer"] == "20" ? 0 : 3];
    EXPECT_EQ(point["bytes"], same["bytes"]) << point;
    EXPECT_EQ(point["psnr_all_db"], same["psnr_all_db"]) << point;
    EXPECT_EQ(point["frames"]["bits"], same["frames"]["bits"]) << point;
  }
  EXPECT_EQ(test::read_bytes(folder_.file("kept/small_64x48-command-qp20.c63")), test::read_bytes(folder_.file("kept/small_64x48-a-qp20.c63")));
}

TEST_F(AbProgramTest, FramesWithoutBitsHaveAReason) {
  if (!test::have_command("ffmpeg")) GTEST_SKIP() << "no ffmpeg on the PATH";
  test::expect_success(test::shell(
      "FFMPEG=$(command -v ffmpeg) PATH=/nowhere '" C63_BIN_DIR "/c63cmp' ab '" + input_ +
      "' --side 'ffv1=\"$FFMPEG\" -nostdin -v error -f rawvideo -pix_fmt yuv420p -s {w}x{h} -r {fps} -i {in}"
      " -c:v ffv1 -y {out}.mkv' --repeat 1 --warmup 0" +
      json_option() + "2>&1"));
  const auto frames = json()["points"][0]["frames"];
  EXPECT_TRUE(frames["bits"].empty() && frames.contains("why_no_bits")) << "ffprobe is not found";
}

TEST_F(AbProgramTest, AnySideCanBeTheAnchor) {
  const std::string sides =
      "--side 'first=--backend cpu' --side 'second=--backend cpu --keyint 3' --qp 25 --repeat 1 --warmup 0 --anchor ";
  test::expect_success(run(sides + "second" + json_option()));
  EXPECT_EQ(json()["anchor"], 1);
  EXPECT_EQ(run(sides + "third").exit_code, 2);
}

TEST_F(AbProgramTest, LookingAheadAndFilteringAreStages) {
  // At a high quality, frames of this video would be mostly new, and not filtered.
  const auto result =
      run("--side 'plain=--backend cpu' --side 'best=--backend cpu --preset best' --qp 5 --repeat 1 --warmup 0" +
          json_option());
  ASSERT_EQ(result.exit_code, 0) << result.output;
  for (const char* stage : {"lookahead_ms", "filter_ms"}) {
    EXPECT_EQ(json()["points"][0]["stages"][stage], 0.0);
    EXPECT_GT(json()["points"][1]["stages"][stage].get<double>(), 0);
  }
}

TEST_F(AbProgramTest, FailingSidesAreNamed) {
  const std::vector<std::tuple<std::string, int, std::string>> failures = {
      {"--a 'sh -c \"exit 9\"'", 4, "C63-AB-COMMAND"},
      {"--a 'true {out}'", 2, "C63-AB-OUTPUT"},
      {"--a '' --c63enc /nowhere/c63enc", 2, "C63-AB-ENCODER"},
      {"--a '' --c63enc /bin/true", 2, "C63-AB-ENCODER"},
      {"", 2, "C63-USAGE"},
      {"--side a=-q5 --side a=-q6", 2, "C63-USAGE"},
      {"--a '-q 99'", 2, "C63-QP-RANGE"},  // c63enc's own code
      {"--a '' --qp '5;touch " + folder_.file("hacked") + "'", 2, "C63-"}};
  for (const auto& [arguments, exit_code, id] : failures) {
    const auto result = run(arguments);
    EXPECT_EQ(result.exit_code, exit_code) << arguments << ": " << result.output;
    EXPECT_NE(result.output.find(id), std::string::npos) << arguments << ": " << result.output;
  }
  EXPECT_FALSE(std::filesystem::exists(folder_.file("hacked")));
}

TEST_F(AbProgramTest, OutputErrorsAreReportedBeforeTheFirstRun) {
  const std::string sides = "--a '--backend cpu' --qp 25 --repeat 1 --warmup 0 ";
  for (const std::string option : {"--html", "--csv", "--json"}) {
    const auto result = run(sides + option + " '" + folder_.file("none/out") + "'");
    if (result.output.find("C63-NO-CHARTS") != std::string::npos) continue;
    EXPECT_EQ(result.exit_code, 6) << result.output;
    EXPECT_EQ(result.output.find("fps"), std::string::npos) << "it ran first: " << result.output;
  }
  EXPECT_EQ(run(sides + "--keep '" + input_ + "'").exit_code, 6);
  EXPECT_EQ(test::shell("TMPDIR=/nowhere '" C63_BIN_DIR "/c63cmp' ab '" + input_ + "' " + sides + "2>&1").exit_code, 6);
}

// The input has full range, which the report says of each side.
TEST_F(AbProgramTest, LongStreamsBeginAtACommonKeyFrameInTheReport) {
  std::uint32_t state = 1;
  std::string noise = "YUV4MPEG2 W320 H240 F25:1 C420jpeg XCOLORRANGE=FULL\n";
  for (int frame = 0; frame < 14; ++frame) {
    noise += "FRAME\n";
    for (int i = 0; i < 320 * 240 * 3 / 2; ++i) noise += static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  }
  input_ = folder_.file("noise.y4m");
  test::write_bytes(input_, test::Bytes(noise.begin(), noise.end()));
  const auto made = run("--a '--backend cpu --keyint 2' --b '--backend cpu --keyint 4' --qp 5 --repeat 1 --warmup 0 --max-memory 8MiB --html '" +
                        folder_.file("r.html") + "'" + json_option());
  if (made.output.find("C63-NO-CHARTS") != std::string::npos) GTEST_SKIP() << "built without Chart.js";
  ASSERT_EQ(made.exit_code, 0) << made.output;
  const auto bytes = test::read_bytes(folder_.file("r.html"));
  const std::string page(bytes.begin(), bytes.end()), start = "\"frame\":10,\"first\":8,\"full_range\":true,\"stream\":\"";  // keys of both: 0, 4, 8, 12
  std::size_t at = 0;
  for (const auto& point : json()["points"]) {
    at = page.find(start, at);
    ASSERT_NE(at, std::string::npos);
    at += start.size();
    const auto bits = point["frames"]["bits"].get<std::vector<std::uint64_t>>();
    const std::uint64_t size = std::accumulate(bits.begin() + 8, bits.end(), std::uint64_t{0}) / 8;  // frames 8 to 13 fit
    EXPECT_EQ(page.find('"', at) - at, (size + 2) / 3 * 4);
  }
}

TEST_F(AbProgramTest, ProgressCountsFramesOfEveryRound) {
  const auto result = test::expect_success(run("--a '--backend cpu' --b '--backend cpu' --qp 20,25 --repeat 2 --warmup 1 --progress json --log-level off"));
  const auto line = result.output.rfind("{\"event\"");  // with slow programs, more than the last event may be left
  ASSERT_NE(line, std::string::npos) << result.output;
  const auto json = nlohmann::json::parse(result.output.substr(line, result.output.find('\n', line) - line));
  EXPECT_EQ(json["event"], "progress");
  EXPECT_EQ(json["frames"], 2 * 2 * 3 * 6);
  EXPECT_EQ(json["total_frames"], 2 * 2 * 3 * 6);
}

TEST_F(AbProgramTest, StreamsAndTracesAreKept) {
  test::expect_success(run("--side 'a/b=--backend cpu --trace \"" + folder_.file("trace-{qp}.json") +
                           "\"' --qp 20,25 --repeat 1 --warmup 0 --keep '" + folder_.file("kept") + "'"));
  for (const std::string qp : {"20", "25"}) {
    EXPECT_FALSE(test::read_bytes(folder_.file("kept/small_64x48-a_b-qp" + qp + ".c63")).empty());
    const auto trace = test::read_bytes(folder_.file("trace-" + qp + ".json"));
    EXPECT_EQ(test::check_trace({trace.begin(), trace.end()})["code"].size(), 6U);
  }
}

/// A script that clicks through the report as a person would. It writes what it found into the page's title.
constexpr const char* kClicks = R"js(
window.addEventListener("load", async () => {
  const failures = [];
  const check = (what, good) => { if (!good) failures.push(what); };
  const $ = (id) => document.getElementById(id);
  const change = (id, value) => { $(id).value = value; $(id).dispatchEvent(new Event("change")); };
  const chart = (id) => Chart.getChart($(id));
  const painted = (id) => { const c = $(id); return c.getContext("2d").getImageData(0, 0, c.width, c.height).data.some((v) => v !== 0); };
  try {
    for (const id of ["rd", "speed", "tradeoff", "stages", "bits", "psnr"]) {
      check(id + " has data", chart(id).data.datasets.length >= 2 || (id === "stages" && chart(id).data.datasets.length > 0));
      check(id + " is painted", painted(id));
    }
    check("four points a side", chart("rd").data.datasets.every((d) => d.data.length === 4));
    check("speed against size", chart("speed").data.datasets.every((d) => d.data.every((p) => p.x === p.point.bitrate_kb_per_s)));
    check("frames", chart("bits").data.datasets[0].data.length === 6);
    const before = chart("rd").data.datasets[0].data[0].y;
    change("metric", "ssim_y");
    check("metric", chart("rd").data.datasets[0].data[0].y !== before && chart("rd").data.datasets[0].data[0].y <= 1);
    $("log-rate").click();
    check("linear rate", chart("rd").options.scales.x.type !== "logarithmic");
    const first = chart("bits").data.datasets[0].label;
    const stage = chart("stages").data.labels[0];
    change("quantizer", "0");
    check("quantizer", chart("bits").data.datasets[0].label !== first && chart("stages").data.labels[0] !== stage);
    check("stages of every side", chart("stages").data.labels.length === 2);
    const theme = document.documentElement.dataset.theme;
    const page = getComputedStyle(document.body).backgroundColor;
    $("theme").click();
    check("theme", document.documentElement.dataset.theme !== theme && getComputedStyle(document.body).backgroundColor !== page);
    const rows = () => [...$("table").tBodies[0].rows];
    check("rows", rows().length === 8);
    const bytes = [...$("table").tHead.rows[0].cells].find((c) => c.textContent === "bytes");
    const column = () => rows().map((r) => Number(r.cells[bytes.cellIndex].textContent));
    bytes.click();
    check("ascending", column().every((v, i, a) => !i || a[i - 1] <= v) && bytes.getAttribute("aria-sort") === "ascending");
    bytes.click();
    check("descending", column().every((v, i, a) => !i || a[i - 1] >= v) && bytes.getAttribute("aria-sort") === "descending");
    // the random name of the folder does not appear
    $("filter").value = "second qp"; $("filter").dispatchEvent(new Event("input"));
    check("filter", rows().length === 4);
    check("verdicts", $("verdicts").children.length === 1 && $("verdicts").querySelectorAll(".figure").length === 2);
    const figures = () => [...$("verdicts").querySelectorAll("h3, .figure")].map((n) => n.textContent);
    const [title, ratio] = figures();
    check("no bytes of other settings", !$("verdicts").textContent.includes("bytes"));
    check("no interval of two rounds", $("verdicts").textContent.includes("fewer than three rounds"));
    change("anchor", "1");
    check("another anchor", figures()[0] === "first against second" && title === "second against first" && Math.abs(parseFloat(figures()[1]) * parseFloat(ratio) - 1) < 0.01);
    check("comparison follows", $("comparison").tBodies[0].rows.length === 1 && $("comparison").tBodies[0].textContent.includes("first against second"));
    check("hostile names stay text", !window.injected && $("facts").textContent.includes("<script>"));
    if (@FRAMES@) {
      const inside = (script) => $("frames").contentWindow.eval(script);
      const until = async (script) => { for (let i = 0; i < 500 && !inside(script); ++i) await new Promise((done) => setTimeout(done, 10)); check(script, inside(script)); };
      await until("typeof streams === 'object' && frames.length === 2");
      const names = [...$("left").options].map((o) => o.value);
      check("sides", names.length === 3 && names[2] === "the input" && $("right").value === names[1]);
      check("PSNR and bits of the frame", /^Left: first qp \d+, frame 5: PSNR Y [\d.]+ dB, [\d,]+ bits$/.test($("left-figures").textContent) && $("right-figures").textContent.startsWith("Right: second"));
      check("streams in step", inside("state.frame === 5 && streams.every((s) => s.count === 6) && frames[0].blocks !== undefined"));
      await inside("$('show').value = kAgainst; update()");
      const shown = () => inside("[...images[0].getContext('2d').getImageData(0, 0, 64, 48).data].filter((v, i) => i % 4 !== 3)");
      check("sides differ", shown().some((v) => v !== 128));
      change("right", $("left").value);
      await until("streams[0].name === streams[1].name && frames.length === 2");
      await inside("update()");
      check("no difference from itself", shown().every((v) => v === 128));
      inside("streams = []");
      for (const side of ["left", "right"]) change(side, "the input");
      await until("streams.length === 2 && streams[0].name.startsWith('the input') && frames.length === 2");
      check("a picture", inside("images[0].width === 64 && $('heat').options.length === 2"));
    }
    const saved = [];
    window.Blob = class extends Blob { constructor(parts, type) { super(parts, type); saved.push(parts.join("")); } };
    HTMLAnchorElement.prototype.click = () => {};
    $("save-csv").click(); $("save-json").click();
    const [csv, json] = saved;
    check("csv", csv.trim().split("\n").length === 9 && csv.startsWith("input,"));
    check("json", JSON.parse(json).points.length === 8);
    check("no network", performance.getEntriesByType("resource").every((e) => e.name.startsWith("data:") || e.name.startsWith("blob:")));
    document.title = failures.length ? "FAILED: " + failures.join("; ") : "ALL GOOD";
  } catch (e) {
    document.title = "FAILED: " + failures.join("; ") + "; " + e.stack;
  }
});
)js";

TEST_F(AbProgramTest, ReportWorksInABrowser) {
  const std::string report = folder_.file("report.html");
  const auto made = run("--side 'first=--backend cpu --threads 1' "
                        "--side 'second=--backend cpu --keyint 3 --log-file \"/dev/null\"' --repeat 2 --warmup 0 "
                        "--c63enc '" C63_BIN_DIR "/c63enc' --html '" + report + "'");
  if (made.output.find("C63-NO-CHARTS") != std::string::npos) GTEST_SKIP() << "built without Chart.js";
  ASSERT_EQ(made.exit_code, 0) << made.output;
  const auto bytes = test::read_bytes(report);
  std::string page(bytes.begin(), bytes.end());
  EXPECT_NE(page.find("Expat"), std::string::npos) << "the licence of Chart.js";
  EXPECT_EQ(page.find("\"full_range\":true"), std::string::npos);
  const std::string browser = test::find_browser();
  if (browser.empty()) GTEST_SKIP() << "no Chromium on the PATH (package chromium): the report was made but not clicked through";

  // A file name that contains a script. It would run if the page inserted the name as HTML instead of as text.
  const std::string hostile = "\\u003cscript>window.injected=1\\u003c/script>";
  for (auto at = page.find("small_64x48.yuv"); at != std::string::npos; at = page.find("small_64x48.yuv", at + hostile.size())) {
    page.replace(at, 15, hostile);
  }
  std::string clicks = kClicks;
  clicks.replace(clicks.find("@FRAMES@"), 8, page.find("\"stream\":") != std::string::npos ? "true" : "false");
  std::ofstream(report) << page;
  EXPECT_EQ(test::title_after_script(browser, folder_, report, clicks), "ALL GOOD");
}

}  // namespace
}  // namespace c63::tools
