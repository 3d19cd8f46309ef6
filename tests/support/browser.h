#pragma once

#include <fstream>
#include <string>

#include "support/shell.h"

namespace c63::test {

/// A Chromium on the PATH, or nothing.
inline std::string find_browser() {
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
    if (have_command(name)) return name;
  }
  return {};
}

/// Opens a page with a script added to its end in a headless browser, without a network, and returns the title that the
/// script leaves behind. `page` is a file; it is changed.
inline std::string title_after_script(const std::string& browser, const TemporaryFolder& folder, const std::string& page,
                                      const std::string& script) {
  std::ofstream(page, std::ios::app) << "<script>\n" << script << "\n</script>\n";
  const ShellResult result = shell(
      "timeout 120 " + browser +
      " --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
      " --disable-component-update --disable-sync --window-size=1200,900 --virtual-time-budget=10000 --user-data-dir='" +
      folder.file("profile") + "' --dump-dom 'file://" + page + "' 2>'" + folder.file("browser.txt") + "'");
  const auto title = result.output.find("<title>");
  const auto end = result.output.find("</title>", title);
  if (title == std::string::npos || end == std::string::npos) {
    return "no title; the browser ended with " + std::to_string(result.exit_code) + ": " + result.output.substr(0, 300);
  }
  return result.output.substr(title + 7, end - title - 7);
}

}  // namespace c63::test
