#include <nlohmann/json.hpp>
#include <map>
#include <set>
#include <sstream>

#include "support/shell.h"
#include "support/trace_format.h"
#include "tools_test_support.h"

// Tests what the programs' options do, by running the programs.

namespace c63::test {
namespace {

class Options : public ToolsTest {
 protected:
  void SetUp() override {
    video_ = generate({'B', 0, 32, 32, 8});
    input_ = write_file("clip_32x32.yuv", video_);
  }

  /// Runs c63enc with these options, and returns the stream that it writes.
  [[nodiscard]] std::string encode(const std::vector<std::string>& more, std::string_view standard_input = {}) const {
    const ProcessResult result = expect_success(run(joined({kEnc, "--quiet", "-o", "-"}, more), standard_input));
    EXPECT_EQ(result.err, "");
    EXPECT_FALSE(result.out.empty());
    return result.out;
  }

  std::string video_;
  std::string input_;
};

TEST_F(Options, TheSizeComesFromTheOptionsOrTheName) {
  const std::string plain = write_file("plain.yuv", video_);
  const std::string expected = encode({"-w", "32", "-h", "32", plain});
  EXPECT_EQ(encode({input_}), expected);
  EXPECT_EQ(encode({"-i", input_}), expected);
  EXPECT_EQ(encode({"--input-res", "32x32", plain}), expected);
  EXPECT_EQ(encode({"-w32", "-h32", plain}), expected);
  EXPECT_EQ(encode({"--width=32", "--height=32", plain}), expected);
}

TEST_F(Options, FramesAndSeekChooseAPart) {
  const std::string middle = write_file("middle_32x32.yuv", std::string_view(video_).substr(2 * kFrame32, 3 * kFrame32));
  EXPECT_EQ(encode({"--seek", "2", "-f", "3", input_}), encode({middle}));
  EXPECT_EQ(encode({"--seek", "2", "-f", "3", "-w", "32", "-h", "32", "-"}, video_), encode({middle}));
  EXPECT_EQ(encode({"-f", "0", input_}), encode({input_}));
  EXPECT_EQ(encode({"-f", "100", input_}), encode({input_}));

  const std::string stream = write_file("s.c63", encode({input_}));
  const std::string all = run({kDec, "--quiet", stream, "-"}).out;
  EXPECT_EQ(run({kDec, "--quiet", "--seek", "3", "-f", "2", stream, "-"}).out, all.substr(3 * kFrame32, 2 * kFrame32));
}

TEST_F(Options, CodingOptionsChangeTheBytesAndTheLogSaysSo) {
  const std::string reference = encode({input_});
  EXPECT_EQ(encode({"--preset", "reference", "-q", "25", "--keyint", "100", "--merange", "16", "--me", "full", input_}),
            reference);
  EXPECT_EQ(encode({"--me", "full-brute", "--simd", "scalar", input_}), reference);
  for (const std::vector<std::string>& option :
       {std::vector<std::string>{"-q", "20"}, {"--keyint", "3"}, {"--merange", "5"}}) {
    EXPECT_NE(encode(joined({input_}, option)), reference) << option[0];
  }
}

TEST_F(Options, SceneCutsArePlacedAndReported) {
  std::string scenes;
  for (const char* pattern : {"natural", "stars", "noise"}) {
    const ProcessResult made =
        run({kGen, "--quiet", "--pattern", pattern, "-w", "64", "-h", "48", "-f", "5", "-o", "-"});
    ASSERT_EQ(made.exit_code, 0) << made.err;
    scenes += made.out;
  }
  const std::string input = write_file("scenes_64x48.yuv", scenes);
  const std::string reference = encode({input});
  EXPECT_EQ(encode({"--no-scenecut", input}), reference);
  const std::string cut = encode({"--scenecut", "--csv", path("f.csv"), "--json", path("j"), "--keyint", "3", input});
  EXPECT_EQ(encode({"--scenecut", "--keyint", "3", "--lanes", "4", "-w", "64", "-h", "48", "-"}, scenes), cut);
  const auto json = nlohmann::json::parse(read_file(path("j")));
  EXPECT_EQ(json["settings"]["scene_cuts"], true);
  EXPECT_EQ(json["result"]["key_frame_indices"], nlohmann::json({0, 3, 5, 8, 10, 13}));
  const std::string csv = read_file(path("f.csv"));
  for (const char* row : {"\n4,inter,", "\n5,key,", "\n8,key,", "\n9,inter,", "\n10,key,"}) {
    EXPECT_NE(csv.find(row), std::string::npos) << row;
  }
}

TEST_F(Options, AConfigurationFileHasTheSameKeysAndTheCommandLineComesFirst) {
  const std::string config = write_file("c63.conf", "\xEF\xBB\xBFqp=20\nkeyint=3\nmerange=5\n# a comment\nquiet=true\n");
  EXPECT_EQ(encode({"--config", config, input_}), encode({"-q", "20", "--keyint", "3", "--merange", "5", input_}));
  EXPECT_EQ(encode({"--config", config, "-q", "25", input_}), encode({"--keyint", "3", "--merange", "5", input_}));
  EXPECT_EQ(encode({"-q", "0x14", "--keyint", "0x3", "--merange", "0X5", input_}), encode({"--config", config, input_}));
}

TEST_F(Options, AnErrorInAConfigurationFileNamesItsLine) {
  for (const char* wrong : {"quality=3", "qp=thirty", "lanes=-3", "list-devices=true", "[me]"}) {
    const std::string config = write_file("c63.conf", std::string("# a comment\nkeyint=3\n\n") + wrong + "\n");
    const ProcessResult result = run({kEnc, "--quiet", "--config", config, input_, path("o.c63")});
    expect_one_line(result, 2, "c63enc", "C63-USAGE");
    EXPECT_TRUE(result.err.starts_with("c63enc: " + config + ": line 4: ")) << result.err;
  }
  // What is on the command line is not in the file.
  const std::string config = write_file("c63.conf", "qp=20\n");
  EXPECT_EQ(run({kEnc, "--quiet", "--config", config, "--qp", "x", input_, path("o.c63")}).err.find("line"), std::string::npos);
}

TEST_F(Options, AnOutputThatCannotBeReplacedIsWrittenInPlace) {
  const std::string out = write_file("o.c63", std::string(100'000, 'x'));
  const std::string in_namespace = "unshare -rm sh -c 'mount --bind " + out + " " + out;
  if (shell(in_namespace + "' 2>&1").exit_code != 0) GTEST_SKIP() << "no mount points for this user";
  const std::string expected = encode({input_});
  EXPECT_EQ(shell(in_namespace + " && " + kEnc + " --quiet " + input_ + " -o " + out + "' 2>&1").exit_code, 0);
  EXPECT_EQ(read_file(out), expected);
}

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> fields(1);
  for (const char c : line) {
    if (c == ',') {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

TEST_F(Options, Y4mOutputHoldsTheSameFrames) {
  const std::string stream = write_file("s.c63", encode({input_}));
  const std::string raw = run({kDec, "--quiet", stream, "-"}).out;
  ASSERT_EQ(run({kDec, "--quiet", "--fps", "30000/1001", stream, path("o.y4m")}).exit_code, 0);
  const std::string y4m = read_file(path("o.y4m"));
  EXPECT_TRUE(y4m.starts_with("YUV4MPEG2 W32 H32 F30000:1001 ")) << y4m.substr(0, 60);
  EXPECT_NE(y4m.find("FRAME\n" + raw.substr(0, kFrame32)), std::string::npos);
  EXPECT_EQ(encode({path("o.y4m")}), encode({"-w", "32", "-h", "32", "-"}, raw));
  const std::string sum = run({kDec, "--quiet", "--md5", stream, path("o.yuv")}).out;
  EXPECT_EQ(sum, tools::md5(raw) + "  " + path("o.yuv") + "\n");
}

TEST_F(Options, CsvHasARowPerFrame) {
  ASSERT_EQ(run({kEnc, "--quiet", "--ssim", "--csv", path("f.csv"), "-o", path("o.c63"), input_}).exit_code, 0);
  std::istringstream csv(read_file(path("f.csv")));
  std::string line;
  ASSERT_TRUE(std::getline(csv, line));
  EXPECT_TRUE(line.starts_with("frame,type,bytes,")) << line;
  const auto columns = std::count(line.begin(), line.end(), ',');
  std::size_t bytes = 0;
  int rows = 0;
  for (; std::getline(csv, line); ++rows) {
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), columns) << line;
    const std::string start = std::to_string(rows) + (rows == 0 ? ",key," : ",inter,");
    ASSERT_TRUE(line.starts_with(start)) << line;
    bytes += std::stoul(line.substr(start.size()));
  }
  EXPECT_EQ(rows, 8);
  EXPECT_EQ(bytes, read_file(path("o.c63")).size());
}

TEST_F(Options, BitsByKindAddUp) {
  expect_success(run({kEnc, "--bits", "--csv", path("f.csv"), "--json", path("j"), "-o", path("o.c63"), input_}));
  const auto json = nlohmann::json::parse(read_file(path("j")));
  const auto& kinds = json["bits_by_kind"];
  std::map<std::string, std::uint64_t> sums;
  std::istringstream csv(read_file(path("f.csv")));
  std::string line;
  std::getline(csv, line);
  const auto names = split(line);
  while (std::getline(csv, line)) {
    const auto values = split(line);
    ASSERT_EQ(values.size(), names.size()) << line;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (kinds.contains(names[i]) && names[i] != "header_bits") sums[names[i]] += std::stoull(values[i]);
    }
  }
  std::uint64_t all = kinds["header_bits"];
  for (const char* kind : {"flag_bits", "vector_bits", "dc_bits", "ac_bits", "end_of_block_bits"}) {
    EXPECT_EQ(sums[kind], kinds[kind].get<std::uint64_t>()) << kind;
    all += sums[kind];
  }
  EXPECT_EQ(all, 8 * read_file(path("o.c63")).size());

  ASSERT_EQ(run({kEnc, "--quiet", "--json", path("j"), "-o", path("o.c63"), input_}).exit_code, 0);
  EXPECT_TRUE(nlohmann::json::parse(read_file(path("j")))["bits_by_kind"].is_null());
}

TEST_F(Options, TracesFollowTheirFormatAndNameTheWholeRun) {
  const auto expect_all_named = [](const ProcessResult& result, const std::vector<std::string>& rows) {
    ASSERT_EQ(result.exit_code, 0) << result.err;
    for (const std::string& row : rows) {
      const auto at = result.err.find(": " + row + " ");
      ASSERT_NE(at, std::string::npos) << row << " in\n" << result.err;
      const auto named = result.err.find(" % named\n", at);
      ASSERT_NE(named, std::string::npos) << result.err;
      const auto share = std::stod(result.err.substr(result.err.rfind(' ', named - 1)));
      EXPECT_GE(share, 95) << row << " in\n" << result.err;
      EXPECT_LE(share, 100) << row << " in\n" << result.err;
    }
  };
  for (const char* threads : {"1", "2"}) {
    expect_all_named(run({kEnc, "--backend", "cpu", "--threads", threads, "--keyint", "3", "--trace", path("e.json"), "-o",
                          path("o.c63"), input_}),
                     {"loop", "lanes"});
    auto frames = check_trace(read_file(path("e.json")));
    EXPECT_EQ(frames["code"].size(), 8U);
    EXPECT_EQ(frames["search"].size(), 5U);
    for (const std::string& program : {kDec, kPred}) {
      expect_all_named(run({program, "--threads", threads, "--trace", path("d.json"), path("o.c63"), path("o.yuv")}),
                       {"loop", "threads"});
      frames = check_trace(read_file(path("d.json")));
      // A frame is decoded a few rows at a time, so it has several spans of each stage. All 8 frames must occur.
      for (const char* stage : {"entropy", "restore"}) {
        EXPECT_EQ(std::set(frames[stage].begin(), frames[stage].end()).size(), 8U) << stage;
      }
    }
  }
}

TEST_F(Options, JsonTellsSettingsMachineAndResult) {
  const ProcessResult result = expect_success(run({kEnc, "--quiet", "--ssim", "-q", "20", "--compare-cpu", "--json", "-", "-o", path("o.c63"), input_}));
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["settings"]["qp"], 20);
  EXPECT_EQ(json["settings"]["differences_from_course"].size(), 1U);
  EXPECT_EQ(json["result"]["frames"], 8);
  EXPECT_EQ(json["result"]["bytes"], read_file(path("o.c63")).size());
  EXPECT_EQ(json["compare_cpu"]["bytes_identical"], true);
  EXPECT_GT(json["quality"]["psnr_y_db"].get<double>(), 20);
  EXPECT_GT(json["quality"]["ssim_y"].get<double>(), 0.5);
  EXPECT_FALSE(json["machine"]["cpu"].get<std::string>().empty());
  const auto& bits = json["bits"];
  EXPECT_EQ(bits["header_bits"].get<std::size_t>() + bits["motion_bits"].get<std::size_t>() +
                bits["luma_bits"].get<std::size_t>() + bits["chroma_bits"].get<std::size_t>(),
            8 * read_file(path("o.c63")).size());
}

TEST_F(Options, TheLogFileGetsEverythingWithErrorsToo) {
  ASSERT_EQ(run({kEnc, "--quiet", "--log-file", path("log"), "-o", path("o.c63"), input_}).exit_code, 0);
  EXPECT_NE(read_file(path("log")).find("frame 7: inter"), std::string::npos);
  ASSERT_EQ(run({kEnc, "--quiet", "--log-file", path("log"), "-o", "/dev/full", input_}).exit_code, 6);
  EXPECT_NE(read_file(path("log")).find("C63-WRITE-FAILED"), std::string::npos);
}

TEST_F(Options, JsonProgressIsAnObjectALine) {
  const std::string text = run({kEnc, "--log-level", "off", "--progress", "json", "-o", path("o.c63"), input_}).err;
  ASSERT_EQ(lines_in(text), 1) << text;
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["frames"], 8);
  EXPECT_EQ(json["total_frames"], 8);

  const std::vector<std::vector<std::string>> others = {{kDec, path("o.c63"), path("o.yuv")},
                                                        {kPred, path("o.c63"), path("o.yuv")},
                                                        {kGen, "-w", "16", "-h", "16", "-f", "8", "-o", path("g.yuv")}};
  for (std::vector<std::string> command : others) {
    command.insert(command.end(), {"--log-level", "off", "--progress", "json"});
    const std::string line = run(command).err;
    ASSERT_EQ(lines_in(line), 1) << command[0] << ": " << line;
    EXPECT_EQ(nlohmann::json::parse(line)["frames"], 8) << command[0];
  }
}

}  // namespace
}  // namespace c63::test
