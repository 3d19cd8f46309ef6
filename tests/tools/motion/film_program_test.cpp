// Tests c63mv with films. In every format, its vectors must be those that a search in the decoded samples finds.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "c63/motion.h"
#include "c63/motion_search.h"
#include "motion/npz_file.h"
#include "support/folder_test.h"
#include "support/shell.h"

namespace c63::tools {
namespace {

constexpr int kWidth = 88;  // not a multiple of 16
constexpr int kHeight = 60;  // not a multiple of 8
constexpr int kPaddedHeight = 64;
constexpr int kFrames = 6;

/// Returns the numbers in the rows of a CSV file, without its heading. An empty field becomes -1e9.
std::vector<std::vector<double>> rows_of(const std::string& text) {
  std::vector<std::vector<double>> rows;
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::vector<double> row;
    std::istringstream fields(line + ",");
    for (std::string field; std::getline(fields, field, ',');) row.push_back(field.empty() ? -1e9 : std::stod(field));
    rows.push_back(row);
  }
  return rows;
}

bool has_python_with_numpy() { return test::shell("/usr/bin/python3 -c 'import numpy' 2>/dev/null").exit_code == 0; }

class FilmProgramTest : public testing::Test {
 protected:
  FilmProgramTest() {
    EXPECT_EQ(test::shell(fmt::format("'{}/c63gen' --quiet --pattern objects -w {} -h {} -f {} -o '{}'", C63_BIN_DIR, kWidth, kHeight,
                                      kFrames, raw_))
                  .exit_code,
              0);
  }
  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }
  [[nodiscard]] static test::ShellResult mv(const std::string& arguments) {
    return test::shell("'" C63_BIN_DIR "/c63mv' --backend cpu --progress none " + arguments + " 2>&1");
  }
  /// Returns the luma planes of all frames. They are padded at the bottom, with copies of the picture's last row.
  [[nodiscard]] std::vector<std::vector<std::uint8_t>> padded_luma() const {
    const std::string bytes = test::read_file(raw_);
    std::vector<std::vector<std::uint8_t>> planes;
    for (std::size_t f = 0; f < kFrames; ++f) {
      std::vector<std::uint8_t> plane;
      for (std::size_t y = 0; y < kPaddedHeight; ++y) {
        const std::size_t from = f * kWidth * kHeight * 3 / 2 + std::min<std::size_t>(y, kHeight - 1) * kWidth;
        plane.insert(plane.end(), bytes.begin() + static_cast<std::ptrdiff_t>(from), bytes.begin() + static_cast<std::ptrdiff_t>(from + kWidth));
      }
      planes.push_back(plane);
    }
    return planes;
  }
  void expect_csv_of(const std::string& csv, int distance) const {
    const auto planes = padded_luma();
    const auto rows = rows_of(csv);
    const auto view = [&](int frame) { return ConstPlaneView{planes[static_cast<std::size_t>(frame)].data(), kWidth, kPaddedHeight, kWidth}; };
    std::size_t row = 0;
    for (int frame = 0; frame < kFrames; ++frame) {
      const int reference = frame - distance;
      if (reference < 0 || reference >= kFrames) continue;
      const MotionField field = estimate_motion(view(frame), view(reference), 7);
      for (std::size_t i = 0; i < field.vectors.size(); ++i, ++row) {
        ASSERT_LT(row, rows.size());
        const std::vector<double> expected{static_cast<double>(frame), static_cast<double>(reference),
                                           static_cast<double>(i % kBlocks * 8), static_cast<double>(i / kBlocks * 8),
                                           static_cast<double>(field.vectors[i].x), static_cast<double>(field.vectors[i].y),
                                           static_cast<double>(field.sads[i])};
        ASSERT_EQ(rows[row], expected);
      }
    }
    EXPECT_EQ(row, rows.size());
  }

  static constexpr std::size_t kBlocks = kWidth / 8;
  test::TemporaryFolder folder_;
  std::string raw_ = file(fmt::format("o_{}x{}.yuv", kWidth, kHeight));
};

TEST_F(FilmProgramTest, VectorsAreThoseOfTheDecodedSamples) {
  const auto csv = mv("--merange 7 --format csv '" + raw_ + "'");
  ASSERT_EQ(csv.exit_code, 0) << csv.output;
  expect_csv_of(csv.output, 1);
  for (const int distance : {2, -1, -3}) {
    SCOPED_TRACE(distance);
    expect_csv_of(mv(fmt::format("--merange 7 --format csv --distance {} '{}'", distance, raw_)).output, distance);
  }
  const auto piped = test::shell(fmt::format("cat '{}' | '{}/c63mv' --backend cpu --quiet --merange 7 --format csv -w {} -h {} - 2>&1", raw_,
                                             C63_BIN_DIR, kWidth, kHeight));
  EXPECT_EQ(piped.output, csv.output);
}

