// Tests the pages that c63mv writes for streams: their size, and each of their controls in Chromium.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "motion_program_fixture.h"
#include "tools/browser.h"

namespace c63::tools {
namespace {

using MotionPageTest = MotionProgramTest;

/// A script that clicks through the page and writes the result into the page's title. @VALUES@ is replaced by the
/// blocks of frame 1 as c63mv --format csv lists them: x, y, vector, SAD, bits.
constexpr const char* kClicks = R"js(
addEventListener("load", async () => {
  try {
    const [canvas] = canvases(), values = document.querySelector(".values");
    check("range of frames", $("frame").min === "0" && $("frame").max === "4");
    check("begins with vectors", $("frame").value === "1" && $("label").textContent.startsWith("frame 1, "));
    await until("a frame is drawn", () => canvas.width > 96 && canvas.getContext("2d").getImageData(canvas.width / 2, canvas.height / 2, 1, 1).data[3] > 0);
    for (const [x, y, mx, my, sad, vectorBits, bits] of @VALUES@) {
      point(canvas, "pointermove", x + 4, y + 4, 96, 60);
      const wanted = ["block at " + x + "," + y, "vector " + mx + "," + my, "SAD " + sad, "bits " + vectorBits + " + " + bits];
      await until("values of " + wanted.join(", ") + " in " + values.textContent, () => wanted.every((w) => values.textContent.includes(w + " ")));
    }
    check("levels", /levels \d+ of 64/.test(values.textContent));
    point(canvas, "pointerleave", 0, 0, 96, 60);
    const seen = new Set([drawn(canvas)]);
    const shows = async (what) => { await until(what, () => !seen.has(drawn(canvas))); seen.add(drawn(canvas)); };
    for (const heat of [...$("heat").options].map((o) => o.value).slice(1)) {
      $("heat").value = heat; $("heat").dispatchEvent(new Event("input"));
      await shows("heat of " + heat);
      check("legend of " + heat, heat === "mode" ? $("legend").textContent.includes("copied") : / 0 to \d+/.test($("legend").textContent));
    }
    press("1"); await shows("1 takes the vectors away");
    press("1"); press("2");
    check("2 goes on to the next heat", $("heat").value === "none");
    press("+"); await shows("+ zooms"); check("zoom is told", $("zoom").value === "1.5×");
    press("0"); check("0 fits", $("zoom").value === "1×");
    press("ArrowRight"); check("right steps", $("frame").value === "2"); await shows("another frame");
    press("ArrowLeft"); press("End"); check("End", $("frame").value === "4"); press("Home"); check("Home", $("label").textContent.startsWith("frame 0 (key)"));
    press("ArrowRight", { shiftKey: true }); check("ten on stops at the end", $("frame").value === "4");
    $("number").value = 2; $("number").dispatchEvent(new Event("input"));
    check("the box of frames goes there", $("frame").value === "2" && location.hash === "#frame=2");
    location.hash = "#frame=1"; await until("the address opens a frame", () => $("frame").value === "1");
    point(canvas, "pointermove", 4, 4, 96, 60); point(canvas, "pointerdown", 4, 4, 96, 60); point(canvas, "pointerup", 4, 4, 96, 60);
    point(canvas, "pointerleave", 0, 0, 96, 60);
    await until("a click keeps a block", () => values.textContent.includes("block at 0,0"));
    point(canvas, "pointerdown", 4, 4, 96, 60); point(canvas, "pointerup", 4, 4, 96, 60);
    await until("another lets it go", () => !values.textContent.includes("block at"));
    const inspector = $("inspector").getBoundingClientRect(), picture = canvas.getBoundingClientRect();
    check("values are right of the picture and in view", inspector.left >= picture.right && inspector.bottom <= innerHeight);
    $("frame").value = 3; $("frame").dispatchEvent(new Event("input"));
    check("key frames are named", $("label").textContent.startsWith("frame 3 (key), "));
    point($("timeline"), "pointerdown", 1.5, 1, 5, 2, { buttons: 1 }); check("the time line scrubs", $("frame").value === "1");
    press(" "); check("pause", $("play").textContent === "Pause");
    await until("plays", () => $("frame").value !== "1");
    press(" "); check("stops", $("play").textContent === "Play");
    const light = getComputedStyle(document.body).backgroundColor;
    $("theme").click(); check("light and dark", getComputedStyle(document.body).backgroundColor !== light);
    const bars = [...document.querySelectorAll(".bar")];
    const shares = bars.map((bar) => parseFloat(bar.children[1].textContent));
    check("histogram", bars.length > 1 && Math.abs(shares.reduce((a, b) => a + b, 0) - 100) < 1);
    check("bars", bars.every((bar, i) => Math.abs(parseFloat(bar.children[2].style.width) - shares[i]) < 0.1));
    check("summary", document.querySelector("pre").textContent.includes("frames 5: key 2, inter 3"));
    check("nothing is wider than the window", document.documentElement.scrollWidth <= innerWidth);
    check("hostile names stay text", !window.injected && document.querySelector("h1").textContent.includes("<script>"));
    check("no network", performance.getEntriesByType("resource").every((e) => e.name.startsWith("data:")));
  } catch (e) { failures.push(e.stack); }
  tell();
});
)js";

/// A script for a page that shows two streams next to each other.
constexpr const char* kBesideClicks = R"js(
addEventListener("load", async () => {
  try {
    check("two views", canvases().length === 2);
    await until("both are drawn", () => canvases().every((c) => c.width > 96 && c.getContext("2d").getImageData(5, 5, 1, 1).data[3] > 0));
    check("they differ", drawn(canvases()[0]) !== drawn(canvases()[1]));
    point(canvases()[1], "pointermove", 20, 20, 96, 60);
    await until("values of both", () => [...document.querySelectorAll(".values")].every((v) => v.textContent.startsWith("block at 16,16")));
    const [first, second] = canvases().map(drawn);
    press("End");
    await until("both step", () => drawn(canvases()[0]) !== first && drawn(canvases()[1]) !== second);
    check("bits of both", /, [\d,]+ and [\d,]+ bits$/.test($("label").textContent));
    check("two summaries", document.querySelectorAll("#summaries pre").length === 2);
  } catch (e) { failures.push(e.stack); }
  tell();
});
)js";

