// Tests c63mv, and c63enc --stats-yuview, as programs.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <map>
#include <regex>

#include "c63/decoder.h"
#include "motion_program_fixture.h"
#include "support/compact_stream.h"
#include "support/shared_data.h"
#include "support/shell.h"
#include "support/temporary_folder.h"

namespace c63::tools {
namespace {

/// What a statistics file for YUView contains. parse_yuview() fails the test if a line breaks the format's grammar.
struct YuviewFile {
  std::map<int, std::string> kinds;                     // type id: vector or range
  std::map<int, std::map<int, std::vector<std::vector<int>>>> rows;  // frame, type: x, y, w, h, values
  int width = 0;
  int height = 0;
};

YuviewFile parse_yuview(const std::string& path) {
  static const std::regex kVersion("%;syntax-version;v1\\.2");
  static const std::regex kSequence("%;seq-specs;[^;]+;0;(\\d+);(\\d+);[0-9.]+;");
  static const std::regex kType("%;type;(\\d+);[^;]+;(vector|range);");
  static const std::regex kVectorColour("%;vectorColor;\\d+;\\d+;\\d+;\\d+");
  static const std::regex kScale("%;scaleFactor;\\d+");
  static const std::regex kRange("%;defaultRange;-?\\d+;-?\\d+;jet");
  static const std::regex kGrid("%;gridColor;\\d+;\\d+;\\d+;");
  static const std::regex kVectorRow("(\\d+);(\\d+);(\\d+);(\\d+);(\\d+);(\\d+);(-?\\d+);(-?\\d+)");
  static const std::regex kRangeRow("(\\d+);(\\d+);(\\d+);(\\d+);(\\d+);(\\d+);(-?\\d+);");
  YuviewFile result;
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  std::string line;
  std::smatch m;
  int number = 0;
  int type = -1;
  int last_frame = -1;
  while (std::getline(file, line)) {
    const auto fail = [&] { ADD_FAILURE() << "line " << number << ": " << line; };
    ++number;
    if (number == 1) {
      if (!std::regex_match(line, kVersion)) fail();
    } else if (number == 2) {
      if (!std::regex_match(line, m, kSequence)) {
        fail();
        continue;
      }
      result.width = std::stoi(m[1]);
      result.height = std::stoi(m[2]);
    } else if (line.starts_with("%")) {
      EXPECT_TRUE(result.rows.empty()) << "a header line after rows";
      if (std::regex_match(line, m, kType)) {
        type = std::stoi(m[1]);
        EXPECT_TRUE(result.kinds.emplace(type, m[2]).second) << "type " << type << " twice";
      } else {
        const bool vector = result.kinds[type] == "vector";
        const bool good = vector ? std::regex_match(line, kVectorColour) || std::regex_match(line, kScale)
                                 : std::regex_match(line, kRange) || std::regex_match(line, kGrid);
        if (!good) fail();
      }
    } else {
      const bool is_vector = std::regex_match(line, m, kVectorRow);
      if (!is_vector && !std::regex_match(line, m, kRangeRow)) {
        fail();
        continue;
      }
      const int frame = std::stoi(m[1]);
      const int id = std::stoi(m[6]);
      EXPECT_GE(frame, last_frame) << "the rows of a frame are not together";
      last_frame = frame;
      EXPECT_EQ(result.kinds[id], is_vector ? "vector" : "range") << line;
      std::vector<int> values;
      for (std::size_t i = 2; i < m.size(); ++i) {
        if (i != 6) values.push_back(std::stoi(m[i]));
      }
      EXPECT_LE(values[0] + values[2], result.width);
      EXPECT_LE(values[1] + values[3], result.height);
      result.rows[frame][id].push_back(values);
    }
  }
  return result;
}

TEST_F(MotionProgramTest, SummaryFindsTheTrueMotion) {
  const auto result = test::expect_success(run("--truth '" + file("truth.csv") + "'"));
  EXPECT_NE(result.output.find("frames 5: key 2, inter 3"), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("most frequent: -3,2"), std::string::npos) << result.output;
  std::smatch m;
  ASSERT_TRUE(std::regex_search(result.output, m, std::regex("endpoint error over (\\d+) blocks: mean ([0-9.]+) samples, median ([0-9.]+)"))) << result.output;
  EXPECT_GT(std::stoi(m[1]), 100);
  EXPECT_EQ(std::stod(m[3]), 0);
  // In this copy of the true motion, every vector is wrong by one sample. The error must then be 1.
  std::ifstream truth(file("truth.csv"));
  std::ofstream wrong(file("wrong.csv"));
  for (std::string line; std::getline(truth, line);) {
    const auto at = line.find(",-3,2");
    wrong << (at == std::string::npos ? line : line.substr(0, at) + ",-3,3") << "\n";
  }
  wrong.close();
  EXPECT_NE(run("--truth '" + file("wrong.csv") + "'").output.find("median 1.000"), std::string::npos);
}

TEST_F(MotionProgramTest, YuviewKeepsItsGrammar) {
  ASSERT_EQ(run("--format yuview -o '" + file("mv.csv") + "'").exit_code, 0);
  const YuviewFile mv = parse_yuview(file("mv.csv"));
  EXPECT_EQ(mv.width, 96);
  EXPECT_EQ(mv.height, 60);
  EXPECT_EQ(mv.kinds.size(), 4U);
  ASSERT_EQ(mv.rows.size(), 5U);
  for (const auto& [frame, types] : mv.rows) {
    const bool key = frame % 3 == 0;
    EXPECT_EQ(types.count(0), key ? 0U : 1U) << "vectors in frame " << frame;
    for (const auto& [id, rows] : types) EXPECT_EQ(rows.size(), 12U * 8U) << "frame " << frame << ", type " << id;
  }
  // The encoder writes such a file, too. It has the same vectors and bits, but its SADs are against the source.
  const YuviewFile encoder = parse_yuview(file("enc.csv"));
  ASSERT_EQ(encoder.rows.size(), 5U);
  for (const auto& [frame, types] : mv.rows) {
    for (const int id : {0, 2, 3}) {
      if (types.count(id) != 0) {
        EXPECT_EQ(types.at(id), encoder.rows.at(frame).at(id)) << "frame " << frame << ", type " << id;
      }
    }
  }
  EXPECT_EQ(encoder.rows.at(1).count(1), 1U) << "SADs";
}

TEST_F(MotionProgramTest, TypesChooseWhatIsWritten) {
  ASSERT_EQ(run("--format yuview --type bits -o '" + file("bits.csv") + "'").exit_code, 0);
  const YuviewFile bits = parse_yuview(file("bits.csv"));
  ASSERT_EQ(bits.kinds.size(), 1U);
  EXPECT_EQ(bits.kinds.begin()->first, 2);
}

TEST_F(MotionProgramTest, CsvAndJsonHoldEveryBlock) {
  const auto csv = test::expect_success(run("--format csv -f 2"));
  // A picture of 96x60 is coded as 96x64. That gives 12x8 blocks of luma, and 6x4 blocks in each chroma plane.
  EXPECT_EQ(std::count(csv.output.begin(), csv.output.end(), '\n'), 1 + 2 * (12 * 8 + 2 * 6 * 4));
  ASSERT_EQ(run("-o '" + file("mv.json") + "' --source '" + file("pan_96x60.yuv") + "'").exit_code, 0);
  const auto json = nlohmann::json::parse(std::ifstream(file("mv.json")));
  EXPECT_EQ(json["frames"].size(), 5U);
  EXPECT_EQ(json["frames"][1]["vectors"].size(), 96U);
  EXPECT_EQ(json["frames"][1]["sads"].size(), 96U);
  EXPECT_EQ(json["summary"]["sad_of"], "source");
}

TEST_F(MotionProgramTest, PicturesAndPages) {
  ASSERT_EQ(run("-o '" + file("mv.ppm") + "' --scale 2 --type mv,bits").exit_code, 0);
  std::ifstream picture(file("mv.ppm"), std::ios::binary);
  std::string magic;
  int width = 0;
  int height = 0;
  picture >> magic >> width >> height;
  EXPECT_EQ(std::tuple(magic, width, height), std::tuple("P6", 2 * 2 * 96, 2 * 60)) << "two panels side by side";
  EXPECT_EQ(run("-o '" + file("mv.ppm") + "' --frame 99").exit_code, 2);
  EXPECT_EQ(run("--format png").exit_code, 2);
  EXPECT_NE(run("--beside '" + stream_ + "' -o '" + file("mv.csv") + "'").output.find("--beside needs --format html"),
            std::string::npos);
}

TEST_F(MotionProgramTest, ShearedPicturesAreShownAsCoded) {
  // A row of the coded plane has 96 samples, a row of the picture only 92. The codec fills the plane sample after
  // sample. So each row down shifts the picture by 4 samples, and the pan's vector (-3, 2) becomes (-3 - 2*4, 2).
  ASSERT_EQ(test::shell(fmt::format("'{0}/c63gen' --quiet --pattern pan --mv 3,-2 -w 92 -h 60 -f 3 --truth '{1}' -o '{2}' && "
                                    "'{0}/c63enc' --quiet --backend cpu '{2}' -o '{3}' --stats-yuview '{4}' 2>&1",
                                    C63_BIN_DIR, file("truth92.csv"), file("pan_92x60.yuv"), file("92.c63"), file("92.csv")))
                .exit_code,
            0);
  const std::string mv = "'" C63_BIN_DIR "/c63mv' '" + file("92.c63") + "' ";
  const auto summary = test::shell(mv + "2>&1");
  EXPECT_NE(summary.output.find("most frequent: -11,2"), std::string::npos) << summary.output;
  const auto truth = test::shell(mv + "--truth '" + file("truth92.csv") + "' 2>&1");
  EXPECT_EQ(truth.exit_code, 2);
  EXPECT_NE(truth.output.find("C63-MV-SHEARED"), std::string::npos) << truth.output;
  const YuviewFile yuview = parse_yuview(file("92.csv"));
  EXPECT_EQ(std::tuple(yuview.width, yuview.height), std::tuple(96, 64));
  ASSERT_EQ(test::shell(mv + "--quiet --type mv --scale 1 -o '" + file("92.ppm") + "'").exit_code, 0);
}

TEST_F(MotionProgramTest, RepeatsAndInheritedVectors) {
  // The stream's frames: a key frame, a repeat, an inter frame, two frames without SOF, a repeat.
  test::CompactStreamWriter writer(96, 64, 8);
  writer.add_key();
  writer.add_repeat();
  writer.add_inter();
  writer.add_replacing();
  writer.add_replacing();
  writer.add_repeat();
  const test::Bytes bytes = writer.bytes();
  test::write_bytes(file("compact.c63"), bytes);
  std::vector<DecodedFrame> frames;
  Decoder({.keep_motion = true}).decode(bytes, [&](DecodedFrame&& frame) { frames.push_back(std::move(frame)); });
  const auto mv = [&](const std::string& arguments) {
    return test::shell("'" C63_BIN_DIR "/c63mv' --progress none '" + file("compact.c63") + "' " + arguments + " 2>&1");
  };

  const auto summary = mv("");
  ASSERT_EQ(summary.exit_code, 0) << summary.output;
  EXPECT_NE(summary.output.find("frames 6: key 1, inter 3, repeats 2"), std::string::npos) << summary.output;

  ASSERT_EQ(mv("--format yuview -o '" + file("compact.csv") + "'").exit_code, 0);
  const YuviewFile yuview = parse_yuview(file("compact.csv"));
  EXPECT_EQ(yuview.rows.count(1), 0U);
  EXPECT_EQ(yuview.rows.count(5), 0U);
  EXPECT_EQ(yuview.rows.at(0).count(0), 0U);
  for (const int f : {2, 3, 4}) {
    const MotionField& motion = frames.at(static_cast<std::size_t>(f)).motion[0];
    std::vector<std::vector<int>> rows;
    for (std::size_t block = 0; block < motion.vectors.size(); ++block) {
      if (motion.inter[block] == 0) continue;
      rows.push_back({static_cast<int>(block % 12) * 8, static_cast<int>(block / 12) * 8, 8, 8, motion.vectors[block].x,
                      motion.vectors[block].y});
    }
    if (f == 2) {  // in later frames nearly every block has a vector or inherits one
      EXPECT_LT(rows.size(), motion.vectors.size());
    }
    EXPECT_EQ(yuview.rows.at(f).at(0), rows) << "frame " << f;
    EXPECT_EQ(yuview.rows.at(f).at(3).size(), motion.vectors.size());
  }

  const auto csv = mv("--format csv --type mv");
  EXPECT_EQ(std::count(csv.output.begin(), csv.output.end(), '\n'), 1 + 4 * (12 * 8 + 2 * 6 * 4));
  ASSERT_EQ(mv("-o '" + file("compact.json") + "'").exit_code, 0);
  const auto json = nlohmann::json::parse(std::ifstream(file("compact.json")));
  ASSERT_EQ(json["frames"].size(), 6U);
  EXPECT_EQ(json["frames"][5], nlohmann::json({{"frame", 5}, {"repeat", true}}));
  EXPECT_EQ(json["summary"]["repeat_frames"], 2);
  for (const char* frame : {"1", "2", "5"}) {
    EXPECT_EQ(mv(fmt::format("--frame {} -o '{}'", frame, file("compact.ppm"))).exit_code, 0) << frame;
  }
}

TEST_F(MotionProgramTest, BlocksWithoutPredictionHaveNoSad) {
  // A SAD compares a block with its prediction. Blocks of key frames have no prediction, nor have some blocks of
  // presets. So the column of their SADs is empty.
  ASSERT_EQ(run("--format csv -f 1 -o '" + file("key.csv") + "'").exit_code, 0);
  std::ifstream csv(file("key.csv"));
  std::string line;
  std::getline(csv, line);
  while (std::getline(csv, line)) EXPECT_NE(line.find(",0,0,0,,"), std::string::npos) << line;
  ASSERT_EQ(run("-f 1 -o '" + file("key.json") + "'").exit_code, 0);
  const auto json = nlohmann::json::parse(std::ifstream(file("key.json")));
  EXPECT_TRUE(json["frames"][0]["sads"][0].is_null());
  ASSERT_EQ(run("--format yuview -f 1 -o '" + file("key_yuview.csv") + "'").exit_code, 0);
  EXPECT_EQ(parse_yuview(file("key_yuview.csv")).rows.at(0).count(1), 0U);

  test::CompactStreamWriter writer(96, 64, 8);
  writer.add_key();
  writer.add_inter();
  const test::Bytes bytes = writer.bytes();
  test::write_bytes(file("some.c63"), bytes);
  ASSERT_EQ(test::shell("'" C63_BIN_DIR "/c63mv' --quiet '" + file("some.c63") + "' -o '" + file("some.json") + "'").exit_code, 0);
  const auto some = nlohmann::json::parse(std::ifstream(file("some.json")));
  double sum = 0;
  int predicted = 0;
  for (std::size_t i = 0; i < some["frames"][1]["inter"].size(); ++i) {
    const bool inter = some["frames"][1]["inter"][i] != 0;
    ASSERT_EQ(some["frames"][1]["sads"][i].is_null(), !inter);
    if (inter) sum += some["frames"][1]["sads"][i].get<double>();
    predicted += inter ? 1 : 0;
  }
  ASSERT_GT(predicted, 0);
  ASSERT_LT(predicted, 96);
  EXPECT_NEAR(some["summary"]["mean_sad"].get<double>(), sum / predicted, 1e-9);
}

TEST_F(MotionProgramTest, DamageIsNamed) {
  auto bytes = test::read_bytes(stream_);
  bytes.resize(bytes.size() - 100);
  test::write_bytes(file("cut.c63"), bytes);
  const auto cut = test::shell("'" C63_BIN_DIR "/c63mv' '" + file("cut.c63") + "' 2>&1");
  EXPECT_EQ(cut.exit_code, 4);
  EXPECT_NE(cut.output.find("frame 4"), std::string::npos) << cut.output;
  std::ofstream(file("bad.csv")) << "frame,x,y,mv_x,mv_y\n1,0,0,1\n";
  const auto bad = run("--truth '" + file("bad.csv") + "'");
  EXPECT_EQ(bad.exit_code, 4);
  EXPECT_NE(bad.output.find("line 2"), std::string::npos) << bad.output;
  EXPECT_EQ(run("--truth '" + stream_ + "'").exit_code, 4);
  std::ofstream(file("empty.csv")) << "";
  EXPECT_EQ(run("--truth '" + file("empty.csv") + "'").exit_code, 4);
  const auto beyond = run("--seek 5");
  EXPECT_EQ(beyond.exit_code, 4);
  EXPECT_NE(beyond.output.find("C63-NO-FRAMES"), std::string::npos) << beyond.output;
  const auto page = run("--frame 5 -o '" + file("none.html") + "'");
  if (page.output.find("C63-NO-PAGE") == std::string::npos) {
    EXPECT_EQ(page.exit_code, 2);
    EXPECT_NE(page.output.find("there is no frame 5"), std::string::npos) << page.output;
    EXPECT_FALSE(std::filesystem::exists(file("none.html")));
  }
}

}  // namespace
}  // namespace c63::tools