TEST_F(FilmProgramTest, TrueMotionIsThatOfTheLibrary) {
  const std::string options = "--quiet --merange 200 --fraction 32 --block 16 --smooth 4 --check 2 ";
  const auto rows = rows_of(mv(options + "--format csv '" + raw_ + "'").output);
  const auto json = nlohmann::json::parse(mv(options + "--format json '" + raw_ + "'").output);
  ASSERT_EQ(mv(options + "-o '" + file("flow-%d.flo") + "' '" + raw_ + "'").exit_code, 0);
  ASSERT_EQ(mv(options + "-o '" + file("fine.npz") + "' '" + raw_ + "'").exit_code, 0);
  const std::string arrays = test::read_file(file("fine.npz"));
  const auto planes = padded_luma();
  std::size_t row = 0;
  for (std::size_t frame = 1; frame < kFrames; ++frame) {
    const auto view = [&](std::size_t index) { return ConstPlaneView{planes[index].data(), kWidth, kPaddedHeight, kWidth}; };
    const MotionPair pair{view(frame), view(frame - 1)};
    constexpr std::size_t kAll = kBlocks * kPaddedHeight / 8;
    std::vector<FineVector> vectors(kAll);
    std::vector<std::uint16_t> sads(kAll);
    std::vector<std::uint8_t> agrees(kAll);
    estimate_fine_motion({&pair, 1}, {.range = 200, .block = 16, .fraction = 32, .smooth = 4, .check = 16},
                         {.sads = sads.data(), .fine = vectors.data(), .agrees = agrees.data()});
    std::vector<float> samples;
    for (std::size_t i = 0; i < kAll; ++i, ++row) {
      samples.insert(samples.end(), {static_cast<float>(vectors[i].x) / 32, static_cast<float>(vectors[i].y) / 32});
      const std::vector<double> expected{static_cast<double>(frame), static_cast<double>(frame) - 1, static_cast<double>(i % kBlocks * 8),
                                         static_cast<double>(i / kBlocks * 8), vectors[i].x / 32.0, vectors[i].y / 32.0,
                                         static_cast<double>(sads[i]), static_cast<double>(agrees[i])};
      ASSERT_LT(row, rows.size());
      ASSERT_EQ(rows[row], expected);
      ASSERT_EQ(json["frames"][frame]["vectors"][i], (nlohmann::json{vectors[i].x / 32.0, vectors[i].y / 32.0}));
    }
    EXPECT_EQ(json["frames"][frame]["agrees"], nlohmann::json(agrees));
    float first_of_flow = 0;
    std::memcpy(&first_of_flow, test::read_file(file(fmt::format("flow-{}.flo", frame))).data() + 12, 4);
    EXPECT_EQ(first_of_flow, samples[0]);
    const auto holds = [&](const auto& values) {
      return arrays.find(std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0]))) != std::string::npos;
    };
    EXPECT_TRUE(holds(samples) && holds(sads) && holds(agrees)) << "of the .npz file";
  }
  EXPECT_EQ(row, rows.size());
  for (const char* plain : {"--second", "--quarters", "--zero-bias 1"}) EXPECT_EQ(mv(std::string("--smooth 1 ") + plain + " '" + raw_ + "'").exit_code, 2);
}

