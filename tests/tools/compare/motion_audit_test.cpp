// Tests c63cmp motion. It searches each block again, exactly, in the reference that the stream itself gives, and
// compares the result with the stream's vector.

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/folder_test.h"
#include "support/shell.h"

namespace c63::tools {
namespace {

test::ShellResult shell(const std::string& program, const std::string& arguments) {
  return test::shell("'" C63_BIN_DIR "/" + program + "' " + arguments + " 2>&1");
}

/// A video of moving noise. Its width, 100, is not a multiple of 16, so coded planes are wider than the picture. The
/// codec fills them sample after sample, so their rows are not the picture's rows.
class MotionAuditProgram : public test::FolderTest {
 protected:
  void SetUp() override {
    std::ofstream file(video_, std::ios::binary);
    std::uint32_t random = 7;
    std::vector<char> noise(1 << 16);
    for (char& sample : noise) sample = static_cast<char>((random = random * 1664525 + 1013904223) >> 24);
    constexpr std::size_t kFrame = 100 * 52 * 3 / 2;
    for (std::size_t frame = 0; frame < 5; ++frame) file.write(noise.data() + 203 * frame, kFrame);
  }

  std::string encode(const std::string& options) {
    const std::string stream = path("stream.c63");
    const auto result =
        shell("c63enc", "--quiet --backend cpu -w 100 -h 52 " + options + " -o '" + stream + "' '" + video_ + "'");
    EXPECT_EQ(result.exit_code, 0) << result.output;
    return stream;
  }

  [[nodiscard]] test::ShellResult audit(const std::string& stream, const std::string& options) const {
    return shell("c63cmp", "motion '" + stream + "' '" + video_ + "' " + options);
  }

  std::string video_ = path("noise.yuv");
};

TEST_F(MotionAuditProgram, TheCourseEncodersVectorsAreThoseOfExactSearch) {
  const auto result = test::expect_success(audit(encode("--preset reference"), "--exact"));
  EXPECT_NE(result.output.find("5 frames, 4 with vectors; 672 vectors"), std::string::npos) << result.output;
}

TEST_F(MotionAuditProgram, ASearchThatFindsOnlyZeroIsNamedWithItsCost) {
  const std::string stream = encode("--preset reference --me zero");
  const std::string csv = path("differences.csv");
  const std::string json = path("audit.json");
  const auto result = audit(stream, "--exact --csv '" + csv + "' --json '" + json + "'");
  EXPECT_EQ(result.exit_code, 3) << result.output;
  EXPECT_NE(result.output.find("[C63-CMP-MOTION]"), std::string::npos) << result.output;

  std::ifstream file(json);
  const auto figures = nlohmann::json::parse(file);
  const auto& all = figures.at("all");
  EXPECT_EQ(all.at("vectors"), 672);
  EXPECT_EQ(figures.at("blocks_without_vector"), 0);
  EXPECT_EQ(figures.at("first_difference").at("frame"), 1);
  EXPECT_EQ(figures.at("suspicions").at(0).at("id"), "zero-only");
  EXPECT_EQ(figures.at("suspicions").at(0).at("share"), 1);
  EXPECT_GT(all.at("sad").get<std::int64_t>(), all.at("exact_sad").get<std::int64_t>());
  std::ifstream rows(csv);
  std::int64_t cost = 0;
  std::int64_t count = -1;  // the header is not counted
  for (std::string row; std::getline(rows, row); ++count) {
    if (count >= 0) cost += std::stoll(row.substr(row.rfind(',') + 1));
  }
  EXPECT_EQ(count, all.at("differing").get<std::int64_t>());
  // `cost` adds up what all differing blocks lose. The two sums in the JSON leave out blocks whose vector is not a
  // candidate. These are the blocks of the last column and row, because the zero vector is not a candidate there.
  EXPECT_LE(all.at("sad").get<std::int64_t>() - all.at("exact_sad").get<std::int64_t>(), cost);
}

TEST_F(MotionAuditProgram, AnotherRangeThanTheEncodersIsSeen) {
  const std::string stream = encode("--preset reference --merange 8");
  test::expect_success(audit(stream, "--exact --merange 8"));
  const auto wider = test::expect_success(audit(stream, "--merange 16"));
  EXPECT_NE(wider.output.find("[range-halved, explains 100 % of the differences]"), std::string::npos) << wider.output;
}

TEST_F(MotionAuditProgram, FramesThatInheritTheirVectorsAreAudited) {
  const auto result = test::expect_success(audit(encode("--preset good"), "--show 0"));
  EXPECT_NE(result.output.find("first difference: frame "), std::string::npos) << result.output;
}

TEST_F(MotionAuditProgram, TakesAStreamAsSource) {
  // Here the source is a stream, too. Its decoder returns frames only in order. So c63cmp must also read the key
  // frames, although they have no vectors to compare.
  const std::string stream = encode("--preset reference");
  test::expect_success(shell("c63cmp", "motion '" + stream + "' '" + stream + "' --show 0"));
}

TEST_F(MotionAuditProgram, TellsWhatIsMissing) {
  const std::string stream = encode("--preset reference");
  EXPECT_EQ(shell("c63cmp", "motion").exit_code, 2);
  EXPECT_EQ(shell("c63cmp", "motion '" + stream + "' /no/such/file.yuv").exit_code, 4);
  const std::string shorter = path("shorter.yuv");
  ASSERT_EQ(test::shell("head -c 15600 '" + video_ + "' > '" + shorter + "'").exit_code, 0);
  EXPECT_EQ(shell("c63cmp", "motion '" + stream + "' '" + shorter + "'").exit_code, 3);
}

}  // namespace
}  // namespace c63::tools
