#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "support/shell.h"
#include "support/temporary_folder.h"

namespace c63::tools {

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