TEST_F(FilmProgramTest, EveryKindOfFilmGivesTheSame) {
  ASSERT_EQ(mv("--quiet '" + raw_ + "' -o '" + file("raw.npz") + "'").exit_code, 0);
  const std::string expected = test::read_file(file("raw.npz"));
  ASSERT_GT(expected.size(), 1000U);
  ASSERT_EQ(test::shell(fmt::format("'{}/c63gen' --quiet --pattern objects -w {} -h {} -f {} -o '{}'", C63_BIN_DIR, kWidth, kHeight, kFrames,
                                    file("o.y4m")))
                .exit_code,
            0);
  ASSERT_EQ(mv("--quiet '" + file("o.y4m") + "' -o '" + file("y4m.npz") + "'").exit_code, 0);
  EXPECT_EQ(test::read_file(file("y4m.npz")), expected);
  EXPECT_EQ(test::shell("cat '" + file("o.y4m") + "' | '" C63_BIN_DIR "/c63mv' --backend cpu --quiet - -o - --format npz").output, expected);
  // If the input is a c63 stream and a search is asked for, c63mv must search in the decoded pictures.
  ASSERT_EQ(test::shell(fmt::format("'{0}/c63enc' --quiet --backend cpu '{1}' '{2}' && '{0}/c63dec' --quiet '{2}' '{3}'", C63_BIN_DIR, raw_,
                                    file("o.c63"), file("dec_88x60.yuv")))
                .exit_code,
            0);
  ASSERT_EQ(mv("--quiet --search '" + file("o.c63") + "' -o '" + file("c63.npz") + "'").exit_code, 0);
  ASSERT_EQ(mv("--quiet '" + file("dec_88x60.yuv") + "' -o '" + file("dec.npz") + "'").exit_code, 0);
  EXPECT_EQ(test::read_file(file("c63.npz")), test::read_file(file("dec.npz")));
  EXPECT_EQ(mv("'" + file("o.c63") + "' --second").exit_code, 2);
  if (!test::have_command("ffmpeg")) GTEST_SKIP() << "ffmpeg is not installed";
  ASSERT_EQ(test::shell("ffmpeg -v error -i '" + file("o.y4m") + "' -c:v ffv1 '" + file("o.mkv") + "' 2>&1").output, "");
  ASSERT_EQ(mv("--quiet '" + file("o.mkv") + "' -o '" + file("mkv.npz") + "'").exit_code, 0);
  EXPECT_EQ(test::read_file(file("mkv.npz")), expected);
}

TEST_F(FilmProgramTest, ArraysAreNumpys) {
  if (!has_python_with_numpy()) GTEST_SKIP() << "/usr/bin/python3 has no numpy";
  ASSERT_EQ(mv("--quiet --second --quarters --seek 2 '" + raw_ + "' -o '" + file("o.npz") + "'").exit_code, 0);
  ASSERT_EQ(mv("--quiet --second --quarters --seek 2 '" + raw_ + "' -o '" + file("o.json") + "'").exit_code, 0);
  const auto checked = test::shell("/usr/bin/python3 - '" + file("o.npz") + "' '" + file("o.json") + R"(' 2>&1 <<'END'
import json, sys, zipfile
import numpy as np
arrays, frames = np.load(sys.argv[1]), json.load(open(sys.argv[2]))["frames"][1:]
assert zipfile.ZipFile(sys.argv[1]).testzip() is None
assert arrays["frame"].tolist() == [3, 4, 5] and arrays["reference"].tolist() == [2, 3, 4]
assert arrays["vectors"].shape == (3, 8, 11, 2) and arrays["vectors"].dtype == np.int8
for i, frame in enumerate(frames):
    assert frame["frame"] == arrays["frame"][i]
    for name, key in (("vectors", "vectors"), ("sad", "sads"), ("second", "seconds"), ("quarters", "quarters")):
        assert arrays[name][i].reshape(-1).tolist() == np.array(frame[key]).reshape(-1).tolist(), name
assert (arrays["quarters"].sum(-1) == arrays["sad"]).all()
print("GOOD")
END
)");
  EXPECT_EQ(checked.output, "GOOD\n");
}

TEST_F(FilmProgramTest, ArraysOfAnyLengthAreNumpys) {
  if (!has_python_with_numpy()) GTEST_SKIP() << "/usr/bin/python3 has no numpy";
  {
    NpzFile npz(file("0.npz"));
    const std::size_t numbers = npz.add_array("numbers", "<u2", {3, 1000});  // more than memory holds
    const std::size_t none = npz.add_array("none", "<i8", {});
    const std::size_t doubled = npz.add_array("doubled", "<i8", {2, 1});
    static_cast<void>(none);
    for (std::uint16_t i = 0; i < 200; ++i) {
      const std::vector<std::uint16_t> many(3000, i);
      const std::array<std::int64_t, 2> two{2 * i, -i};
      npz.append(numbers, std::as_bytes(std::span(many)));
      npz.append(doubled, std::as_bytes(std::span(two)));
    }
    npz.commit();
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(file("")), {}), 2) << "raw video and archive";
  const auto checked = test::shell("/usr/bin/python3 - '" + file("0.npz") + R"(' 2>&1 <<'END'
import sys, zipfile
import numpy as np
assert zipfile.ZipFile(sys.argv[1]).testzip() is None
arrays = np.load(sys.argv[1])
assert arrays["none"].shape == (0,)
assert arrays["numbers"].shape == (200, 3, 1000)
assert (arrays["numbers"] == np.arange(200).reshape(200, 1, 1)).all()
assert (arrays["doubled"] == [[[2 * i], [-i]] for i in range(200)]).all()
print("GOOD")
END
)");
  EXPECT_EQ(checked.output, "GOOD\n");
}

