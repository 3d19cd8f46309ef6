// Tests the code of c63mpi that needs no MPI. ranks.py tests the program itself, with several ranks.

#include "mpi/load_report.h"

#include <gtest/gtest.h>

#include <vector>

#include "mpi/segment_worker.h"
#include "support/sources.h"

namespace c63::tools {
namespace {

using test::Bytes;
using test::VideoSource;

RankLoad load_of(int rank, const std::string& host, double busy_s) {
  RankLoad load;
  load.rank = rank;
  load.host = host;
  load.busy_s = busy_s;
  return load;
}

TEST(RankLoads, NameTheRankThatWasBusyLongest) {
  const std::vector<RankLoad> loads = {load_of(0, "a", 9), load_of(1, "a", 12), load_of(2, "b", 9)};
  EXPECT_DOUBLE_EQ(imbalance_of(loads), 0.2);
  EXPECT_EQ(load_line(loads),
            "3 ranks on 2 machines; imbalance 20 %: rank 1 (a) was busy longest, 12.00 s, 10.00 s on average");
  EXPECT_EQ(load_line({load_of(0, "a", 9)}), "1 rank on 1 machine");
  EXPECT_EQ(imbalance_of({load_of(0, "a", 0), load_of(1, "a", 0)}), 0) << "nothing to do";
  EXPECT_EQ(imbalance_of({}), 0);
}

TEST(SegmentSources, ReadAPipeOnAndOpenItAgainToGoBack) {
  const Bytes video = test::random_video(16, 16, 12);
  for (const auto kind : {VideoSource::Kind::pipe, VideoSource::Kind::file}) {
    int opened = 0;
    SegmentSource source([&] {
      ++opened;
      return std::make_unique<VideoSource>(video, 16, 16, kind);
    });
    const auto expect_frames = [&](const Segment& segment) {
      const auto frames = source.frames_of(segment);
      EXPECT_EQ(frames->frame_count(), segment.frames);
      Bytes frame(frame_bytes(16, 16));
      for (std::int64_t i = 0; i < segment.frames; ++i) {
        ASSERT_TRUE(frames->read(i, frame));
        EXPECT_TRUE(std::ranges::equal(frame, VideoSource(video, 16, 16).frame(segment.first + i)))
            << segment.first + i;
      }
      EXPECT_FALSE(frames->read(segment.frames, frame));
    };
    expect_frames({.first = 2, .frames = 3});
    expect_frames({.first = 5, .frames = 1});
    expect_frames({.first = 9, .frames = 3});
    EXPECT_EQ(opened, 1);
    expect_frames({.first = 3, .frames = 2});
    EXPECT_EQ(opened, kind == VideoSource::Kind::pipe ? 2 : 1);
  }
}

}  // namespace
}  // namespace c63::tools
