// Tests c63bench as a program: whether it writes its figures in a form that can be read. Whether the figures are good
// is not tested.

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "support/browser.h"
#include "support/shared_data.h"
#include "support/shell.h"
#include "support/temporary_folder.h"

namespace c63::tools {
namespace {

test::ShellResult bench(const std::string& arguments) { return test::shell("'" C63_BIN_DIR "/c63bench' " + arguments); }

/// Runs a subcommand of c63bench and returns the JSON that it writes.
nlohmann::json figures_of(const std::string& arguments) {
  const test::TemporaryFolder folder;
  const std::string file = folder.file("figures.json");
  const auto result = bench(arguments + " --json '" + file + "' 2>&1 >/dev/null");
  EXPECT_EQ(result.exit_code, 0) << result.output;
  const auto bytes = test::read_bytes(file);
  return nlohmann::json::parse(bytes.begin(), bytes.end());
}

TEST(BenchProgram, PrintsItsVersionWithoutASubcommand) {
  const auto result = bench("--version");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output.rfind("c63bench ", 0), 0U) << result.output;
}

TEST(BenchProgram, WantsASubcommand) {
  const auto result = bench("2>&1");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.output.rfind("c63bench: no command was given: name one of cpu, stages, filter, scan, decode, estimate, page", 0), 0U) << result.output;
}

TEST(BenchProgram, BenchesThatNeedCudaSaySoWithoutIt) {
  if (bench("--version").output.find("CUDA not built in") == std::string::npos) GTEST_SKIP() << "this c63 has CUDA";
  for (const char* options : {"me --frames 3 more", "encode", "frame --quiet", "decide"}) {
    const auto result = bench(std::string(options) + " 2>&1");
    EXPECT_EQ(result.exit_code, 8) << options;
    EXPECT_EQ(result.output.rfind("c63bench: this c63 was built without CUDA [C63-NO-CUDA]", 0), 0U) << result.output;
  }
  const auto filters = bench("filter --no-cpu --cuda --only none 2>&1");
  EXPECT_NE(filters.output.find("this c63 was built without CUDA"), std::string::npos) << filters.output;
}

TEST(BenchProgram, EstimatorsThatAreMissingAreNamed) {
  const auto figures = figures_of("estimate --size 96x64 --frames 3 --repeats 1 --only ffmpeg,nvidia --python /no/python");
  EXPECT_EQ(figures.at("not_measured").size(), 2U) << figures;
  EXPECT_NE(figures.at("not_measured").at("ffmpeg").get<std::string>().find("/no/python ended with 127"), std::string::npos) << figures;
  ASSERT_EQ(figures.at("results").size(), 3U) << "c63 on the CPU, for each clip";
  for (const auto& row : figures.at("results")) EXPECT_EQ(row.at("sad_of_exact"), 1.0) << row;
  EXPECT_GT(figures.at("results").at(0).at("share_within_half_a_sample").get<double>(), 0.7) << "a pan by whole samples";
}

TEST(BenchProgram, CpuKernelsAreHeldAgainstCeilings) {
  const auto figures = figures_of("cpu --rounds 1 --only 'sad scalar' -w 64 -h 48");
  EXPECT_GT(figures.at("clock_ghz").get<double>(), 0);
  EXPECT_LT(figures.at("clock_ghz").get<double>(), 8) << "several additions in one clock";
  EXPECT_FALSE(figures.at("revision").get<std::string>().empty());
  std::set<std::string> kernels;
  for (const auto& entry : figures.at("kernels")) {
    kernels.insert(entry.at("kernel").get<std::string>() + " " + entry.at("level").get<std::string>());
    EXPECT_GT(entry.at("per_clock").at("median").get<double>(), 0) << entry;
  }
  EXPECT_TRUE(kernels.contains("sad scalar"));
  EXPECT_FALSE(kernels.contains("sums scalar")) << "only what is asked for";
}

TEST(BenchProgram, CpuColumnsHaveHeadersAndSharesAbove100PercentANote) {
  const auto text = bench("cpu --rounds 1 --only 'search full-eliminate' -w 64 -h 48 2>&1");
  ASSERT_EQ(text.exit_code, 0) << text.output;
  EXPECT_EQ(text.output.rfind("kernel ", 0), 0U) << text.output;
  for (const char* header : {"level", "us a run", "per clock", "unit", "of ceiling"}) {
    EXPECT_NE(text.output.substr(0, text.output.find('\n')).find(header), std::string::npos) << text.output;
  }
  EXPECT_NE(text.output.find(" [1]\n"), std::string::npos) << text.output;
  EXPECT_NE(text.output.find("\n[1] the differences of all candidates are counted"), std::string::npos) << text.output;
  for (const auto& entry : figures_of("cpu --rounds 1 --only '' -w 64 -h 48").at("kernels")) {
    if (entry.value("share_of_ceiling", 0.0) > 1) {
      EXPECT_FALSE(entry.value("note", "").empty()) << entry;
    }
  }
}

