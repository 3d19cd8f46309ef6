#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <tuple>

#include "support/generators.h"
#include "tools_test_support.h"

// Tests targets of size or quality, by running c63enc.

namespace c63::test {
namespace {

class Targets : public ToolsTest {
 protected:
  void SetUp() override {
    ASSERT_EQ(run({kGen, "--quiet", "--pattern", "natural", "-w", "64", "-h", "48", "-f", "12", "-o", path("in_64x48.yuv")}).exit_code, 0);
    input_ = path("in_64x48.yuv");
  }
  [[nodiscard]] ProcessResult encode(const std::vector<std::string>& more, std::string_view standard_input = {}) const {
    return run(joined({kEnc, "--backend", "cpu", "--preset", "fast"}, more), standard_input);
  }
  /// Encodes to o.c63, with the report o.json, and the passes in s.json. Returns what was said.
  std::string encode_with_stats(const std::vector<std::string>& more) const {
    return expect_success(encode(joined({"--stats", path("s.json"), "--json", path("o.json"), "-o", path("o.c63"), input_}, more))).err;
  }
  [[nodiscard]] std::uintmax_t size_of(const std::string& name) const { return std::filesystem::file_size(path(name)); }

  std::string input_;
};

TEST_F(Targets, ASizeIsNearlyUsedAndNeverExceeded) {
  ASSERT_EQ(encode({"--quiet", "-q", "17", "-o", path("17.c63"), input_}).exit_code, 0);
  const auto wanted = size_of("17.c63");
  const ProcessResult result = encode({"--size", std::to_string(wanted), "-o", path("o.c63"), "--json", path("o.json"), input_});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_LE(size_of("o.c63"), wanted);
  EXPECT_GE(size_of("o.c63") * 100, wanted * 98);  // with so few bytes, one percent is not always possible
  EXPECT_NE(result.err.find("pass 2: qp "), std::string::npos) << result.err;
  const auto json = nlohmann::json::parse(read_file(path("o.json")));
  EXPECT_EQ(json["target"]["value"], wanted);
  // One of the passes is the stream, and no two are alike.
  const auto& passes = json["target"]["passes"];
  const auto is_kept = [&](const auto& pass) {
    return pass["qp"] == json["settings"]["qp"] && pass["lambda_scale"] == json["settings"]["lambda_scale"];
  };
  ASSERT_EQ(std::ranges::count_if(passes, is_kept), 1);
  EXPECT_EQ((*std::ranges::find_if(passes, is_kept))["bytes"], size_of("o.c63"));
  EXPECT_EQ(json["result"]["bytes"], size_of("o.c63"));
  EXPECT_GE(passes.size(), 2U);
  EXPECT_LE(passes.size(), 8U);
  for (const auto& pass : passes) EXPECT_EQ(std::ranges::count(passes, pass), 1);
  // Encoding with the settings that the report names must give the same stream.
  ASSERT_EQ(encode({"--quiet", "-q", std::to_string(json["settings"]["qp"].get<double>()), "--lambda-scale",
                    std::to_string(json["settings"]["lambda_scale"].get<double>()), "-o", path("same.c63"), input_}).exit_code, 0);
  EXPECT_TRUE(read_file(path("same.c63")) == read_file(path("o.c63")));
}

TEST_F(Targets, QualitiesAreReached) {
  const auto quality = [&](const std::vector<std::string>& target, const char* key) {
    expect_success(encode(joined({"--quiet", "--ssim", "-o", path("o.c63"), "--json", path("o.json"), input_}, target)));
    return nlohmann::json::parse(read_file(path("o.json")))["quality"][key].get<double>();
  };
  EXPECT_NEAR(quality({"--target-psnr", "36"}, "psnr_y_db"), 36, 0.05);
  EXPECT_NEAR(quality({"--target-psnr", "all:37.5"}, "psnr_all_db"), 37.5, 0.05);
  EXPECT_NEAR(quality({"--target-ssim", "0.95"}, "ssim_y"), 0.95, 0.001);
}

TEST_F(Targets, PassesAreKeptAndUsedAgain) {
  EXPECT_NE(encode_with_stats({"--target-psnr", "36"}).find("pass 2:"), std::string::npos);
  const std::string stream = read_file(path("o.c63"));
  EXPECT_EQ(encode_with_stats({"--target-psnr", "36"}).find("pass 2:"), std::string::npos);
  EXPECT_TRUE(read_file(path("o.c63")) == stream);
}

/// An encode finds a statistics file with the passes of another one: with other settings, or of other content under the same
/// name. It must not use them, and must still meet its target.
TEST_F(Targets, PassesOfOtherEncodesAreNotTaken) {
  ASSERT_EQ(encode({"--quiet", "-q", "17", "-o", path("17.c63"), input_}).exit_code, 0);
  const auto wanted = size_of("17.c63");
  const std::vector<std::string> size = {"--size", std::to_string(wanted)};
  for (const std::vector<std::string>& other :
       {std::vector<std::string>{"--keyint", "5"}, {"--no-rdoq"}, {"--prefilter", "mean:3"}, {"--seek", "1"}, {}}) {
    SCOPED_TRACE(other.empty() ? "content" : other[0]);
    std::filesystem::remove(path("s.json"));
    encode_with_stats(size);
    if (other.empty()) {
      std::string video = read_file(input_);
      std::ranges::reverse(video);
      write_file(std::filesystem::path(input_).filename().string(), video);
    }
    EXPECT_NE(encode_with_stats(joined(size, other)).find("another encode"), std::string::npos);
    EXPECT_LE(size_of("o.c63"), wanted);
  }
}

TEST_F(Targets, PassesServeOtherTargetsOfTheSameEncode) {
  const auto encode_to = [&](const std::vector<std::string>& more) {
    const std::string said = encode_with_stats(more);
    EXPECT_EQ(said.find("another encode"), std::string::npos) << said;
    return nlohmann::json::parse(read_file(path("o.json")));
  };
  // A target in bits per second must be computed with the frame rate of this run. Earlier passes may have had another
  // one.
  encode_to({"--fps", "25", "--bitrate", "60k"});
  EXPECT_LE(encode_to({"--fps", "50", "--bitrate", "120k"})["result"]["bitrate_kb_per_s"], 120);
  EXPECT_LE(encode_to({"--fps", "50", "--bitrate", "60k"})["result"]["bitrate_kb_per_s"], 60);
  // The passes so far did not measure SSIM, because --ssim was not given. A target of SSIM must then measure it.
  const auto stats = nlohmann::json::parse(read_file(path("s.json")));
  for (const auto& pass : stats["passes"]) EXPECT_TRUE(pass["ssim_y"].is_null());
  const auto report = encode_to({"--target-ssim", "0.95"});
  const double ssim = report["quality"]["ssim_y"];
  EXPECT_NEAR(-10 * std::log10((1 - ssim) / (1 - 0.95)), 0, 0.05);
  // The first run finds in two passes that the target cannot be met, and keeps them. A second run with a still smaller
  // target makes no pass.
  std::filesystem::remove(path("s.json"));
  EXPECT_EQ(encode({"--size", "100", "--stats", path("s.json"), "-o", path("no.c63"), input_}).exit_code, 5);
  EXPECT_EQ(nlohmann::json::parse(read_file(path("s.json")))["passes"].size(), 2U);
  const ProcessResult again = encode({"--size", "90", "--stats", path("s.json"), "-o", path("no.c63"), input_});
  EXPECT_EQ(again.exit_code, 5);
  EXPECT_EQ(again.err.find("pass 1:"), std::string::npos) << again.err;
}

TEST_F(Targets, PassesOfAFileAreCheckedAgainstThePromise) {
  ASSERT_EQ(encode({"--quiet", "-q", "17", "-o", path("17.c63"), input_}).exit_code, 0);
  const std::string wanted = std::to_string(size_of("17.c63"));
  const auto encode_again = [&] {
    return encode({"--quiet", "--size", wanted, "--stats", path("s.json"), "-o", path("o.c63"), input_});
  };
  ASSERT_EQ(encode_again().exit_code, 0);
  auto json = nlohmann::ordered_json::parse(read_file(path("s.json")));
  for (auto& pass : json["passes"]) {
    pass["qp"] = std::min(50.0, pass["qp"].get<double>() * 1.5);  // so these passes are larger than the file says
  }
  write_file("s.json", json.dump());
  ASSERT_EQ(encode_again().exit_code, 0);
  EXPECT_LE(size_of("o.c63"), size_of("17.c63"));
  EXPECT_GE(size_of("o.c63") * 100, size_of("17.c63") * 98);
}

TEST_F(Targets, AnInvalidStatisticsFileIsRefused) {
  const auto encode_again = [&] {
    return encode({"--quiet", "--size", "9000", "--stats", path("s.json"), "-o", path("o.c63"), input_});
  };
  ASSERT_EQ(encode_again().exit_code, 0);
  const auto good = nlohmann::ordered_json::parse(read_file(path("s.json")));
  using Json = nlohmann::ordered_json;
  const std::vector<std::pair<const char*, Json>> wrong = {
      {"qp", -5},         {"qp", 1e308},     {"qp", nullptr},   {"qp", "25"},        {"lambda_scale", 0},
      {"lambda_scale", -1e308}, {"frames", 0}, {"frames", -12}, {"frames", 1e300},  {"frames", 1.5},
      {"bytes", -1},      {"bytes", 1e308},  {"bytes", "many"}, {"psnr_y_db", -1e308}, {"psnr_y_db", "high"},
      {"ssim_y", 1e308},  {"ssim_y", -7},    {"ssim_y", Json::array()}};
  for (const auto& [key, value] : wrong) {
    SCOPED_TRACE(key + (" " + value.dump()));
    Json json = good;
    json["passes"][0][key] = value;
    write_file("s.json", json.dump());
    expect_one_line(encode_again(), 4, "c63enc", "C63-STATS");
  }
  for (const std::string& text : {std::string(), std::string("7"), std::string("{}"), std::string("[[[["), std::string("{\"passes\": []}"), std::string("\xff\xfe"), deep_json()}) {
    write_file("s.json", text);
    expect_one_line(encode_again(), 4, "c63enc", "C63-STATS");
  }
  Json json = good;
  json["passes"] = {{"qp", 25}};
  write_file("s.json", json.dump());
  expect_one_line(encode_again(), 4, "c63enc", "C63-STATS");
  std::filesystem::remove(path("s.json"));
  std::filesystem::create_directory(path("s.json"));
  expect_one_line(encode_again(), 4, "c63enc", "C63-INPUT-OPEN");
}

TEST_F(Targets, AStatisticsFileThatCannotBeWrittenFailsAlone) {
  ASSERT_EQ(encode({"--quiet", "--target-psnr", "36", "-o", path("o.c63"), input_}).exit_code, 0);
  for (const std::string& output : {path("beside.c63"), std::string("-")}) {
    const ProcessResult result =
        encode({"--quiet", "--target-psnr", "36", "--stats", path("no such folder/s.json"), "-o", output, input_});
    expect_one_line(result, 6, "c63enc", "C63-WRITE-OPEN");
    EXPECT_TRUE((output == "-" ? result.out : read_file(output)) == read_file(path("o.c63")));
  }
}

TEST_F(Targets, InputThatCannotBeReadTwiceIsRefusedOrKept) {
  const std::string video = read_file(path("in_64x48.yuv"));
  const std::vector<std::string> from_pipe = {"--quiet", "-w", "64", "-h", "48", "--target-psnr", "36", "-o", path("piped.c63"), "-"};
  expect_one_line(encode(from_pipe, video), 2, "c63enc", "C63-TARGET-INPUT");
  EXPECT_FALSE(std::filesystem::exists(path("piped.c63")));
  std::vector<std::string> spooled = joined(from_pipe, {"--spool", path("")});
  const std::ptrdiff_t files = files_in_folder();
  ASSERT_EQ(encode(spooled, video).exit_code, 0);
  EXPECT_EQ(files_in_folder(), files + 1);  // only the stream
  ASSERT_EQ(encode({"--quiet", "--target-psnr", "36", "-o", path("o.c63"), input_}).exit_code, 0);
  EXPECT_TRUE(read_file(path("piped.c63")) == read_file(path("o.c63")));
  spooled.back() = path("no such folder");
  const ProcessResult no_folder = encode(spooled, video);
  expect_one_line(no_folder, 6, "c63enc", "C63-WRITE-OPEN");
  EXPECT_TRUE(no_folder.err.starts_with("c63enc: " + path("no such folder") + ": ")) << no_folder.err;
}

TEST_F(Targets, ErrorsOfSpooledInputNameTheInput) {
  const std::vector<std::string> command = {"--quiet", "-w", "64", "-h", "48", "--size", "9kB", "--spool", path(""), "-o", path("o.c63"), "-"};
  const std::ptrdiff_t files = files_in_folder();
  const auto expect_named = [&](const std::vector<std::string>& more, const std::string& input, const std::string& line) {
    const ProcessResult result = encode(joined(command, more), input);
    expect_one_line(result, 4, "c63enc", "C63-NO-FRAMES");
    EXPECT_TRUE(result.err.starts_with("c63enc: " + line)) << result.err;
    EXPECT_EQ(files_in_folder(), files);
  };
  expect_named({}, "", "stdin: the input has no whole frame");
  expect_named({}, "too little", "stdin: ");
  expect_named({"--seek", "1000"}, read_file(input_), "stdin: the input has no frame after the first 1000");
}

/// Pipes get the best pass alone, whether the stream or something else goes there.
TEST_F(Targets, PipesGetTheBestPassAlone) {
  ASSERT_EQ(encode({"--quiet", "--target-psnr", "36", "-o", path("o.c63"), "--recon", path("o.yuv"), input_}).exit_code, 0);
  EXPECT_TRUE(encode({"--quiet", "--target-psnr", "36", "-o", "-", input_}).out == read_file(path("o.c63")));
  EXPECT_TRUE(encode({"--quiet", "--target-psnr", "36", "-o", path("p.c63"), "--recon", "-", input_}).out == read_file(path("o.yuv")));
}

/// Pass 1 fits on the disk and into the size; pass 2 is larger and does not fit on the disk. Then pass 1 is kept. It does not
/// meet a PSNR, so in that case the older file stays.
TEST_F(Targets, AFullDiskCostsOnlyThePassThatDidNotFit) {
  ASSERT_EQ(encode({"--quiet", "-q", "10", "-o", path("10.c63"), input_}).exit_code, 0);
  const std::string blocks = std::to_string(size_of("10.c63") / 512 + 1);
  for (const std::string target : {"--size 1MB", "--target-psnr 45"}) {
    SCOPED_TRACE(target);
    write_file("o.c63", "older");
    const ProcessResult result = run({"/bin/sh", "-c", "trap '' XFSZ; ulimit -f " + blocks + "; exec " + kEnc + " --quiet --backend cpu --preset fast -q 10 " +
                                                          target + " -o " + path("o.c63") + " " + input_});
    expect_one_line(result, 6, "c63enc", "C63-WRITE-FAILED");
    EXPECT_TRUE(read_file(path("o.c63")) == (target.starts_with("--size") ? read_file(path("10.c63")) : "older"));
    EXPECT_EQ(files_in_folder(), 3);
  }
}

/// The error of a size that no quality keeps names options. With them, the size is met.
TEST_F(Targets, ASizeBelowTheLowestQualitysIsALimit) {
  const auto least = [&](const std::vector<std::string>& options) {
    expect_success(run(joined({kEnc, "--quiet", "-o", path("least.c63"), input_}, options)));
    return size_of("least.c63");
  };
  const auto fast = least({"--preset", "fast", "-q", "1", "--lambda-scale", "4"});
  const auto reference = least({"-q", "5"});
  for (const auto& [preset, target, value] : {std::tuple{"fast", "--size", std::to_string(fast * 7 / 10)},
                                              {"reference", "--size", std::to_string(reference * 6 / 10)},
                                              {"reference", "--size", std::to_string(reference / 4)},
                                              {"fast", "--bitrate", std::string("90")},
                                              {"reference", "--size", std::string("30")}}) {
    SCOPED_TRACE(std::string(preset) + " " + value);
    std::filesystem::remove(path("o.c63"));
    std::vector<std::string> command = {kEnc, "--quiet", "--backend", "cpu", "-o", path("o.c63"), input_, "--preset", preset, target, value};
    const ProcessResult result = run(command);
    expect_one_line(result, 5, "c63enc", "C63-TARGET-LIMIT");
    EXPECT_FALSE(std::filesystem::exists(path("o.c63")));
    const std::size_t begin = result.err.find("--");
    const std::size_t end = result.err.find(" would do");
    ASSERT_TRUE(begin < end && end != std::string::npos) << result.err;
    std::istringstream words(result.err.substr(begin, end - begin));
    for (std::string option, named; words >> option >> named;) {
      const auto given = std::ranges::find(command, option);
      if (given != command.end()) command.erase(given, given + 2);
      command.insert(command.end(), {option, named});
    }
    EXPECT_EQ(run(command).exit_code, 0) << result.err;
    EXPECT_TRUE(value.size() <= 2 || size_of("o.c63") <= std::stoull(value)) << result.err;
  }
}

/// c63enc suggests --target-psnr if a preset's quality is far from what preset reference gives at the same qp. It sees
/// that from the errors: here, with noise, they exceed 0.12 squared steps.
TEST_F(Targets, AreNamedIfAQualityIsFarFromThatOfReference) {
  std::string noise(std::size_t{4} * 64 * 48 * 3 / 2, 0);
  Random random(1);
  for (char& sample : noise) sample = static_cast<char>(115 + random.below(27));
  const std::string input = write_file("noise_64x48.yuv", noise);
  const auto says = [&](const std::vector<std::string>& more) {
    const ProcessResult result = expect_success(run(joined({kEnc, "--backend", "cpu", "-q", "10", "-o", path("o.c63"), input}, more)));
    return result.err.find("use --target-psnr to set the PSNR") != std::string::npos;
  };
  EXPECT_TRUE(says({"--preset", "fast"}));
  EXPECT_FALSE(says({"--preset", "reference"}));
  EXPECT_FALSE(says({"--preset", "fast", "--target-psnr", "30"}));
  EXPECT_FALSE(says({"--preset", "fast", "--quiet"}));
  EXPECT_EQ(encode({"-q", "10", "-o", path("o.c63"), input_}).err.find("--target-psnr"), std::string::npos);
}

}  // namespace
}  // namespace c63::test