TEST_F(FilmProgramTest, ArraysGoToAPipe) {
  if (!has_python_with_numpy()) GTEST_SKIP() << "/usr/bin/python3 has no numpy";
  ASSERT_EQ(mv("--quiet '" + raw_ + "' -o '" + file("o.npz") + "'").exit_code, 0);
  ASSERT_EQ(mv("--quiet --format npz '" + raw_ + "' | cat > '" + file("piped.npz") + "'").exit_code, 0);
  EXPECT_EQ(test::read_file(file("piped.npz")), test::read_file(file("o.npz")));
}

TEST_F(FilmProgramTest, FlowIsMiddleburys) {
  ASSERT_EQ(mv("--quiet --merange 7 '" + raw_ + "' -o '" + file("flow-%03d.flo") + "'").exit_code, 0);
  const auto planes = padded_luma();
  const auto view = [&](std::size_t frame) { return ConstPlaneView{planes[frame].data(), kWidth, kPaddedHeight, kWidth}; };
  for (std::size_t frame = 1; frame < kFrames; ++frame) {
    const std::string bytes = test::read_file(file(fmt::format("flow-{:03}.flo", frame)));
    ASSERT_EQ(bytes.size(), 12U + 8 * kWidth * kHeight);
    float tag = 0;
    std::array<std::int32_t, 2> size{};
    std::vector<float> flow(2 * kWidth * kHeight);
    std::memcpy(&tag, bytes.data(), 4);
    std::memcpy(size.data(), bytes.data() + 4, 8);
    std::memcpy(flow.data(), bytes.data() + 12, 4 * flow.size());
    EXPECT_EQ(tag, 202021.25F);
    EXPECT_EQ(size, (std::array<std::int32_t, 2>{kWidth, kHeight}));
    const MotionField field = estimate_motion(view(frame), view(frame - 1), 7);
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < kWidth; ++x) {
        const MotionVector v = field.at(x / 8, y / 8);
        const auto at = static_cast<std::size_t>(2 * (y * kWidth + x));
        ASSERT_EQ(std::pair(flow[at], flow[at + 1]), std::pair(static_cast<float>(v.x), static_cast<float>(v.y)));
      }
    }
  }
  EXPECT_EQ(mv("--quiet '" + raw_ + "' -o '" + file("a%s.flo") + "'").exit_code, 2);
}

TEST_F(FilmProgramTest, AStopInTheMiddleOfAPipesFrameKeepsTheFrames) {
  const std::string y4m = file("o.y4m");
  ASSERT_EQ(test::shell("'" C63_BIN_DIR "/c63gen' --quiet --pattern objects -w 96 -h 64 -f 4 -o '" + y4m + "'").exit_code, 0);
  const auto stopped = test::shell("(head -c 25000 '" + y4m + "'; sleep 2) | timeout --preserve-status -s INT 1 '" C63_BIN_DIR
                                   "/c63mv' --quiet --progress none - --codec-list '" + file("list.csv") + "' -o '" + file("cut.npz") + "' 2>&1");
  EXPECT_EQ(stopped.exit_code, 130) << stopped.output;
  EXPECT_EQ(test::read_file(file("list.csv")).substr(0, 6), "frame,");
  EXPECT_EQ(test::read_file(file("cut.npz")).substr(0, 2), "PK") << stopped.output;
}

TEST_F(FilmProgramTest, TrueMotionIsFoundInAnyWidth) {
  ASSERT_EQ(test::shell(fmt::format("'{}/c63gen' --quiet --pattern pan --mv 3,-2 -w 92 -h 60 -f 4 --truth '{}' -o '{}'", C63_BIN_DIR,
                                    file("truth.csv"), file("pan_92x60.yuv")))
                .exit_code,
            0);
  const auto result = mv("'" + file("pan_92x60.yuv") + "' --truth '" + file("truth.csv") + "'");
  EXPECT_NE(result.output.find("most frequent: -3,2"), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("median 0.000"), std::string::npos) << result.output;
}