TEST(BenchProgram, StagesOfAPresetHaveTheirClocks) {
  const test::TemporaryFolder folder;
  const std::string video = folder.file("noise.yuv");
  {
    std::ofstream file(video, std::ios::binary);
    std::uint32_t random = 1;
    for (int i = 0; i < 3 * 64 * 48 * 3 / 2; ++i) file.put(static_cast<char>((random = random * 1664525 + 1013904223) >> 27));
  }
  const auto figures = figures_of("stages --yuv '" + video + "' -w 64 -h 48 --frames 3 --preset fast --qp 25 --repeats 1");
  ASSERT_EQ(figures.at("presets").size(), 1U);
  EXPECT_EQ(figures.at("presets").at(0).at("preset"), "fast");
  std::set<std::string> stages;
  for (const auto& entry : figures.at("presets").at(0).at("stages")) {
    stages.insert(entry.at("stage").get<std::string>());
    if (entry.at("stage") == "beam") {  // there is one entry for single blocks, and one for eight at once
      const double calls = entry.at("calls_per_block").get<double>();
      EXPECT_TRUE(calls == 1 || calls == 0.125) << entry;
    }
    if (entry.at("stage") == "transform" || entry.at("stage") == "all") {
      EXPECT_GT(entry.at("clocks_per_block").at("median").get<double>(), 0) << entry;
    }
  }
  EXPECT_TRUE(stages.contains("levels"));
  EXPECT_TRUE(stages.contains("beam"));
  EXPECT_TRUE(stages.contains("all"));
  const auto missing = bench("stages --yuv '" + video + "' -w 64 -h 48 --frames 4 2>&1");
  EXPECT_NE(missing.output.find("C63-BENCH-VIDEO"), std::string::npos) << missing.output;
}

/// A script that clicks through the page of motion kernels in a wide window.
constexpr const char* kClicks = R"js(
addEventListener("load", () => {
  const failures = [];
  const check = (what, good) => { if (!good) failures.push(what); };
  const $ = (id) => document.getElementById(id);
  try {
    const bars = () => [...document.querySelectorAll("#ladder rect")];
    const rows = () => [...$("table").tBodies[0].rows];
    check("the course's size and frames a launch first", $("size").value === "352x288" && $("jobs").value === "8");
    check("CPU and GPU", document.querySelectorAll("#ladder .cpu").length >= 4 && document.querySelectorAll("#ladder .gpu").length >= 8);
    check("slowest first", rows().every((r, i, a) => !i || parseFloat(a[i - 1].cells[5].textContent.replace(/,/g, "")) <= parseFloat(r.cells[5].textContent.replace(/,/g, ""))));
    check("a point for each bar", document.querySelectorAll("#roofline circle, #roofline rect").length === bars().length && rows().length === bars().length);
    check("roofs", document.querySelector("#roof").points.numberOfItems > 3 && $("roofline").textContent.includes("VABSDIFF4") && $("roofline").textContent.includes("copy"));
    bars()[0].dispatchEvent(new PointerEvent("pointermove", { clientX: 200, clientY: 200 }));
    check("hover", !$("tip").hidden && /frames\/s/.test($("tip").textContent) && /% of the ceiling|absolute differences/.test($("tip").textContent));
    bars()[0].dispatchEvent(new PointerEvent("pointerleave"));
    check("and away", $("tip").hidden);
    const before = $("ladder").textContent;
    $("size").value = "1920x1080"; $("size").dispatchEvent(new Event("change"));
    check("another size", $("ladder").textContent !== before && !document.querySelector("#ladder .cpu"));
    const light = getComputedStyle(document.body).backgroundColor;
    $("theme").click();
    check("light and dark", getComputedStyle(document.body).backgroundColor !== light);
    check("nothing is wider than the window", document.documentElement.scrollWidth <= innerWidth);
    document.title = failures.length ? "FAILED: " + failures.join("; ") : "ALL GOOD";
  } catch (e) {
    document.title = "FAILED: " + failures.join("; ") + "; " + e.stack;
  }
});
)js";

/// A script that shows the same page as wide as a phone. All text must be inside, and large enough to read.
constexpr const char* kPhone = R"js(
addEventListener("load", () => {
  if (window !== top) return;
  const frame = document.createElement("iframe");
  frame.width = 360;
  frame.height = 740;
  frame.style.border = "0";
  frame.srcdoc = document.documentElement.outerHTML;
  frame.addEventListener("load", () => {
    const failures = [], page = frame.contentDocument;
    const check = (what, good) => { if (!good && !failures.includes(what)) failures.push(what); };
    check("a width of its own: " + frame.contentWindow.innerWidth, frame.contentWindow.innerWidth === 360);
    check("a viewport", !!page.querySelector("meta[name=viewport]"));
    check("drawn", page.querySelectorAll("#ladder rect").length > 10 && page.querySelectorAll("#roofline text").length > 10);
    check("nothing is wider than the phone: " + page.documentElement.scrollWidth, page.documentElement.scrollWidth <= 360);
    const overlap = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    const boxes = [...page.querySelectorAll("#ladder text")].map((text) => text.getBoundingClientRect());
    check("text over text", !boxes.some((a, i) => boxes.some((b, k) => k > i && overlap({ left: a.left, right: a.right, top: a.top + 4, bottom: a.bottom - 4 }, b))));
    for (const text of page.querySelectorAll("svg text")) {
      const sheet = text.ownerSVGElement.getBoundingClientRect();
      const box = text.getBoundingClientRect(), size = parseFloat(frame.contentWindow.getComputedStyle(text).fontSize) * text.getScreenCTM().a;
      check("text of " + size.toFixed(1) + " px", size >= 12.5);
      check("cut: " + text.textContent, box.left >= sheet.left - 1 && box.right <= sheet.right + 1);
    }
    const scroll = page.querySelector(".scroll");
    check("the table scrolls by itself", scroll.scrollWidth > scroll.clientWidth && page.defaultView.getComputedStyle(scroll).overflowX === "auto");
    document.title = failures.length ? "FAILED: " + failures.join("; ") : "ALL GOOD";
  });
  document.body.append(frame);
});
)js";

