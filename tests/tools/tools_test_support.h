#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "common/digest.h"
#include "process.h"
#include "support/folder_test.h"
#include "support/golden_videos.h"

namespace c63::test {

/// The number of bytes of a frame of 32x32.
inline constexpr std::size_t kFrame32 = 32 * 32 * 3 / 2;

inline const std::string kGen = C63_BIN_DIR "/c63gen";
inline const std::string kEnc = C63_BIN_DIR "/c63enc";
inline const std::string kDec = C63_BIN_DIR "/c63dec";
inline const std::string kPred = C63_BIN_DIR "/c63pred";
inline const std::string kInfo = C63_BIN_DIR "/c63info";
inline const std::string kFilter = C63_BIN_DIR "/c63filter";
inline const std::string kMv = C63_BIN_DIR "/c63mv";
inline const std::string kCmp = C63_BIN_DIR "/c63cmp";

/// Expects that a program ended with 0, and returns its result.
inline ProcessResult expect_success(ProcessResult result) {
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return result;
}

/// Returns the frames of a golden video as a string, which can be written to a file.
inline std::string generate(const GoldenVideo& video) {
  const Bytes frames = frames_of(video);
  return {frames.begin(), frames.end()};
}

/// JSON with an object that holds lists in lists, 200,000 deep: enough for the stack of code that calls itself a level.
inline std::string deep_json() {
  constexpr std::size_t kDepth = 200'000;
  return "{\"encode\": " + std::string(kDepth, '[') + std::string(kDepth, ']') + "}";
}

/// Tests of programs, with a folder each.
class ToolsTest : public FolderTest {
 protected:
  /// Expects this exit code and exactly one line on standard error. The program must have run with --quiet. The line
  /// must begin with the program's name, contain `id`, and say what to do.
  static void expect_one_line(const ProcessResult& result, int exit_code, const std::string& program,
                              const std::string& id) {
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    EXPECT_EQ(lines_in(result.err), 1) << result.err;
    EXPECT_TRUE(result.err.starts_with(program + ": ")) << result.err;
    EXPECT_NE(result.err.find("[" + id + "]; "), std::string::npos) << result.err;
  }
};

}  // namespace c63::test
