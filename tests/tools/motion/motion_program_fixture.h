#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "support/shell.h"
#include "support/temporary_folder.h"

namespace c63::tools {

/// Functions for scripts that click through a page.
inline constexpr const char* kPageTools = R"js(
const failures = [];
const check = (what, good) => { document.title = "UNFINISHED after " + what; if (!good) failures.push(what); };
const $ = (id) => document.getElementById(id);
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
// The browser's frames come in real time, its timers do not.
const until = async (what, good) => { for (let i = 0; i < 200 && !good(); ++i) await new Promise(requestAnimationFrame); check(what, good()); };
const press = (key, more) => dispatchEvent(new KeyboardEvent("keydown", Object.assign({ key }, more)));
const canvases = () => [...document.querySelectorAll(".view canvas")];
const point = (canvas, type, x, y, width, height, more) => {
  const box = canvas.getBoundingClientRect();
  canvas.dispatchEvent(new PointerEvent(type, Object.assign({ pointerId: 1, clientX: box.left + x * box.width / width, clientY: box.top + y * box.height / height }, more)));
};
const drawn = (canvas) => canvas.toDataURL();
const tell = () => { document.title = failures.length ? "FAILED: " + failures.join("; ") : "ALL GOOD"; };
addEventListener("error", (event) => failures.push("error: " + event.message));
addEventListener("unhandledrejection", (event) => failures.push("rejected: " + event.reason));
)js";

/// Encodes a video that pans by (3, -2). run() starts c63mv with the stream.
class MotionProgramTest : public testing::Test {
 protected:
  MotionProgramTest() {
    EXPECT_EQ(test::shell(fmt::format("'{0}/c63gen' --quiet --pattern pan --mv 3,-2 -w 96 -h 60 -f 5 --truth '{1}' -o '{2}' && "
                                      "'{0}/c63enc' --quiet --backend cpu --keyint 3 '{2}' -o '{3}' --stats-yuview '{4}' 2>&1",
                                      C63_BIN_DIR, file("truth.csv"), file("pan_96x60.yuv"), stream_, file("enc.csv")))
                  .exit_code,
              0);
  }
  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }
  [[nodiscard]] test::ShellResult run(const std::string& arguments) const {
    return test::shell("'" C63_BIN_DIR "/c63mv' --progress none '" + stream_ + "' " + arguments + " 2>&1");
  }

  test::TemporaryFolder folder_;
  std::string stream_ = file("pan.c63");
};

}  // namespace c63::tools
