#include <fcntl.h>
#include <sys/stat.h>

#include "c63/frame_source.h"
#include "io_test_support.h"

namespace c63 {
namespace {

using test::expect_error;
using test::read_all;
using test::read_frame;
using test::sample_bytes;

using RawSource = test::SourceTest;

TEST_F(RawSource, ReadsFramesInAnyOrder) {
  const std::string bytes = sample_bytes(5 * 24);
  const auto source = open_frame_source(options(write_file("a.yuv", bytes), 4, 4));
  EXPECT_TRUE(source->seekable());
  EXPECT_EQ(source->frame_count(), 5);
  EXPECT_EQ(source->format().rate.value(), 25);
  for (const int index : {4, 0, 3, 3, 1, 2}) EXPECT_EQ(read_frame(*source, index), bytes.substr(24 * index, 24));
  EXPECT_EQ(read_frame(*source, 5), "");
  EXPECT_EQ(read_frame(*source, -1), "");
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(RawSource, TakesTheSizeFromTheName) {
  EXPECT_EQ(size_from_name("dir_16x16/FOREMAN_352x288.yuv"), std::pair(352, 288));
  EXPECT_EQ(size_from_name("a_176x144_30fps.yuv"), std::pair(176, 144));
  EXPECT_EQ(size_from_name("a/akiyo_cif.yuv"), std::pair(352, 288));
  EXPECT_EQ(size_from_name("akiyo_QCIF.yuv"), std::pair(176, 144));
  EXPECT_EQ(size_from_name("city_4cif_30.yuv"), std::pair(704, 576));
  EXPECT_EQ(size_from_name("foreman_352x288_2x2tiles.yuv"), std::pair(352, 288));
  EXPECT_EQ(size_from_name("foreman352x288.yuv"), std::pair(352, 288));
  EXPECT_EQ(size_from_name("pacific.yuv"), std::nullopt);
  EXPECT_EQ(size_from_name("max.yuv"), std::nullopt);
  EXPECT_EQ(size_from_name("0x10.yuv"), std::nullopt);
  EXPECT_EQ(size_from_name("99999999999x99999999999.yuv"), std::nullopt);
  EXPECT_EQ(size_from_name(""), std::nullopt);
  const auto source = open_frame_source(options(write_file("clip_8X4.yuv", sample_bytes(48))));
  EXPECT_EQ(source->format().width, 8);
  EXPECT_EQ(source->format().height, 4);
}

TEST_F(RawSource, WarnsIfTheNameSaysAnotherSize) {
  const std::string path = write_file("clip_8x4.yuv", sample_bytes(96));
  EXPECT_EQ(open_frame_source(options(path, 8, 4))->frame_count(), 2);
  EXPECT_TRUE(warnings_.empty());
  EXPECT_EQ(open_frame_source(options(path, 4, 4))->frame_count(), 4);
  ASSERT_EQ(warnings_.size(), 1U);
  EXPECT_EQ(warnings_[0], "the name says 8x4, but it is read as 4x4");
}

TEST_F(RawSource, WarnsIfTheNameSaysAnotherLayout) {
  for (const std::string name : {"a_8x4_10bit", "a_8x4_422", "a_8x4_YUV444p", "a_8x4_nv12", "a_8x4.p10", "a_8x4_yuv420p10le",
                                 "a_8x4_yuv420p12", "a_8x4_yuv411p", "a_8x4_uyvy", "a_8x4_i422", "a_8x4_nv16"}) {
    warnings_.clear();
    EXPECT_EQ(open_frame_source(options(write_file(name + ".yuv", sample_bytes(48))))->frame_count(), 1);
    EXPECT_EQ(warnings_.size(), 1U) << name;
  }
  for (const std::string name : {"a_8x4_yuv420p", "a_8x4_8bit", "p10ne_8x4", "a_8x4_i420"}) {
    warnings_.clear();
    EXPECT_EQ(open_frame_source(options(write_file(name + ".yuv", sample_bytes(48))))->frame_count(), 1);
    EXPECT_TRUE(warnings_.empty()) << name;
  }
}

TEST_F(RawSource, OddSidesWithTheCourseRule) {
  const std::string bytes = sample_bytes(2 * 30);  // 5x4: 20 + 5 + 5
  EXPECT_EQ(read_all(*open_frame_source(options(write_file("a.yuv", bytes), 5, 4))), bytes);
}

TEST_F(RawSource, RefusesInvalidSizesAndHoldsTheLimits) {
  const std::string path = write_file("a.yuv", sample_bytes(100));
  const auto expect = [&](int width, int height, ErrorKind kind, const std::string& id, const Limits& limits = {}) {
    SourceOptions sized = options(path, width, height);
    sized.limits = limits;
    const auto check = [&](const Error& error) { EXPECT_EQ(error.place().file, path); };
    expect_error(kind, id, [&] { (void)open_frame_source(sized); }, check);
  };
  expect(3, 3, ErrorKind::usage, "C63-SIZE-AREA");
  expect(3, 2, ErrorKind::usage, "C63-SIZE-AREA");
  expect(0, 0, ErrorKind::usage, "C63-SIZE-UNKNOWN");
  for (const auto& [width, height] : {std::pair{4, 0}, {0, 4}, {-4, 4}, {4, -4}, {-4, -4}}) {
    expect(width, height, ErrorKind::usage, "C63-SIZE-ZERO");
  }
  expect(65536, 4, ErrorKind::limit, "C63-SIZE-RANGE");
  expect(16, 16, ErrorKind::limit, "C63-MAX-PIXELS", {.max_pixels = 255});
  expect(16, 16, ErrorKind::limit, "C63-MAX-MEMORY", {.max_memory = 383});
}

TEST_F(RawSource, EmptyFileHasNoFrames) {
  const auto source = open_frame_source(options(write_file("a.yuv", ""), 4, 4));
  EXPECT_EQ(source->frame_count(), 0);
  EXPECT_EQ(read_frame(*source, 0), "");
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(RawSource, APartialLastFrameWarnsAndIsDroppedButIsAnErrorIfStrict) {
  const std::string bytes = sample_bytes(24 * 3 - 1);
  for (const bool is_pipe : {false, true}) {
    for (const bool is_strict : {false, true}) {
      SCOPED_TRACE(std::to_string(is_pipe) + std::to_string(is_strict));
      warnings_.clear();
      const auto piped = is_pipe ? std::make_unique<test::PipedInput>(bytes) : nullptr;
      SourceOptions with = options(is_pipe ? "-" : write_file("a.yuv", bytes), 4, 4);
      with.strict = is_strict;
      std::string read;
      const auto run = [&] {
        const auto source = open_frame_source(with);
        EXPECT_EQ(source->frame_count(), is_pipe ? std::nullopt : std::optional<std::int64_t>(2));
        for (std::int64_t index = 0; index < 3; ++index) read += read_frame(*source, index);
      };
      if (is_strict) {
        expect_error(ErrorKind::input, "C63-RAW-PARTIAL", run, [](const Error& error) {
          EXPECT_EQ(error.place().frame, 2);
          EXPECT_EQ(error.place().offset, 48);
        });
      } else {
        run();
        EXPECT_EQ(warnings_.size(), 1U);
      }
      EXPECT_EQ(read, is_strict && !is_pipe ? "" : bytes.substr(0, 48));
    }
  }
}

TEST_F(RawSource, ReadsAPipeInOrderOnly) {
  const std::string bytes = sample_bytes(24 * 300);
  const test::PipedInput input(bytes);
  const auto source = open_frame_source(options("-", 4, 4));
  EXPECT_FALSE(source->seekable());
  EXPECT_EQ(source->frame_count(), std::nullopt);
  expect_error(ErrorKind::internal, "C63-SOURCE-ORDER", [&] { (void)read_frame(*source, 1); });
  EXPECT_EQ(read_all(*source), bytes);
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(RawSource, EmptyPipeHasNoFrames) {
  const test::PipedInput input("");
  EXPECT_EQ(read_all(*open_frame_source(options("-", 4, 4))), "");
}

TEST_F(RawSource, RedirectedFileIsSeekableFromItsPosition) {
  const std::string bytes = sample_bytes(24 * 4);
  const int descriptor = ::open(write_file("a.yuv", bytes).c_str(), O_RDONLY);
  ASSERT_EQ(::lseek(descriptor, 24, SEEK_SET), 24);
  const test::RedirectedDescriptor redirected(STDIN_FILENO, descriptor);
  const auto source = open_frame_source(options("-", 4, 4));
  EXPECT_TRUE(source->seekable());
  EXPECT_EQ(source->frame_count(), 3);
  EXPECT_EQ(read_frame(*source, 2), bytes.substr(72));
  EXPECT_EQ(read_frame(*source, 0), bytes.substr(24, 24));
}

TEST_F(RawSource, FileThatShrinksIsReported) {
  const std::string path = write_file("a.yuv", sample_bytes(24 * 4));
  const auto source = open_frame_source(options(path, 4, 4));
  std::filesystem::resize_file(path, 30);
  EXPECT_EQ(read_frame(*source, 0).size(), 24U);
  expect_error(
      ErrorKind::input, "C63-INPUT-SHRUNK", [&] { (void)read_frame(*source, 1); },
      [](const Error& error) { EXPECT_EQ(error.place().offset, 30); });
}

TEST_F(RawSource, MissingDirectoryUnreadableAndUnnamedInput) {
  expect_error(ErrorKind::input, "C63-INPUT-OPEN", [&] { (void)open_frame_source(options(path("none.yuv"), 4, 4)); });
  expect_error(ErrorKind::input, "C63-INPUT-OPEN", [&] { (void)open_frame_source(options(folder_.string(), 4, 4)); });
  expect_error(ErrorKind::usage, "C63-INPUT-MISSING", [&] { (void)open_frame_source(options("", 4, 4)); });
}

TEST_F(RawSource, UnreadableInput) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads everything";
  const std::string path = write_file("a.yuv", sample_bytes(24));
  ::chmod(path.c_str(), 0);
  expect_error(ErrorKind::input, "C63-INPUT-OPEN", [&] { (void)open_frame_source(options(path, 4, 4)); });
}

TEST_F(RawSource, ClippedToARange) {
  const std::string bytes = sample_bytes(24 * 5);
  const std::string path = write_file("a.yuv", bytes);
  const auto open = [&](std::int64_t first, std::int64_t count) {
    return clip_frames(open_frame_source(options(path, 4, 4)), first, count);
  };
  EXPECT_EQ(open(2, 2)->frame_count(), 2);
  EXPECT_EQ(read_all(*open(2, 2)), bytes.substr(48, 48));
  EXPECT_EQ(read_all(*open(3, -1)), bytes.substr(72));
  EXPECT_EQ(open(3, 9)->frame_count(), 2);
  EXPECT_EQ(open(9, -1)->frame_count(), 0);
  EXPECT_EQ(read_all(*open(9, -1)), "");
  EXPECT_EQ(read_all(*open(0, 0)), "");
  expect_error(ErrorKind::usage, "C63-SEEK-RANGE", [&] { (void)open(-1, 1); });
  const test::PipedInput input(bytes);
  EXPECT_EQ(read_all(*clip_frames(open_frame_source(options("-", 4, 4)), 1, 3)), bytes.substr(24, 72));
}

}  // namespace
}  // namespace c63
