#pragma once

#include <fstream>
#include <string>

#include "support/shell.h"
#include "support/temporary_folder.h"

namespace c63::test {

/// Returns the command that starts Chromium or Chrome, or an empty string if none is on the PATH.
inline std::string find_browser() {
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
    if (have_command(name)) return name;
  }
  return {};
}

/// Appends a script to the file `page` and opens the file in a browser without a window. The script must set the page's
/// title to a text that begins with "ALL GOOD" or "FAILED". Returns the title: "UNFINISHED" if the script did not set it
/// in three attempts. If the browser gives no title, returns a text that says so.
inline std::string title_after_script(const std::string& browser, const TemporaryFolder& folder, const std::string& page,
                                      const std::string& script) {
  // The browser's clock is simulated: it jumps over idle time. While other threads decode pictures, it could jump to
  // its limit. So a timer keeps the page busy until the title is set. If a busy machine still ends the page too early,
  // the page is opened again, up to three times in all.
  constexpr const char* kPrelude =
      "document.title = 'UNFINISHED';\n"
      "const ticking = setInterval(() => { if (!document.title.startsWith('UNFINISHED')) clearInterval(ticking); }, 1);\n";
  std::ofstream(page, std::ios::app) << "<script>\n" << kPrelude << script << "\n</script>\n";
  const std::string command =
      "timeout 120 " + browser +
      " --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
      " --disable-component-update --disable-sync --window-size=1200,900 --virtual-time-budget=600000 --user-data-dir='" +
      folder.file("profile") + "' --dump-dom 'file://" + page + "' 2>'" + folder.file("browser.txt") + "'";
  std::string verdict;
  for (int attempt = 0; attempt < 3; ++attempt) {
    const ShellResult result = shell(command);
    const auto title = result.output.find("<title>");
    const auto end = result.output.find("</title>", title);
    if (title == std::string::npos || end == std::string::npos) {
      verdict = "no title; the browser ended with " + std::to_string(result.exit_code) + ": " + result.output.substr(0, 300);
      continue;
    }
    verdict = result.output.substr(title + 7, end - title - 7);
    if (verdict != "UNFINISHED") break;
  }
  return verdict;
}

}  // namespace c63::test
