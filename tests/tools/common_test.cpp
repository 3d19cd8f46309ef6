#include <unistd.h>

#include <array>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "c63/error.h"
#include "common/errors.h"
#include "common/json.h"
#include "common/outputs.h"
#include "common/progress.h"
#include "common/report.h"
#include "common/text.h"
#include "common/values.h"
#include "encode/encode_outputs.h"
#include "support/expect_error.h"
#include "tools_test_support.h"

namespace c63::tools {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

TEST(ProgressLine, LooksAsDocumented) {
  const ProgressState state{.frames = 68, .total = 300, .bytes = 1149234, .video_fps = 25, .elapsed_s = 0.28912};
  EXPECT_EQ(progress_text(state), "[22.7%] 68/300 frames, 235.2 fps, 3380.1 kb/s, eta 0:00:01");
}

TEST(Json, NestedTooDeeplyIsRefused) {
  const auto nested = [](std::size_t depth) { return "{\"a\":" + std::string(depth - 1, '[') + std::string(depth - 1, ']') + "}"; };
  EXPECT_NO_THROW(static_cast<void>(parse_json(nested(64))));
  EXPECT_THROW(static_cast<void>(parse_json(nested(66))), std::runtime_error);
  EXPECT_TRUE(json_if_valid(nested(1 << 20)).is_discarded());
}

/// Returns what a Progress writes to a pipe for this many frames, if each takes `frame_ms` milliseconds (on a simulated
/// clock).
std::string progress_output(ProgressMode mode, int frames, int frame_ms, std::optional<std::int64_t> total = {}) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  steady_clock::time_point now{};
  {
    Progress progress(mode, std::make_shared<Console>(ends[1]), total.value_or(frames), 25, [&] { return now; });
    for (int i = 0; i < frames; ++i) {
      now += milliseconds(frame_ms);
      progress.advance(1000);
    }
    progress.finish();
  }
  ::close(ends[1]);
  std::string text(65536, '\0');
  const ssize_t got = ::read(ends[0], text.data(), text.size());
  ::close(ends[0]);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

TEST(ProgressLine, IntoAPipeItIsOneLineEveryFiveSecondsAndNeverACarriageReturn) {
  for (const ProgressMode mode : {ProgressMode::automatic, ProgressMode::plain, ProgressMode::tty}) {
    const std::string text = progress_output(mode, 101, 100);
    EXPECT_EQ(test::lines_in(text), 2) << text;
    EXPECT_TRUE(text.starts_with("[49.5%] 50/101 frames, 10.0 fps")) << text;
    EXPECT_EQ(text.find('\r'), std::string::npos);
  }
}

TEST(ProgressLine, JsonIsAnObjectALineAndOneAtTheEnd) {
  const std::string text = progress_output(ProgressMode::json, 25, 100);
  EXPECT_EQ(test::lines_in(text), 3) << text;
  const auto last = nlohmann::json::parse(text.substr(text.rfind('\n', text.size() - 2) + 1));
  EXPECT_EQ(last["frames"], 25);
  EXPECT_EQ(last["coded_bytes"], 25000);
  EXPECT_NEAR(last["frames_per_s"].get<double>(), 10, 1e-9);
}

TEST(ProgressLine, ATotalThatWasTooLowIsLeftOut) {
  EXPECT_EQ(progress_output(ProgressMode::plain, 60, 100, 49), "50 frames, 10.0 fps, 200.0 kb/s\n");
}

TEST(ErrorLines, NameEverythingThatIsKnown) {
  const Error error(ErrorKind::input, "C63-TRUNCATED", "truncated",
                    {.file = "in.c63", .frame = 41, .offset = 709112, .block = "Y block 3,7"});
  EXPECT_EQ(
      error_line(NotedError(error, "41 frames written")),
      "in.c63: frame 41: Y block 3,7: truncated at byte 709112; 41 frames written [C63-TRUNCATED]; check the input "
      "file");
  // Names and texts may come from a file. Their control characters must not break lines or move the cursor.
  const Error hostile(ErrorKind::input, "C63-X", "two\nlines\x1b[2J", {.file = "a\rb\x7f"});
  EXPECT_EQ(std::string(hostile.what()), "a b : two lines [2J [C63-X]");
  EXPECT_EQ(error_line(hostile), "a b : two lines [2J [C63-X]; check the input file");
  EXPECT_EQ(hostile.place().file, "a\rb\x7f");
}

TEST(ErrorLines, EveryKindHasItsExitCode) {
  EXPECT_EQ(exit_code(ErrorKind::internal), 1);
  EXPECT_EQ(exit_code(ErrorKind::usage), 2);
  EXPECT_EQ(exit_code(ErrorKind::comparison), 3);
  EXPECT_EQ(exit_code(ErrorKind::input), 4);
  EXPECT_EQ(exit_code(ErrorKind::limit), 5);
  EXPECT_EQ(exit_code(ErrorKind::output), 6);
  EXPECT_EQ(exit_code(ErrorKind::memory), 7);
  EXPECT_EQ(exit_code(ErrorKind::device), 8);
}

TEST(Values, FrameRates) {
  const auto is = [](const std::string& text, int numerator, int denominator) {
    const auto rate = frame_rate_from(text);
    return rate && rate->numerator == numerator && rate->denominator == denominator;
  };
  EXPECT_TRUE(is("25", 25, 1));
  EXPECT_TRUE(is("12.5", 25, 2));
  EXPECT_TRUE(is("30000/1001", 30000, 1001));
  EXPECT_TRUE(is("50:2", 50, 2));
  EXPECT_TRUE(is("29.97", 30000, 1001));
  EXPECT_TRUE(is("23.976", 24000, 1001));
  EXPECT_TRUE(is("30", 30, 1));
  for (const char* wrong : {"", "0", "-25", "x", "25x", "25/0", "0/1", "nan", "inf", "1e9", "25/", "/25"}) {
    EXPECT_FALSE(frame_rate_from(wrong)) << wrong;
  }
}

TEST(Values, Sizes) {
  EXPECT_EQ(size_from("352x288"), (std::pair{352, 288}));
  EXPECT_EQ(require_size("--sizes", "352x288"), (std::pair{352, 288}));
  for (const char* wrong : {"", "352", "352x", "x288", "352x288x1", "352 x 288", "99999999999x1"}) {
    EXPECT_FALSE(size_from(wrong)) << wrong;
  }
  for (const char* wrong : {"352", "0x288", "352x-1"}) {
    test::expect_error(ErrorKind::usage, "C63-SIZE", [&] { (void)require_size("--sizes", wrong); });
  }
}

TEST(Values, NumbersWithUnits) {
  for (const char* text : {"9000", "9K", "9k", "9kB", "9.0e3", "0.009M"}) EXPECT_EQ(count_from(text), 9000U) << text;
  EXPECT_EQ(count_from("8.8KiB"), 9011U);
  EXPECT_EQ(count_from("1.5MiB"), 3U << 19);
  EXPECT_EQ(count_from("9223372036854775807"), 9223372036854775807U);
  EXPECT_EQ(quantity_from("0.8M"), 800'000);
  for (const char* wrong : {"", "k", "9x", "-9k", "9kk", "nan", "1e300", "99999999999TB"}) EXPECT_FALSE(count_from(wrong)) << wrong;
}

EncodeReport foreman_report() {
  EncodeReport report;
  report.input = "FOREMAN_352x288.yuv";
  report.format = {352, 288, {25, 1}};
  report.settings.coding.width = 352;
  report.settings.coding.height = 288;
  report.totals.summary = {.frames = 300,
                           .key_frames = 3,
                           .bytes = 5071489,
                           .start_up_ms = 180,
                           .elapsed_ms = 1276.6,
                           .lanes = 3,
                           .load = {},
                           .backend = "cuda:0 NVIDIA H200 (sm_90)",
                           .devices = {},
                           .stopped = false};
  report.totals.stages.motion = 62;
  report.totals.stages.read = 38;
  return report;
}

TEST(Reports, LatenciesOfManyFramesTakeBoundedMemory) {
  SampledValues values;
  for (int i = 0; i < 2'000'000; ++i) values.add(i);
  EXPECT_LE(values.values().size(), std::size_t{1} << 18);
  EXPECT_NEAR(quantile(values.values(), 0.5), 1'000'000, 100);
  EXPECT_NEAR(quantile(values.values(), 0.99), 1'980'000, 100);
}

TEST(Reports, JsonHasNoInfinity) {
  EncodeReport report = foreman_report();
  report.totals.quality.add({0, 0, 0}, {1, 1, 1});
  const auto json = to_json(report);
  EXPECT_TRUE(json["quality"]["psnr_y_db"].is_null());
  EXPECT_EQ(json["result"]["bytes"], 5071489);
  EXPECT_TRUE(nlohmann::json::accept(json.dump()));
}

TEST(Verification, NamesTheFirstSampleThatDiffers) {
  EncoderSettings settings;
  settings.coding.width = 32;
  settings.coding.height = 32;
  settings.measurement.keep_reconstruction = true;
  const std::string video = test::generate({'B', 0, 32, 32, 1});
  EncodedFrame frame;
  frame.bytes = encode({reinterpret_cast<const std::uint8_t*>(video.data()), video.size()}, settings);
  frame.reconstruction = decode(frame.bytes);
  FrameDecoder right;
  EXPECT_NO_THROW(verify_frame(right, frame, settings));
  frame.reconstruction[1024 + 16 * 3 + 5] ^= 1;
  FrameDecoder wrong;
  const auto error = test::error_of([&] { verify_frame(wrong, frame, settings); });
  ASSERT_TRUE(error) << "a difference went unseen";
  EXPECT_EQ(exit_code(error->kind()), 3);
  EXPECT_NE(error->message().find("U sample 5,3"), std::string::npos) << error->message();
}

TEST(FileNames, AreNotFormulasInCsv) {
  EXPECT_EQ(csv_field("a.yuv"), "a.yuv");
  EXPECT_EQ(csv_field("a,b\".yuv"), "\"a,b\"\".yuv\"");
  for (const std::string start : {"=", "+", "-", "@"}) {
    EXPECT_EQ(csv_field(start + "1.yuv"), "'" + start + "1.yuv");
    EXPECT_EQ(csv_field(start + "f(1,2)"), "\"'" + start + "f(1,2)\"");
  }
}

TEST(FileNames, MoveNoCursorAndBreakNoPage) {
  EXPECT_EQ(one_line("a\x1b[2J\x7f\nb"), "a [2J  b");
  EXPECT_EQ(one_line("a\xC2\x9B" "31mb"), "a  31mb") << "CSI as one character";
  EXPECT_EQ(one_line("\xC3\x9B"), "\xC3\x9B") << "a letter";
  EXPECT_EQ(escaped("a\xFF<\x1b>"), "a\xEF\xBF\xBD&lt; >");
  EXPECT_EQ(escaped("\xC3\xA6\xC3\xB8"), "\xC3\xA6\xC3\xB8");
}

}  // namespace
}  // namespace c63::tools
