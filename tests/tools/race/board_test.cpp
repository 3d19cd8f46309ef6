// Tests c63bench board, which combines the results of several races into one list.

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "support/browser.h"
#include "support/shell.h"
#include "support/temporary_folder.h"

namespace c63::tools {
namespace {

test::ShellResult board(const std::string& arguments) {
  return test::shell("'" C63_BIN_DIR "/c63bench' board " + arguments + " 2>&1");
}

class Board : public ::testing::Test {
 protected:
  std::string result(const std::string& name, const std::string& kernel, const std::string& verdict, double us) const {
    const std::string path = folder_.file(name);
    std::ofstream file(path);
    file << R"({"device":"Some GPU","entrants":[{"name":")" << kernel << R"(","verdict":")" << verdict
         << R"(","first":"block (1, 2): <wrong>"}],"results":[)";
    if (verdict == "right") {
      file << R"({"kernel":")" << kernel
           << R"(","size":"352x288","content":"natural","jobs":1,"us_per_frame":{"median":)" << us
           << R"(},"share_of_ceiling":0.25},)";
    }
    file
        << R"({"kernel":"textbook","size":"352x288","content":"natural","jobs":1,"us_per_frame":{"median":38},"share_of_ceiling":0.04}]})";
    return path;
  }

  test::TemporaryFolder folder_;
};

TEST_F(Board, HasTheFastestFirstAndBuiltInOnesOnce) {
  const std::string files = "'" + result("anna.json", "anna.cu", "right", 9.5) + "' '" +
                            result("ben.json", "ben.cu", "right", 6.25) + "' '" +
                            result("carl.json", "carl.cu", "wrong", 0) + "'";
  const std::string page = folder_.file("board.html");
  const auto text = board(files + " -o '" + page + "'");
  ASSERT_EQ(text.exit_code, 0) << text.output;
  const std::size_t ben = text.output.find("ben.cu");
  const std::size_t anna = text.output.find("anna.cu");
  const std::size_t textbook = text.output.find("textbook");
  const std::size_t carl = text.output.find("carl.cu");
  EXPECT_LT(ben, anna);
  EXPECT_LT(anna, textbook);
  EXPECT_LT(textbook, carl) << "what was not timed stands last: " << text.output;
  ASSERT_NE(carl, std::string::npos);
  EXPECT_EQ(text.output.find("textbook", textbook + 1), std::string::npos) << "once: " << text.output;
  std::stringstream html;
  html << std::ifstream(page).rdbuf();
  EXPECT_NE(html.str().find("<td>ben.cu</td>"), std::string::npos);
  EXPECT_NE(html.str().find("block (1, 2): &lt;wrong&gt;"), std::string::npos)
      << "texts of others are not code of the page";
  EXPECT_EQ(html.str().find("http"), std::string::npos) << "the page needs no network";
}

/// A script that checks the colours of a page, in light and in dark mode. The contrast of text must be at least 4.5, as
/// WCAG 2 requires.
constexpr const char* kColors = R"js(
const rgb = (text) => text.match(/[0-9.]+/g).slice(0, 3).map(Number);
const luminance = (color) => rgb(color).map((v) => v / 255).map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
  .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const contrast = (a, b) => (Math.max(luminance(a), luminance(b)) + 0.05) / (Math.min(luminance(a), luminance(b)) + 0.05);
const failures = [];
const check = (what, good) => { if (!good && !failures.includes(what)) failures.push(what); };
const seen = new Set();
const look = () => {
  const paper = getComputedStyle(document.body).backgroundColor, theme = document.documentElement.dataset.theme;
  seen.add(paper);
  for (const text of document.querySelectorAll("h1, h2, p, th, td")) {
    check(`${theme}: contrast of "${text.textContent.slice(0, 30)}"`, !text.textContent || contrast(getComputedStyle(text).color, paper) >= 4.5);
  }
  for (const bar of document.querySelectorAll(".bar")) check(theme + ": bars", contrast(getComputedStyle(bar).backgroundColor, paper) >= 3);
  check("nothing is wider than the window", document.documentElement.scrollWidth <= innerWidth);
};
)js";