TEST(BenchProgram, PageOfTheLadder) {
  const test::TemporaryFolder folder;
  const std::string page = folder.file("ladder.html");
  const std::string results = C63_SOURCE_DIR "/docs/results/";
  const auto made = bench("page '" + results + "gpu-h200.json' --cpu '" + results + "cpu-amd-epyc-zen4.json' -o '" + page + "' 2>&1");
  ASSERT_EQ(made.exit_code, 0) << made.output;
  EXPECT_LT(std::filesystem::file_size(page), 200'000U);
  const auto wrong = bench("page '" + results + "faults.json' -o '" + page + "' 2>&1");
  EXPECT_EQ(wrong.exit_code, 4);
  EXPECT_NE(wrong.output.find("C63-BENCH-FILE"), std::string::npos) << wrong.output;
  EXPECT_EQ(bench("page -o '" + page + "' 2>&1").exit_code, 2);
  const std::string browser = test::find_browser();
  if (browser.empty()) GTEST_SKIP() << "no Chromium on the PATH (package chromium): the page is not clicked through";
  const std::string phone = folder.file("phone.html");
  std::filesystem::copy_file(page, phone);
  EXPECT_EQ(test::title_after_script(browser, folder, page, kClicks), "ALL GOOD");
  EXPECT_EQ(test::title_after_script(browser, folder, phone, kPhone), "ALL GOOD");
}

TEST(BenchProgram, DecodingIsTimedByThreadsAndOutput) {
  C63_NEEDS_SHARED("golden/static_152x100.c63");
  const std::string stream = test::shared_path("golden/static_152x100.c63").string();
  const auto figures = figures_of("decode '" + stream + "' --repeats 1 --thread-counts 1,3");
  const auto& of_stream = figures.at("streams").at(0);
  EXPECT_EQ(of_stream.at("size"), "152x100");
  EXPECT_EQ(of_stream.at("frames"), 10);
  std::set<std::string> rows;
  for (const auto& row : of_stream.at("rows")) {
    rows.insert(row.at("output").get<std::string>() + row.at("threads").dump());
    EXPECT_GT(row.at("frames_per_second").at("median").get<double>(), 0) << row;
    if (row.at("threads") == 1) {
      EXPECT_EQ(row.at("efficiency"), 1.0);
    }
  }
  EXPECT_EQ(rows, (std::set<std::string>{"views1", "views3", "copies1", "copies3"}));
}

TEST(BenchProgram, FilterAndScanTimeBothForms) {
  for (const std::string name : {"filter", "scan"}) {
    const auto figures = figures_of(name + " --no-cuda --threads 1 --mb 1 --repeats 1 --only histogram,'sum, int'");
    EXPECT_EQ(figures.at("bench"), name);
    EXPECT_EQ(figures.at("threads"), 1);
    std::set<std::string> variants;
    for (const auto& row : figures.at("rows")) {
      variants.insert(row.at("variant").get<std::string>());
      EXPECT_GT(row.at("ms").at("median").get<double>(), 0) << row;
    }
    EXPECT_EQ(variants, (std::set<std::string>{"fast", "serial"}));
  }
}

TEST(BenchProgram, PeersSayTheirVersion) {
  const test::TemporaryFolder folder;
  const std::string file = folder.file("figures.json");
  const auto result = bench("filter --no-cpu --cuda --mb 1 --repeats 1 --only 'histogram, u8 random' --json '" + file + "' 2>&1");
  ASSERT_EQ(result.exit_code, 0) << result.output;
  const auto figures = nlohmann::json::parse(std::ifstream(file));
  if (figures.at("rows").empty()) GTEST_SKIP() << "no GPU can be used";
  for (const auto& row : figures.at("rows")) {
    EXPECT_EQ(row.contains("peer"), row.at("variant") == "cub") << row;
    if (row.at("variant") != "cub") continue;
    EXPECT_EQ(row.at("peer").get<std::string>().rfind("CUB ", 0), 0U) << row;
    EXPECT_EQ(row.at("note"), "(32-bit counters)");
    EXPECT_NE(result.output.find(row.at("peer").get<std::string>()), std::string::npos) << result.output;
  }
}

}  // namespace
}  // namespace c63::tools