TEST_F(MotionPageTest, PageWorksInABrowser) {
  const std::string browser = test::find_browser();
  if (browser.empty()) GTEST_SKIP() << "no Chromium on the PATH (package chromium): the page is not clicked through";
  const std::string hostile = file("<script>window.injected=1<");
  std::filesystem::copy_file(stream_, hostile);
  const auto made = test::shell("'" C63_BIN_DIR "/c63mv' '" + hostile + "' -o '" + file("mv.html") + "' 2>&1");
  if (made.output.find("C63-NO-PNG") != std::string::npos) GTEST_SKIP() << "built without FFmpeg's PNG encoder";
  ASSERT_EQ(made.exit_code, 0) << made.output;
  ASSERT_EQ(run("--format csv --seek 1 -f 1 -o '" + file("mv.csv") + "'").exit_code, 0);
  std::ifstream csv(file("mv.csv"));
  std::string values;
  std::string line;
  std::getline(csv, line);
  for (int row = 0; std::getline(csv, line) && line.find(",Y,") != std::string::npos; ++row) {
    if (row % 19 != 3) continue;  // only some of the rows
    const auto at = line.find(",Y,") + 3;
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream fields(line.substr(at));
    int x, y, inter, mv_x, mv_y, sad, vector_bits, bits;
    ASSERT_TRUE(fields >> x >> y >> inter >> mv_x >> mv_y >> sad >> vector_bits >> bits) << line;
    values += fmt::format("[{}, {}, {}, {}, {}, {}, {}],", x, y, mv_x, mv_y, sad, vector_bits, bits);
  }
  std::string clicks = kClicks;
  clicks.replace(clicks.find("@VALUES@"), 8, "[" + values + "]");
  EXPECT_EQ(test::title_after_script(browser, folder_, file("mv.html"), kPageTools + clicks), "ALL GOOD");

  test::expect_success(test::shell("'" C63_BIN_DIR "/c63enc' --quiet --backend cpu --preset fast '" + file("pan_96x60.yuv") + "' '" + file("fast.c63") + "'"));
  ASSERT_EQ(run("--beside '" + file("fast.c63") + "' -o '" + file("both.html") + "'").exit_code, 0);
  EXPECT_EQ(test::title_after_script(browser, folder_, file("both.html"), std::string(kPageTools) + kBesideClicks), "ALL GOOD");
}

TEST_F(MotionPageTest, APageIsSmall) {
  ASSERT_EQ(test::shell(fmt::format("'{0}/c63gen' --quiet --pattern natural -w 352 -h 288 -f 10 -o '{1}' && '{0}/c63enc' --quiet --backend cpu '{1}' '{2}'",
                                    C63_BIN_DIR, file("n_352x288.yuv"), file("n.c63")))
                .exit_code,
            0);
  const auto page = test::shell("'" C63_BIN_DIR "/c63mv' --quiet '" + file("n.c63") + "' -o '" + file("n.html") + "' 2>&1");
  if (page.output.find("C63-NO-PNG") != std::string::npos) GTEST_SKIP() << "built without FFmpeg's PNG encoder";
  ASSERT_EQ(page.exit_code, 0) << page.output;
  EXPECT_LT(std::filesystem::file_size(file("n.html")), 30'000U + 10 * 40'000U);
}

}  // namespace
}  // namespace c63::tools