constexpr const char* kClickBoard = R"js(
addEventListener("load", () => {
  try {
    look();
    document.getElementById("theme").click();
    look();
    check("light and dark", seen.size === 2);
    const rows = [...document.querySelectorAll("tbody tr")], bars = [...document.querySelectorAll(".bar")].map((bar) => bar.getBoundingClientRect().width);
    check("rows", rows.length === 4 && bars.length === 3);
    check("the fastest first, with the shortest bar", bars.every((width, i) => width > 0 && (!i || width >= bars[i - 1])));
    check("own ones are marked", document.querySelectorAll("tr.right").length === 2 && document.querySelectorAll("tr.wrong").length === 1);
    document.title = failures.length ? "FAILED: " + failures.join("; ") : "ALL GOOD";
  } catch (e) { document.title = "FAILED: " + e.stack; }
});
)js";

/// A script that clicks through the page which c63bench me --html writes for a race.
constexpr const char* kClickRace = R"js(
addEventListener("load", () => {
  const $ = (id) => document.getElementById(id);
  try {
    look();
    $("theme").click();
    look();
    check("light and dark", seen.size === 2);
    const names = () => [...$("table").tBodies[0].rows].map((row) => row.cells[0].textContent);
    for (const content of ["natural", "noise"]) {
      $("content").value = content; $("content").dispatchEvent(new Event("change"));
      check(content + ": files and built-in kernels: " + names(), ["textbook.cu", "packed.cu", "textbook", "fast"].every((name) => names().includes(name)));
    }
    $("jobs").value = "1"; $("jobs").dispatchEvent(new Event("change"));
    const bars = [...document.querySelectorAll("#ladder rect")];
    check("a bar for each", bars.length === names().length);
    bars[0].focus();
    check("what a bar says", !$("tip").hidden && /frames\/s/.test($("tip").textContent) && /registers/.test($("tip").textContent));
    bars[0].blur();
    check("and no longer", $("tip").hidden);
    document.title = failures.length ? "FAILED: " + failures.join("; ") : "ALL GOOD";
  } catch (e) { document.title = "FAILED: " + failures.join("; ") + e.stack; }
});
)js";

TEST_F(Board, PagesAreReadableInLightAndDark) {
  const std::string browser = test::find_browser();
  if (browser.empty()) GTEST_SKIP() << "no Chromium on the PATH (package chromium): pages are not clicked through";
  const std::string page = folder_.file("board.html");
  const auto made = board("'" + result("anna.json", "anna.cu", "right", 9.5) + "' '" + result("ben.json", "ben.cu", "right", 6.25) + "' '" +
                          result("carl.json", "carl.cu", "wrong", 0) + "' -o '" + page + "'");
  ASSERT_EQ(made.exit_code, 0) << made.output;
  EXPECT_EQ(test::title_after_script(browser, folder_, page, std::string(kColors) + kClickBoard), "ALL GOOD");
  const std::string ladder = folder_.file("race.html");
  const auto raced = test::shell("'" C63_BIN_DIR "/c63bench' page '" C63_SOURCE_DIR "/docs/results/race-h100.json' -o '" + ladder + "' 2>&1");
  ASSERT_EQ(raced.exit_code, 0) << raced.output;
  EXPECT_EQ(test::title_after_script(browser, folder_, ladder, std::string(kColors) + kClickRace), "ALL GOOD");
}

TEST_F(Board, RefusesOtherFiles) {
  EXPECT_EQ(board("/no/such/file.json").exit_code, 4);
  const std::string other = folder_.file("other.json");
  std::ofstream(other) << "{}";
  const auto refused = board("'" + other + "'");
  EXPECT_EQ(refused.exit_code, 4);
  EXPECT_NE(refused.output.find("C63-BENCH-FIGURES"), std::string::npos) << refused.output;
  EXPECT_EQ(board("").exit_code, 2);
}

}  // namespace
}  // namespace c63::tools
