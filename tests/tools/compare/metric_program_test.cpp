// Tests c63cmp as a program: its exit codes, the files that it reads and writes, and its errors.

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "c63/decoder.h"
#include "support/compact_stream.h"
#include "support/folder_test.h"
#include "support/generators.h"
#include "support/shell.h"

namespace c63::tools {
namespace {

class MetricProgramTest : public test::FolderTest {
 protected:
  std::string save(const std::string& name, const test::Bytes& bytes) {
    test::write_bytes(path(name), bytes);
    return path(name);
  }
  test::ShellResult run(const std::string& arguments) {
    return test::shell("'" C63_BIN_DIR "/c63cmp' --progress none " + arguments + " 2>&1");
  }

  test::Bytes video_ = test::generate_b(48, 32, 4);
  std::string a_ = save("a_48x32.yuv", video_);
};

TEST_F(MetricProgramTest, StreamsOfEveryKindOfFrameAreDecoded) {
  test::CompactStreamWriter writer(48, 32, 3);
  writer.add_any(20, 8);
  const std::string stream = save("all.c63", writer.bytes());
  test::Bytes pictures = decode(writer.bytes());
  EXPECT_EQ(run("--bitexact '" + save("all_48x32.yuv", pictures) + "' '" + stream + "'").exit_code, 0);
  pictures.back() ^= 1;
  EXPECT_EQ(run("--bitexact '" + save("other_48x32.yuv", pictures) + "' '" + stream + "'").exit_code, 3);
}

TEST_F(MetricProgramTest, ADifferenceIsNamedAndFailsIfAskedTo) {
  test::Bytes changed = video_;
  changed[frame_bytes(48, 32) + 48 * 2 + 9] ^= 4;
  const std::string b = save("b_48x32.yuv", changed);
  auto result = run("'" + a_ + "' '" + b + "'");
  EXPECT_EQ(result.exit_code, 0) << result.output;
  result = run("--bitexact '" + a_ + "' '" + b + "'");
  EXPECT_EQ(result.exit_code, 3) << result.output;
  EXPECT_NE(result.output.find("C63-CMP-DIFFERENT"), std::string::npos) << result.output;
  EXPECT_EQ(run("--min-psnr 20 '" + a_ + "' '" + b + "'").exit_code, 0);
  EXPECT_EQ(run("--min-psnr 90 '" + a_ + "' '" + b + "'").exit_code, 3);
  EXPECT_EQ(run("--min-psnr nan '" + a_ + "' '" + b + "'").exit_code, 2) << "a threshold that nothing misses";
}

TEST_F(MetricProgramTest, WrongUseHasItsOwnMessage) {
  EXPECT_EQ(run("'" + a_ + "'").exit_code, 2);
  EXPECT_EQ(run("'" + a_ + "' '" + path("missing_48x32.yuv") + "'").exit_code, 4);
  EXPECT_EQ(run("--heatmap h.gif '" + a_ + "' '" + a_ + "'").exit_code, 2);
  EXPECT_EQ(run("--csv '" + a_ + "' '" + a_ + "' '" + a_ + "'").exit_code, 2) << "would overwrite its input";
}

TEST_F(MetricProgramTest, WritesTablesAndPictures) {
  test::Bytes changed = video_;
  changed[5] ^= 16;
  const std::string b = save("b, \"c\"_48x32.yuv", changed);
  const std::string csv = path("m.csv");
  const std::string json = path("m.json");
  const std::string heat = path("h.ppm");
  test::expect_success(run("-w 48 -h 32 --csv '" + csv + "' --json '" + json + "' --heatmap '" + heat + "' '" + a_ + "' '" + b + "'"));
  std::ifstream csv_file(csv);
  std::string line;
  std::string last;
  int rows = 0;
  for (; std::getline(csv_file, line); ++rows) last = line;
  EXPECT_EQ(rows, 5);
  EXPECT_NE(last.find("b, \"\"c\"\"_48x32.yuv\",3,1,inf"), std::string::npos) << last;
  const auto data = nlohmann::json::parse(std::ifstream(json));
  EXPECT_EQ(data["videos"][0]["frames"], 4);
  EXPECT_EQ(data["videos"][0]["first_difference"]["x"], 5);
  EXPECT_TRUE(data["videos"][0]["per_frame"][1]["psnr_y_db"].is_null()) << "infinite";
  std::ifstream picture(heat, std::ios::binary);
  std::string magic;
  int width = 0;
  int height = 0;
  picture >> magic >> width >> height;
  EXPECT_EQ(std::tuple(magic, width, height), std::tuple("P6", 48, 32));
}

TEST_F(MetricProgramTest, EndsAtSigtermWhileAPipeWaits) {
  const std::string pipe = path("pipe_48x32.yuv");
  ASSERT_EQ(test::shell("mkfifo '" + pipe + "'").exit_code, 0);
  for (const std::string& order : {"'" + a_ + "' '" + pipe + "'", "'" + pipe + "' '" + a_ + "'"}) {
    // A writer holds the pipe open, and writes a frame and a half.
    const auto result = test::shell("(head -c 3456 '" + a_ + "'; exec sleep 20) > '" + pipe + "' & timeout --preserve-status -k 8 -s TERM 1 '" C63_BIN_DIR
                                    "/c63cmp' --progress none " + order + " 2>&1; code=$?; kill $!; exit $code");
    EXPECT_EQ(result.exit_code, 143) << order << ": " << result.output;
  }
}

TEST_F(MetricProgramTest, OddSidesAreComparedAsFfmpegDoes) {
  if (!test::have_command("ffmpeg")) GTEST_SKIP() << "no ffmpeg on the PATH";
  const auto crop = [&](const std::string& from, const std::string& to) {
    return test::shell("ffmpeg -nostdin -v error -f rawvideo -s 48x32 -i '" + from + "' -frames:v 4 -vf crop=47:31:exact=1 '" + path(to) + "'").exit_code;
  };
  ASSERT_EQ(crop(a_, "a.y4m"), 0);
  ASSERT_EQ(test::shell("'" C63_BIN_DIR "/c63enc' --backend cpu --quiet --ssim -q 5 '" + path("a.y4m") + "' -o '" + path("a.c63") + "' --json '" +
                        path("enc.json") + "' && '" C63_BIN_DIR "/c63dec' --quiet '" + path("a.c63") + "' '" + path("d_48x32.yuv") + "'").exit_code, 0);
  ASSERT_EQ(crop(path("d_48x32.yuv"), "b.y4m"), 0);
  const auto ffmpeg = test::shell("ffmpeg -nostdin -hide_banner -i '" + path("b.y4m") + "' -i '" + path("a.y4m") +
                                  "' -lavfi psnr -f null - 2>&1 | grep -o 'average:[0-9.]*'");
  const auto number = [](const std::string& text, const std::string& after) { return text.substr(text.find(after) + after.size(), 9); };
  for (const std::string video : {"b.y4m", "a.c63"}) {  // the stream has the repeated column and row
    const auto ours = run("'" + path("a.y4m") + "' '" + path(video) + "'");
    EXPECT_EQ(number(ours.output, "  all "), number(ffmpeg.output, "average:")) << video << ": " << ours.output << ffmpeg.output;
  }
  ASSERT_EQ(run("'" + path("a.y4m") + "' '" + path("a.c63") + "' --json '" + path("cmp.json") + "'").exit_code, 0);
  const auto encoded = nlohmann::json::parse(std::ifstream(path("enc.json")))["quality"];
  const auto compared = nlohmann::json::parse(std::ifstream(path("cmp.json")))["videos"][0];
  for (const char* figure : {"psnr_y_db", "psnr_all_db", "ssim_y"}) EXPECT_EQ(encoded[figure], compared[figure]) << figure;
}

}  // namespace
}  // namespace c63::tools
