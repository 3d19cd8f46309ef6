#include "c63/film_motion.h"

#include <gtest/gtest.h>

#include "support/host_film_device.h"

namespace c63 {
namespace {

TEST(FilmMotion, PicturesStayOnTheGpuThatDecodesAndSearches) {
  constexpr int kFrames = 30;
  const test::Bytes video = test::moving_video(32, 16, kFrames);
  std::vector<MotionVector> vectors[2];
  std::vector<std::uint16_t> sads[2];
  for (const bool on_device : {false, true}) {
    auto film = std::make_unique<test::DecodedVideo>(video, 32, 16, std::make_shared<test::HostFilmDevice>());
    const test::DecodedVideo& read = *film;
    FilmMotion motion(std::move(film), nullptr, {.pair_search = cpu_pair_search({}), .searches_on_device = on_device});
    while (const FilmFrame* const frame = motion.next()) {
      vectors[on_device].insert(vectors[on_device].end(), frame->vectors.begin(), frame->vectors.end());
      sads[on_device].insert(sads[on_device].end(), frame->sads.begin(), frame->sads.end());
      EXPECT_EQ(frame->picture.empty(), on_device);
      EXPECT_EQ(frame->reference_picture.empty(), on_device || frame->reference < 0);
    }
    EXPECT_EQ(read.reads_on_device(), on_device ? kFrames : 0);
  }
  EXPECT_EQ(vectors[0].size(), (kFrames - 1) * 8U);
  EXPECT_EQ(vectors[0], vectors[1]);
  EXPECT_EQ(sads[0], sads[1]);
}

}  // namespace
}  // namespace c63
