#ifdef C63_HAVE_FFMPEG

#include <thread>

#include "c63/frame_source.h"
#include "c63/media.h"
#include "io_test_support.h"
#include "movie_builder.h"

// Tests that FFmpeg's messages appear in the error of the source that caused them, and that FFmpeg takes limited
// memory.

namespace c63 {
namespace {

class AvLog : public test::FolderTest {
 protected:
  /// Returns a movie of two pictures. The second one has only `bytes` bytes, fewer than a picture needs.
  std::string movie_with_short_packet(std::size_t bytes) {
    return write_file(std::to_string(bytes) + ".mov",
                      test::movie_of({std::string(16 * 16 * 3, 'a'), std::string(bytes, 'b')}));
  }

  static std::string error_of(const std::string& file) {
    try {
      (void)test::read_all(*open_frame_source({.path = file}));
      return "no error";
    } catch (const Error& error) {
      return error.what();
    }
  }

  /// Opens and reads `file` with FFmpeg, then exits: with 0 if the error contains `text`. Called in a child process.
  static void exit_by_error_of(const std::string& file, const std::string& text) {
    std::exit(error_of(file).find(text) != std::string::npos ? 0 : 1);
  }
};

TEST_F(AvLog, IsLeftAloneUnlessAProgramAsks) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const std::string file = write_file("a.mp4", test::movie_of({}).substr(0, 28));
  EXPECT_EXIT(exit_by_error_of(file, "C63-AV-OPEN"), ::testing::ExitedWithCode(0), "moov atom not found");
  EXPECT_EXIT((keep_media_messages(), exit_by_error_of(file, "moov atom not found")), ::testing::ExitedWithCode(0),
              "^$");
  EXPECT_EXIT(((void)error_of(file), keep_media_messages(), exit_by_error_of(file, "moov atom not found")),
              ::testing::ExitedWithCode(0), "moov atom not found");
}

TEST_F(AvLog, SourcesAtTheSameTimeKeepTheirMessagesApart) {
  keep_media_messages();
  const auto read_often = [](const std::string& file, const std::string& message) {
    for (int i = 0; i < 100; ++i) {
      const std::string text = error_of(file);
      ASSERT_NE(text.find(message), std::string::npos) << text;
    }
  };
  std::vector<std::jthread> readers;
  for (const std::size_t bytes : {101, 202, 303}) {
    readers.emplace_back(read_often, movie_with_short_packet(bytes), "packet size " + std::to_string(bytes) + " <");
  }
}

TEST_F(AvLog, PicturesOfADecoderKeepTheLimitOfMemory) {
  const std::string file = write_file("a.ppm", "P6\n1024 1024\n255\n" + std::string(1024 * 1024 * 3, 'x'));
  SourceOptions options{.path = file};
  EXPECT_FALSE(test::read_all(*open_frame_source(options)).empty());
  options.limits.max_memory = 2 << 20;  // a frame of 4:2:0 takes less, one of RGB more
  test::expect_error(ErrorKind::limit, "C63-MAX-MEMORY", [&] { (void)open_frame_source(options); });
}

}  // namespace
}  // namespace c63

#endif
