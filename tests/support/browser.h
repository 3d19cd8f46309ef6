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

/// Opens a page in a headless browser, without network access, after adding a script to the end of the file `page`.
/// Returns the title that the script sets, which begins with "ALL GOOD" or "FAILED".
inline std::string title_after_script(const std::string& browser, const TemporaryFolder& folder, const std::string& page,
                                      const std::string& script) {
  // The browser's clock skips idle time, and could reach its limit while other threads decode pictures. A timer that
  // runs until the title is set prevents this. If the machine is too busy even so, the page is opened once more.
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
