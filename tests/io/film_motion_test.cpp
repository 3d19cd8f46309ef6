#include "c63/film_motion.h"

#include "io_test_support.h"
#include "support/host_film_device.h"

namespace c63 {
namespace {

/// A film of random samples, which a GPU decodes.
class DecodedFilm final : public FrameSource {
 public:
  explicit DecodedFilm(std::shared_ptr<test::HostFilmDevice> device) : device_(std::move(device)) {}

  [[nodiscard]] VideoFormat format() const override { return {32, 16, {}}; }
  [[nodiscard]] std::optional<std::int64_t> frame_count() const override { return std::nullopt; }
  [[nodiscard]] bool seekable() const override { return false; }
  [[nodiscard]] std::shared_ptr<FilmDevice> film_device() const override { return device_; }
  [[nodiscard]] bool read(std::int64_t index, std::span<std::uint8_t> frame) override {
    if (index == 30) return false;
    EXPECT_EQ(device_->owns(frame.data()), on_device);
    std::ranges::copy(test::sample_bytes(frame.size(), static_cast<unsigned>(index)), frame.begin());
    return true;
  }

  bool on_device = false;

 private:
  std::shared_ptr<test::HostFilmDevice> device_;
};

TEST(FilmMotion, PicturesStayOnTheGpuThatDecodesAndSearches) {
  std::vector<MotionVector> vectors[2];
  std::vector<std::uint16_t> sads[2];
  for (const bool on_device : {false, true}) {
    auto film = std::make_unique<DecodedFilm>(std::make_shared<test::HostFilmDevice>());
    film->on_device = on_device;
    FilmMotion motion(std::move(film), nullptr, {.pair_search = cpu_pair_search({}), .searches_on_device = on_device});
    while (const FilmFrame* const frame = motion.next()) {
      vectors[on_device].insert(vectors[on_device].end(), frame->vectors.begin(), frame->vectors.end());
      sads[on_device].insert(sads[on_device].end(), frame->sads.begin(), frame->sads.end());
      EXPECT_EQ(frame->picture.empty(), on_device);
      EXPECT_EQ(frame->reference_picture.empty(), on_device || frame->reference < 0);
    }
  }
  EXPECT_EQ(vectors[0].size(), 29U * 8);
  EXPECT_EQ(vectors[0], vectors[1]);
  EXPECT_EQ(sads[0], sads[1]);
}

}  // namespace
}  // namespace c63