TEST_F(FilmProgramTest, BadFilmsEndInOneLine) {
  const auto expect = [](const test::ShellResult& result, int code, const std::string& says) {
    EXPECT_EQ(result.exit_code, code) << result.output;
    EXPECT_NE(result.output.find(says), std::string::npos) << result.output;
    EXPECT_EQ(std::count(result.output.begin(), result.output.end(), '\n'), 1) << result.output;
  };
  expect(mv("--quiet --distance 0 '" + raw_ + "'"), 2, "--distance 0");
  expect(mv("--quiet '" + raw_ + "' --type bits"), 2, "the bits of blocks are not known");
  expect(mv("--quiet --codec-vectors --distance 2 '" + raw_ + "'"), 2, "chooses the distance");
  expect(mv("--quiet --seek 100 '" + raw_ + "'"), 4, "no frame after the first 100");
  expect(mv("--quiet --max-memory 100k '" + raw_ + "'"), 5, "C63-MAX-MEMORY");
  if (!test::have_command("ffmpeg")) GTEST_SKIP() << "ffmpeg is not installed";
  const std::string make = "ffmpeg -v error -y -f lavfi -i testsrc=size=96x64:rate=25:duration=1 ";
  ASSERT_EQ(test::shell(make + "-c:v mpeg4 -g 1 -pix_fmt yuv420p '" + file("good.mkv") + "' 2>&1").output, "");
  std::ofstream(file("cut.mkv"), std::ios::binary) << test::read_file(file("good.mkv")).substr(0, test::read_file(file("good.mkv")).size() * 2 / 3);
  expect(mv("--quiet '" + file("cut.mkv") + "'"), 4, "C63-AV-DECODE");
  EXPECT_EQ(mv("--quiet '" + file("good.mkv") + "'").output, "");
  const auto list = mv("'" + file("good.mkv") + "' --codec-list -");
  EXPECT_EQ(list.output.find("mean SAD"), std::string::npos) << "the summary is in the list";
  ASSERT_EQ(test::shell(make + "-c:v ffv1 -pix_fmt yuv422p10le '" + file("deep.mkv") + "' 2>&1").output, "");
  expect(test::shell("'" C63_BIN_DIR "/c63mv' --progress none '" + file("deep.mkv") + "' 2>&1 >/dev/null"), 0, "yuv422p10le is converted to yuv420p");
}

TEST_F(FilmProgramTest, CodecVectorsOfAPanAreThePan) {
  if (!test::have_command("ffmpeg")) GTEST_SKIP() << "ffmpeg is not installed";
  // A video that pans. MPEG-4 codes it with motion vectors of its own.
  ASSERT_EQ(test::shell(fmt::format("'{}/c63gen' --quiet --pattern pan --mv 4,-2 -w 160 -h 128 -f 5 -o '{}' && ffmpeg -v error -y -i '{}' -c:v mpeg4 -bf 0 -g 100 -q:v 2 '{}' 2>&1",
                                    C63_BIN_DIR, file("pan.y4m"), file("pan.y4m"), file("pan.avi")))
                .output,
            "");
  const auto result = mv("--codec-vectors --codec-list '" + file("list.csv") + "' --format csv '" + file("pan.avi") + "'");
  ASSERT_EQ(result.exit_code, 0) << result.output;
  std::map<std::pair<double, double>, int> counts;
  for (const auto& row : rows_of(test::read_file(file("list.csv")))) {
    ASSERT_EQ(row.size(), 12U);
    EXPECT_EQ(row[1], -1);  // no frame is predicted from a later one
    EXPECT_TRUE((row[2] == 16 && row[3] == 16) || (row[2] == 8 && row[3] == 8)) << "a block of " << row[2] << "x" << row[3];
    EXPECT_EQ(std::fmod(row[6] - row[2] / 2, 8), 0) << "the position is a block's middle";
    ++counts[{row[9] / row[11], row[10] / row[11]}];
    // Columns 4 to 7 are positions. Their difference must be the vector (columns 9 to 11), up to a whole sample.
    EXPECT_NEAR(row[4] - row[6], row[9] / row[11], 1);
    EXPECT_NEAR(row[5] - row[7], row[10] / row[11], 1);
  }
  EXPECT_GT((counts[{-4, 2}]), 200);
  int same = 0;
  int blocks = 0;
  for (const auto& row : rows_of(result.output)) {
    ASSERT_EQ(row.size(), 10U);
    EXPECT_EQ(row[1], row[0] - 1);
    ++blocks;
    if (row[4] == row[7] && row[5] == row[8]) {
      ++same;
      EXPECT_EQ(row[6], row[9]);
    }
  }
  EXPECT_GT(same, blocks / 2);
}

}  // namespace
}  // namespace c63::tools
