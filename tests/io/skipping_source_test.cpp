#include "c63/frame_source.h"
#include "io_test_support.h"
#include "movie_builder.h"
#include "support/shell.h"

#ifdef C63_HAVE_FFMPEG

namespace c63 {
namespace {

using test::read_all;
using test::read_frame;

class SkippingSource : public test::FolderTest {
 protected:
  [[nodiscard]] std::unique_ptr<FrameSource> open(const std::string& file, std::shared_ptr<SeekTable> table) {
    return open_frame_source({.path = file, .seek_table = std::move(table), .warn = [this](const std::string& text) {
                                if (warns_) warnings_.push_back(text);
                              }});
  }

  /// Reads the whole video in order into `frames_`. Returns the seek table, which the source fills while it reads.
  [[nodiscard]] std::shared_ptr<SeekTable> table_of(const std::string& file) {
    auto table = std::make_shared<SeekTable>();
    const auto source = open(file, table);
    frames_.clear();
    for (std::string frame = read_frame(*source, 0); !frame.empty();) {
      frames_.push_back(frame);
      frame = read_frame(*source, static_cast<std::int64_t>(frames_.size()));
    }
    warns_ = true;
    return table;
  }

  /// Opens the source again and skips towards frame `first`. The source may stop at an earlier frame: returns that
  /// frame. Expects all frames from there to the end.
  std::int64_t expect_frames_from(const std::string& file, const std::shared_ptr<SeekTable>& table, std::int64_t first) {
    const auto source = open(file, table);
    const std::int64_t entered = source->skip_towards(0, first);
    EXPECT_GE(entered, 0);
    EXPECT_LE(entered, first);
    for (auto i = entered; i < static_cast<std::int64_t>(frames_.size()); ++i) {
      EXPECT_EQ(read_frame(*source, i), frames_[static_cast<std::size_t>(i)]) << "frame " << i << ", from " << first;
    }
    return entered;
  }

  /// Returns the path of a movie in which every frame is a key frame.
  std::string movie() {
    std::vector<std::string> pictures;
    for (unsigned i = 0; i < 6; ++i) pictures.push_back(test::sample_bytes(std::size_t{16} * 16 * 3, i));
    return write_file("movie.mov", test::movie_of(pictures));
  }

  /// Returns the path of a video of 40 moving frames, encoded by the ffmpeg program with these options.
  std::string encoded(const std::string& name, const std::string& options) {
    const std::string file = path(name);
    const auto made = test::shell("ffmpeg -v error -f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 40 -pix_fmt yuv420p " +
                                  options + " " + file);
    EXPECT_EQ(made.exit_code, 0) << options;
    return file;
  }

  std::vector<std::string> frames_;
  std::vector<std::string> warnings_;
  bool warns_ = false;
};

TEST_F(SkippingSource, GoesToEveryFrameOfKeyFrames) {
  const std::string file = movie();
  const auto table = table_of(file);
  ASSERT_EQ(table->sums.size(), 6U);
  ASSERT_EQ(table->points.size(), 6U);
  for (std::int64_t first = 0; first < 6; ++first) EXPECT_EQ(expect_frames_from(file, table, first), first);
  EXPECT_TRUE(warnings_.empty()) << warnings_[0];
}

TEST_F(SkippingSource, SkipsAgainButNeverBack) {
  const std::string file = movie();
  const auto source = open(file, table_of(file));
  EXPECT_EQ(source->skip_towards(0, 2), 2);
  EXPECT_EQ(read_frame(*source, 2), frames_[2]);
  EXPECT_EQ(source->skip_towards(3, 3), 3);
  EXPECT_EQ(source->skip_towards(3, 5), 5);
  EXPECT_EQ(read_frame(*source, 5), frames_[5]);
  EXPECT_TRUE(warnings_.empty()) << warnings_[0];
}

TEST_F(SkippingSource, StaysIfTheTableKnowsNothing) {
  const std::string file = movie();
  const auto table = table_of(file);
  EXPECT_EQ(open(file, table)->skip_towards(0, 6), 0);
  EXPECT_EQ(open(file, nullptr)->skip_towards(0, 3), 0);
}

TEST_F(SkippingSource, ReadsFromTheStartIfTheTableIsWrong) {
  const std::string file = movie();
  const auto right = table_of(file);
  const auto wrong = [&](const std::function<void(SeekTable&)>& change) {
    warnings_.clear();
    auto table = std::make_shared<SeekTable>(*right);
    change(*table);
    EXPECT_EQ(expect_frames_from(file, table, 3), 3);
    ASSERT_EQ(warnings_.size(), 1U);
  };
  wrong([](SeekTable& table) { table.sums[3] += 1; });
  wrong([](SeekTable& table) { table.sums[5] += 1; });
  wrong([](SeekTable& table) { table.points[3].time += 1; });
  wrong([](SeekTable& table) { table.points[3].time = table.points[2].time; });
  wrong([](SeekTable& table) { table.points[3].time = -1'000'000'000; });
  wrong([](SeekTable& table) { table.points[3].decoded = 1'000'000'000; });
}

TEST_F(SkippingSource, ClippedFramesAreThoseOfAReadingInOrder) {
  const std::string file = movie();
  const auto table = table_of(file);
  for (std::int64_t first = 0; first < 6; ++first) {
    const auto source = clip_frames(clip_frames(open(file, table), 1, 4), first);
    std::string expected;
    for (std::int64_t i = 1 + first; i < 5; ++i) expected += frames_[static_cast<std::size_t>(i)];
    EXPECT_EQ(read_all(*source), expected) << first;
  }
  EXPECT_TRUE(warnings_.empty()) << warnings_[0];
}

TEST_F(SkippingSource, EntersWhatEncodersWrite) {
  if (!test::have_command("ffmpeg")) GTEST_SKIP() << "no ffmpeg";
  struct Case {
    std::string name;
    std::string options;
    /// True if the source can skip to a key frame. Key frames must have times. Frames that are shown after a key frame
    /// must not refer to frames before it.
    bool enters;
  };
  const std::vector<Case> cases = {
      {"closed.mp4", "-c:v libx264 -g 8 -bf 2", true},
      {"open.mp4", "-c:v libx264 -g 8 -bf 3 -x264-params open-gop=1:keyint=8:scenecut=0", true},
      {"open.ts", "-c:v libx264 -g 8 -bf 3 -x264-params open-gop=1:keyint=8:scenecut=0", true},
      {"mpeg2.mkv", "-c:v mpeg2video -g 8 -bf 2", true},
      {"lossless.mkv", "-c:v ffv1 -g 8", true},
      {"refresh.mp4", "-c:v libx264 -g 8 -x264-params intra-refresh=1", false},
      {"bare.264", "-c:v libx264 -g 8 -bf 2", false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    warnings_.clear();
    const std::string file = encoded(c.name, c.options);
    const auto table = table_of(file);
    ASSERT_EQ(frames_.size(), 40U);
    std::int64_t entered = 0;
    for (std::int64_t first = 0; first < 40; first += 3) entered += expect_frames_from(file, table, first) > 0 ? 1 : 0;
    if (!c.enters) continue;
    EXPECT_EQ(entered, 11);  // all positions from frame 9 on
    EXPECT_TRUE(warnings_.empty()) << warnings_[0];
  }
}

}  // namespace
}  // namespace c63

#endif
