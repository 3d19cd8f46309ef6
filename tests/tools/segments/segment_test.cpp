// Tests c63enc --segment and c63join. The joined stream must have the bytes of an encode by one process, also after
// stops and failures.

#include <chrono>
#include <csignal>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "support/shell.h"
#include "tools_test_support.h"

namespace c63::test {
namespace {

namespace fs = std::filesystem;

const std::string kJoin = C63_BIN_DIR "/c63join";

using Words = std::vector<std::string>;

Words operator+(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

class Segments : public ToolsTest {
 protected:
  void SetUp() override {
    // The grey level of each frame (see scene_video()): two scenes of 12 frames. A flash of one frame interrupts the
    // first scene.
    const std::vector<int> levels = {9,  9,  9,  9,  9,  9,  9,  200, 9,  9,  9,  9,
                                     90, 90, 90, 90, 90, 90, 90, 90,  90, 90, 90, 90};
    const Bytes video = scene_video(32, 32, levels);
    input_ = write_file("in_32x32.yuv", std::string(video.begin(), video.end()));
  }

  [[nodiscard]] static Words encode(const std::string& input, const Words& options = {}) {
    const Words base = {kEnc, input, "--quiet", "--threads", "1", "--backend", "cpu"};
    const bool has_interval = std::ranges::find(options, "--keyint") != options.end();
    return base + (has_interval ? Words() : Words{"--keyint", "3"}) + options;
  }
  [[nodiscard]] std::string segment_file(int number) const { return path("seg" + std::to_string(number) + ".c63"); }
  [[nodiscard]] static std::string whole(const std::string& input, const Words& options = {}) {
    const ProcessResult result = expect_success(run(encode(input, options) + Words{"-o", "-"}));
    return result.out;
  }
  ProcessResult encode_segment(int number, int of, const std::string& input, const Words& options = {}) const {
    return run(encode(input, options) +
               Words{"--segment", std::to_string(number) + "/" + std::to_string(of), "-o", segment_file(number)});
  }
  Words encode_segments(int of, const std::string& input, const Words& options = {}) const {
    Words files;
    for (int i = 1; i <= of; ++i) {
      const ProcessResult result = encode_segment(i, of, input, options);
      EXPECT_EQ(result.exit_code, 0) << result.err;
      files.push_back(segment_file(i));
    }
    return files;
  }
  ProcessResult join(const Words& files) const { return run(Words{kJoin, "--quiet", "-o", path("out.c63")} + files); }
  void expect_whole(int of, const std::string& input, const Words& options = {}) {
    const ProcessResult joined = join(encode_segments(of, input, options));
    EXPECT_EQ(joined.exit_code, 0) << joined.err;
    std::string& expected = expected_[Words{input} + options];
    if (expected.empty()) expected = whole(input, options);
    EXPECT_TRUE(read_file(path("out.c63")) == expected);
  }
  void expect_refused(const Words& files, const std::string& id) const {
    expect_one_line(join(files), 4, "c63join", id);
    EXPECT_FALSE(fs::exists(path("out.c63")));
  }
  /// Changes the record (the .json file) of a segment.
  void edit_record(int number, const std::function<void(nlohmann::ordered_json&)>& edit) const {
    const std::string file = segment_file(number) + ".json";
    auto json = nlohmann::ordered_json::parse(read_file(file));
    edit(json);
    std::ofstream(file) << json;
  }

  std::string input_;
  std::map<Words, std::string> expected_;  ///< the stream that one process makes, by options
};

/// Tests that the joined segments have the bytes of an encode by one process.
class SegmentBytes : public Segments {};

TEST_F(SegmentBytes, OfAnyNumberHaveTheBytesOfOneProcess) {
  for (const int of : {1, 3, 9}) {  // the video has 8 GOPs; tests/encode tests every number of segments
    SCOPED_TRACE(of);
    expect_whole(of, input_);
  }
}

TEST_F(SegmentBytes, WithEveryPresetAndPartOfAVideo) {
  for (const std::string preset : {"reference", "fast", "good"}) expect_whole(3, input_, {"--preset", preset});
  expect_whole(4, input_, {"--seek", "5", "-f", "14"});
  expect_whole(4, input_, {"--prefilter", "temporal:3"});
  expect_whole(3, input_, {"-q", "31.5", "--merange", "7", "--me", "full-brute"});
}

TEST_F(SegmentBytes, WithSceneCuts) {
  for (const int of : {2, 7}) {
    expect_whole(of, input_, {"--scenecut"});
    expect_whole(of, input_, {"--scenecut", "--keyint", "100"});
  }
}

TEST_F(SegmentBytes, OfY4m) {
  const std::string video = read_file(input_);
  constexpr std::size_t kFrame = 32 * 32 * 3 / 2;
  std::string y4m = "YUV4MPEG2 W32 H32 F25:1 C420jpeg\n";
  for (std::size_t i = 0; i < 24; ++i)
    y4m += (i % 5 == 0 ? "FRAME Xlonger\n" : "FRAME\n") + video.substr(i * kFrame, kFrame);
  const std::string file = write_file("in.y4m", y4m);
  expect_whole(5, file);
  expect_whole(5, file, {"--scenecut"});
}

TEST_F(Segments, OfAVideoWithOddSidesMeasureAsOneProcess) {
  std::string y4m = "YUV4MPEG2 W31 H17 F25:1 C420jpeg\n";
  for (char i = 0; i < 4; ++i) {
    y4m += "FRAME\n";
    for (int at = 0; at < 31 * 17 + 2 * 16 * 9; ++at) y4m += static_cast<char>(at * at / 7 + 5 * i);
  }
  const std::string file = write_file("odd.y4m", y4m);
  const auto quality = [&](const Words& options) {
    EXPECT_EQ(run(encode(file, options) + Words{"--ssim", "--json", path("odd.json")}).exit_code, 0);
    return nlohmann::json::parse(read_file(path("odd.json")))["quality"];
  };
  EXPECT_EQ(quality({"--segment", "1/1", "-o", segment_file(1)}), quality({"-o", path("odd.c63")}));
}

#if defined(C63_HAVE_FFMPEG)
TEST_F(SegmentBytes, OfAContainerWithFramesThatAreCodedOutOfOrder) {
  if (!have_command("ffmpeg")) GTEST_SKIP() << "no ffmpeg";
  const std::string file = path("in.mp4");
  ASSERT_EQ(
      shell("ffmpeg -v error -f rawvideo -pix_fmt yuv420p -s 32x32 -i " + input_ + " -c:v libx264 -bf 2 -g 5 " + file)
          .exit_code,
      0);
  expect_whole(4, file);
  expect_whole(4, file, {"--scenecut"});
}
#endif

TEST_F(Segments, ThatAreFinishedAreNotCodedAgain) {
  const auto tell = [&](const Words& options = {}) {
    Words command = encode(input_, options) + Words{"--segment", "2/3", "-o", segment_file(2)};
    std::erase(command, "--quiet");
    const ProcessResult result = expect_success(run(command));
    return result.err;
  };
  EXPECT_NE(tell().find("encoded 9 frames"), std::string::npos);
  const std::string bytes = read_file(segment_file(2));
  EXPECT_EQ(tell(), "segment 2 of 3: frames 9 to 17 of 24: the file is complete already, and is not encoded again\n");
  std::string changed = bytes;
  changed[100] = static_cast<char>(changed[100] ^ 1);
  for (const std::string& damaged : {changed, bytes.substr(0, bytes.size() - 1), bytes + "x", std::string()}) {
    write_file("seg2.c63", damaged);
    EXPECT_NE(tell().find("encoded 9 frames"), std::string::npos);
    EXPECT_TRUE(read_file(segment_file(2)) == bytes);
  }
  fs::remove(segment_file(2));
  EXPECT_NE(tell().find("encoded 9 frames"), std::string::npos);
  write_file("seg2.c63.json", "{}");
  EXPECT_NE(tell().find("encoded 9 frames"), std::string::npos);
  EXPECT_NE(tell({"-q", "30"}).find("encoded 9 frames"), std::string::npos) << "other settings";
  EXPECT_NE(tell().find("encoded 9 frames"), std::string::npos);
  fs::last_write_time(input_, fs::last_write_time(input_) + std::chrono::seconds(1));
  EXPECT_NE(tell().find("encoded 9 frames"), std::string::npos) << "the input was written again";
  EXPECT_NE(tell({"--csv", path("frames.csv")}).find("encoded 9 frames"), std::string::npos)
      << "for the file beside it";
  EXPECT_NE(read_file(path("frames.csv")).find("\n9,"), std::string::npos) << "frames have the video's numbers";
}

TEST_F(Segments, ThatAreInterruptedLeaveNothingAndAreCodedByTheNextRun) {
  const std::string large = write_file("large_352x288.yuv", generate({'A', 0, 352, 288, 12}));
  const Words options = {"--lanes", "1", "--log-level", "debug"};
  for (const int signal : {SIGKILL, SIGTERM, SIGINT}) {
    Words command = encode(large, options) + Words{"--segment", "1/2", "-o", segment_file(1)};
    command =
        command + Words{"--me", "full-brute", "--merange", "100"};  // slow, so that the signal comes before the end
    std::erase(command, "--quiet");
    Process process(command);
    ASSERT_TRUE(process.wait_for_error_output("frame 1:"));
    process.kill(signal);
    const ProcessResult result = process.wait();
    EXPECT_EQ(signal == SIGKILL ? result.signal : result.exit_code, signal == SIGKILL ? SIGKILL : 128 + signal)
        << result.err;
    EXPECT_FALSE(fs::exists(segment_file(1)));
    EXPECT_FALSE(fs::exists(segment_file(1) + ".json"));
    EXPECT_EQ(encode_segment(2, 2, large).exit_code, 0);
    expect_refused({segment_file(1), segment_file(2)}, "C63-SEGMENT-NO-RECORD");
  }
  expect_whole(2, large);
}

TEST_F(Segments, AreJoinedFromNamesThatAPatternFinds) {
  (void)encode_segments(11, input_);
  write_file("seg3.c63.part-1234-0", "what a killed run left");
  const ProcessResult joined = join({"/bin/false"});
  EXPECT_EQ(joined.exit_code, 4);
  const ShellResult all = shell(kJoin + " -o - " + path("seg*") + " 2>" + path("log"));
  EXPECT_EQ(all.exit_code, 0);
  EXPECT_TRUE(all.output == whole(input_)) << "into a pipe, which the system does not copy into";
  EXPECT_NE(read_file(path("log")).find("joined 11 segments: 24 frames"), std::string::npos);
}

TEST_F(Segments, MayBeNamedLikeUnfinishedFiles) {
  const Words three = encode_segments(3, input_);
  Words named;
  for (int i = 0; i < 3; ++i) {
    named.push_back(path("s.part-7-" + std::to_string(i)));
    fs::rename(three[static_cast<std::size_t>(i)], named.back());
    fs::rename(three[static_cast<std::size_t>(i)] + ".json", named.back() + ".json");
  }
  write_file("s.part-7-9", "of a run that was killed");
  EXPECT_EQ(join(named + Words{path("s.part-7-9")}).exit_code, 0);
  EXPECT_TRUE(read_file(path("out.c63")) == whole(input_));
}

TEST_F(Segments, ThatAreNotAllOfOneVideoAreRefusedByName) {
  const Words three = encode_segments(3, input_);
  expect_refused({three[0], three[2]}, "C63-JOIN-MISSING");
  expect_refused({three[0], three[1]}, "C63-JOIN-MISSING");
  expect_refused({three[0], three[1], three[1], three[2]}, "C63-JOIN-TWICE");
  fs::copy(three[1], path("other.c63"));
  fs::copy(three[1] + ".json", path("other.c63.json"));
  expect_refused({three[0], three[1], path("other.c63"), three[2]}, "C63-JOIN-TWICE");
  EXPECT_EQ(run(encode(input_, {"--segment", "1/2", "-o", path("other.c63")})).exit_code, 0);
  expect_refused({path("other.c63"), three[1], three[2]}, "C63-JOIN-COUNT");
  EXPECT_EQ(run(encode(input_, {"--segment", "1/3", "-q", "26", "-o", path("other.c63")})).exit_code, 0);
  expect_refused({path("other.c63"), three[1], three[2]}, "C63-JOIN-SETTINGS");
  std::string changed = read_file(input_);
  changed.back() = static_cast<char>(changed.back() ^ 1);
  write_file("changed_32x32.yuv", changed);
  EXPECT_EQ(run(encode(path("changed_32x32.yuv"), {"--segment", "1/3", "-o", path("other.c63")})).exit_code, 0);
  expect_refused({path("other.c63"), three[1], three[2]}, "C63-JOIN-INPUT");
}

TEST_F(Segments, ThatAreNotWholeAreRefusedByName) {
  const Words three = encode_segments(3, input_);
  const std::string bytes = read_file(three[1]);
  std::string changed = bytes;
  changed[changed.size() / 2] = static_cast<char>(changed[changed.size() / 2] ^ 4);
  for (const std::string& damaged : {changed, bytes.substr(1), bytes + "x"}) {
    write_file("seg2.c63", damaged);
    expect_refused(three, "C63-SEGMENT-DAMAGED");
  }
  write_file("seg2.c63", bytes);
  edit_record(2, [](auto& json) { json["frames"] = 5; });
  expect_refused(three, "C63-JOIN-FRAMES");
  edit_record(2, [](auto& json) { json["frames"] = 7; });
  expect_refused(three, "C63-JOIN-FRAMES");
  edit_record(2, [](auto& json) { json["frames"] = 6, json["video_frames"] = 25; });
  expect_refused(three, "C63-JOIN-FRAMES");
  const std::vector<std::pair<const char*, int>> wrong = {
      {"segment", 4},  {"segment", 0},           {"frames", -1}, {"sha256", 7}, {"c63_segment_record", 2},
      {"bytes", -1},   {"segments", 2147483647}, {"first_frame", -3}};
  for (const auto& [key, value] : wrong) {
    edit_record(2, [key = key, value = value](auto& json) { json["video_frames"] = 24, json[key] = value; });
    expect_refused(three, "C63-SEGMENT-RECORD");
    (void)encode_segments(3, input_);
  }
  for (const std::string& text : {std::string("not JSON\x01"), deep_json()}) {
    write_file("seg2.c63.json", text);
    expect_refused(three, "C63-SEGMENT-RECORD");
  }
  fs::remove(three[1] + ".json");
  expect_refused(three, "C63-SEGMENT-NO-RECORD");
}

TEST_F(Segments, AreNotOverwrittenByTheStreamOfAll) {
  const Words files = encode_segments(2, input_);
  const Words records = {files[0] + ".json", files[1] + ".json"};
  for (const std::string& input : files + records) {
    const std::string before = read_file(input);
    for (const Words& named : {files, records, Words{files[0], records[1]}}) {
      expect_one_line(run(Words{kJoin, "--quiet", "-o", input} + named), 2, "c63join", "C63-SAME-FILE");
    }
    EXPECT_TRUE(read_file(input) == before) << input;
  }
  expect_one_line(run(Words{kJoin, "--quiet", "-o", path("no/folder/out.c63")} + files), 6, "c63join", "C63-WRITE-OPEN");
}

TEST_F(Segments, ShareAPlanThatTheFirstOfThemMade) {
  const Words options = {"--scenecut", "--segment-plan", path("plan.json")};
  const auto log_of = [&](int number) {
    Words command =
        encode(input_, options) + Words{"--segment", std::to_string(number) + "/2", "-o", segment_file(number)};
    std::erase(command, "--quiet");
    return run(command).err;
  };
  constexpr std::string_view kPass = "reading the whole input";
  EXPECT_NE(log_of(1).find(kPass), std::string::npos);
  EXPECT_EQ(log_of(2).find(kPass), std::string::npos);
  EXPECT_EQ(join({segment_file(1), segment_file(2)}).exit_code, 0);
  EXPECT_TRUE(read_file(path("out.c63")) == whole(input_, {"--scenecut"}));
  expect_one_line(encode_segment(1, 2, input_, {"--segment-plan", path("plan.json")}), 4, "c63enc", "C63-SEGMENT-PLAN");
  const auto good = nlohmann::ordered_json::parse(read_file(path("plan.json")));
  for (const std::string& text : {std::string("[]"), deep_json()}) {
    write_file("plan.json", text);
    expect_one_line(encode_segment(1, 2, input_, options), 4, "c63enc", "C63-SEGMENT-PLAN");
  }
  using Json = nlohmann::ordered_json;
  const std::vector<std::pair<const char*, Json>> wrong = {
      {"video_frames", 1'000'000'000'000'000}, {"video_frames", 25},           {"video_frames", 23},
      {"video_frames", -1},                    {"video_frames", 1e300},        {"scene_starts", {7, 1e300}},
      {"scene_starts", {7, 24}},               {"scene_starts", {-1, 7}},      {"scene_starts", {12, 7}},
      {"seek_points", {{24, 0, 0}}},           {"seek_points", {{0, 1e300, 0}}}, {"seek_points", {{0}}},
      {"frame_sums", {-1}}};
  for (const auto& [key, value] : wrong) {
    SCOPED_TRACE(key + (" " + value.dump()));
    Json json = good;
    json[key] = value;
    write_file("plan.json", json.dump());
    expect_one_line(encode_segment(1, 2, input_, options), 4, "c63enc", "C63-SEGMENT-PLAN");
  }
}

#if defined(C63_HAVE_FFMPEG)
TEST_F(Segments, HaveAPlanOfNoMoreFramesThanAContainerHas) {
  if (!have_command("ffmpeg")) GTEST_SKIP() << "no ffmpeg";
  const std::string file = path("in.mp4");
  ASSERT_EQ(shell("ffmpeg -v error -f rawvideo -pix_fmt yuv420p -s 32x32 -i " + input_ + " -c:v libx264 " + file).exit_code, 0);
  const Words options = {"--segment-plan", path("plan.json")};
  EXPECT_EQ(encode_segment(1, 2, file, options).exit_code, 0);
  const auto good = nlohmann::ordered_json::parse(read_file(path("plan.json")));
  for (const bool has_sums : {true, false}) {
    auto json = good;
    json["video_frames"] = 1'000'000'000'000'000;
    if (!has_sums) json["frame_sums"] = nlohmann::ordered_json::array();
    write_file("plan.json", json.dump());
    expect_one_line(encode_segment(1, 2, file, options), 4, "c63enc", "C63-SEGMENT-PLAN");
  }
}
#endif

}  // namespace
}  // namespace c63::test
