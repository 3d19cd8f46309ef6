#include "compare/metrics.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "c63/encoder.h"
#include "support/expect_error.h"
#include "support/generators.h"
#include "support/shared_data.h"
#include "support/shell.h"
#include "support/temporary_folder.h"
#include "support/sources.h"

namespace c63::tools {
namespace {

using test::Bytes;
using test::VideoSource;

VideoQuality compare(const Bytes& a, const Bytes& b, int width, int height) {
  VideoSource reference(a, width, height);
  VideoSource other(b, width, height, VideoSource::Kind::pipe);
  return compare_videos(reference, "a", other, "b");
}

TEST(MetricsTest, IdenticalVideosHaveNoDifference) {
  const Bytes video = test::generate_b(32, 16, 3);
  const VideoQuality quality = compare(video, video, 32, 16);
  EXPECT_FALSE(quality.first_difference);
  EXPECT_EQ(quality.different_frames, 0);
  EXPECT_TRUE(std::isinf(quality.psnr_of_video(3)));
  EXPECT_DOUBLE_EQ(quality.ssim_of_all(), 1);
  EXPECT_TRUE(std::isinf(ssim_db(quality.ssim_of_all())));
}

TEST(MetricsTest, FindsTheFirstDifferenceInEachPlane) {
  const int width = 32;
  const int height = 16;
  const Bytes video = test::generate_b(width, height, 3);
  const std::size_t frame = frame_bytes(width, height);
  const auto differing = [&](std::size_t offset) {
    Bytes other = video;
    other[offset] ^= 1;
    other[video.size() - 1] ^= 1;  // a later difference does not matter
    return *compare(video, other, width, height).first_difference;
  };
  const FirstDifference luma = differing(frame + 3 * width + 7);
  EXPECT_EQ(std::tuple(luma.frame, luma.plane, luma.x, luma.y), std::tuple(1, 0, 7, 3));
  EXPECT_EQ(luma.value, luma.reference ^ 1);
  const FirstDifference u = differing(width * height + 2 * width / 2 + 5);
  EXPECT_EQ(std::tuple(u.frame, u.plane, u.x, u.y), std::tuple(0, 1, 5, 2));
  const FirstDifference v = differing(2 * frame + width * height * 5 / 4);
  EXPECT_EQ(std::tuple(v.frame, v.plane, v.x, v.y), std::tuple(2, 2, 0, 0));
  EXPECT_EQ(to_string(u), fmt::format("frame 0, plane U, x 5, y 2: {} instead of {}", u.value, u.reference));
}

TEST(MetricsTest, ChromaWithoutRowsHasNoPlace) {
  Bytes a = test::generate_a(33, 4, 1);
  Bytes b = a;
  b[33 * 4 + 1] ^= 1;
  const FirstDifference d = *compare(a, b, 33, 4).first_difference;
  EXPECT_EQ(std::tuple(d.plane, d.x, d.y), std::tuple(1, -1, -1));
}

TEST(MetricsTest, PsnrIsOfTheSummedError) {
  const Bytes zeros(2 * frame_bytes(16, 16), 0);
  Bytes other = zeros;
  for (std::size_t i = 0; i < 256; ++i)
    other[i] = 10;  // the first frame's luma has an error of 100, the second frame's has 0
  const VideoQuality quality = compare(zeros, other, 16, 16);
  EXPECT_NEAR(quality.psnr_of_video(0), 10 * std::log10(255.0 * 255 / 50), 1e-12);
  EXPECT_NEAR(quality.psnr_of_video(3), 10 * std::log10(255.0 * 255 * 384 * 2 / 25600), 1e-12);
  EXPECT_NEAR(quality.psnr_of(quality.frames[0], 0), 10 * std::log10(255.0 * 255 / 100), 1e-12);
  EXPECT_TRUE(std::isinf(quality.psnr_of(quality.frames[1], 0)));
}

TEST(MetricsTest, DifferentCountsAreRefused) {
  const Bytes three = test::generate_b(16, 16, 3);
  const Bytes two(three.begin(), three.begin() + static_cast<std::ptrdiff_t>(2 * frame_bytes(16, 16)));
  for (const auto kind : {VideoSource::Kind::file, VideoSource::Kind::pipe}) {
    for (const bool swap : {false, true}) {
      VideoSource a(swap ? two : three, 16, 16, kind);
      VideoSource b(swap ? three : two, 16, 16, kind);
      test::expect_error(ErrorKind::comparison, "C63-CMP-COUNT",
                         [&] { (void)compare_videos(a, "first", b, "second"); });
    }
  }
}

TEST(MetricsTest, DifferentSizesAndEmptyVideosAreRefused) {
  VideoSource wide(test::generate_b(32, 16, 1), 32, 16), high(test::generate_b(16, 32, 1), 16, 32), empty({}, 16, 16),
      other({}, 16, 16);
  test::expect_error(ErrorKind::comparison, "C63-CMP-SIZE", [&] { (void)compare_videos(wide, "a", high, "b"); });
  test::expect_error(ErrorKind::input, "C63-NO-FRAMES", [&] { (void)compare_videos(empty, "a", other, "b"); });
}

/// Codes a real sequence with c63 and compares the result with the source. c63's metrics must give the same values as
/// FFmpeg's filters.
class FfmpegEqualityTest : public testing::TestWithParam<const char*> {};

std::string ffmpeg_number(double value, int digits) { return fmt::format("{:.{}f}", value, digits); }

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

TEST_P(FfmpegEqualityTest, EveryPrintedDigitIsEqual) {
  const std::string name = std::string("sequences/") + GetParam() + ".264";
  C63_NEEDS_SHARED(name);
  if (!test::have_command("ffmpeg")) GTEST_SKIP() << "no ffmpeg on the PATH";
  constexpr int kWidth = 352;
  constexpr int kHeight = 288;
  constexpr int kFrames = 30;
  const test::TemporaryFolder folder;
  const std::string original = folder.file("original.yuv");
  const std::string coded = folder.file("coded.yuv");
  ASSERT_EQ(test::shell(fmt::format("ffmpeg -nostdin -v error -i '{}' -frames:v {} -pix_fmt yuv420p -f rawvideo '{}'",
                                    test::shared_path(name).string(), kFrames, original))
                .exit_code,
            0);
  const Bytes frames = test::read_bytes(original);
  VideoSource source(frames, kWidth, kHeight);
  Bytes reconstruction;
  Encoder({.coding = {.width = kWidth, .height = kHeight, .qp = 20, .method = SearchMethod::full}, .measurement = {.keep_reconstruction = true}})
      .encode(source, [&](EncodedFrame&& frame) {
        reconstruction.insert(reconstruction.end(), frame.reconstruction.begin(), frame.reconstruction.end());
      });
  test::write_bytes(coded, reconstruction);

  const VideoQuality q = compare(frames, reconstruction, kWidth, kHeight);
  ASSERT_EQ(q.frames.size(), static_cast<std::size_t>(kFrames));

  const std::string raw = fmt::format("-f rawvideo -pix_fmt yuv420p -s {}x{} -i", kWidth, kHeight);
  const auto result = test::shell(
      fmt::format("cd '{}' && ffmpeg -nostdin -hide_banner {} '{}' {} '{}' -lavfi "
                  "'[0:v][1:v]psnr=stats_file=psnr.txt;[0:v][1:v]ssim=stats_file=ssim.txt' -f null - 2>&1",
                  folder.file(""), raw, coded, raw, original));
  ASSERT_EQ(result.exit_code, 0) << result.output;

  const auto psnr = [&](int plane) { return ffmpeg_number(q.psnr_of_video(plane), 6); };
  EXPECT_NE(result.output.find(fmt::format("PSNR y:{} u:{} v:{} average:{} ", psnr(0), psnr(1), psnr(2), psnr(3))),
            std::string::npos)
      << result.output;
  const auto ssim = [](double value) { return ffmpeg_number(value, 6) + " (" + ffmpeg_number(ssim_db(value), 6) + ")"; };
  EXPECT_NE(result.output.find(fmt::format("SSIM Y:{} U:{} V:{} All:{}", ssim(q.totals.mean_ssim(0)),
                                           ssim(q.totals.mean_ssim(1)), ssim(q.totals.mean_ssim(2)),
                                           ssim(q.ssim_of_all()))),
            std::string::npos)
      << result.output << ssim(q.totals.mean_ssim(0)) << ssim(q.ssim_of_all());

  const auto psnr_lines = lines_of(folder.file("psnr.txt"));
  const auto ssim_lines = lines_of(folder.file("ssim.txt"));
  ASSERT_EQ(psnr_lines.size(), q.frames.size());
  ASSERT_EQ(ssim_lines.size(), q.frames.size());
  for (std::size_t i = 0; i < q.frames.size(); ++i) {
    const FrameQuality& f = q.frames[i];
    EXPECT_NE(psnr_lines[i].find(fmt::format("psnr_avg:{:.2f} psnr_y:{:.2f} psnr_u:{:.2f} psnr_v:{:.2f}",
                                             q.psnr_of(f, 3), q.psnr_of(f, 0), q.psnr_of(f, 1), q.psnr_of(f, 2))),
              std::string::npos)
        << psnr_lines[i];
    EXPECT_EQ(ssim_lines[i], fmt::format("n:{} Y:{:.6f} U:{:.6f} V:{:.6f} All:{:.6f} ({:.6f})", i + 1, f.ssim[0],
                                         f.ssim[1], f.ssim[2], q.ssim_of_all(f), ssim_db(q.ssim_of_all(f))));
  }
}

INSTANTIATE_TEST_SUITE_P(Sequences, FfmpegEqualityTest, testing::Values("foreman_352x288", "mobile_352x288"),
                         [](const auto& sequence) { return std::string(sequence.param); });

}  // namespace
}  // namespace c63::tools
