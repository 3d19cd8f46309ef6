// Tests prefilters: what they do to flat and noisy pictures, reads of frames in any order, and invalid settings.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>

#include "c63/error.h"
#include "common/prefilter_source.h"
#include "support/expect_error.h"

namespace c63::prefilter_test {
namespace {

constexpr std::uint64_t kPlenty = 1 << 20;

/// A source whose frames are noise. The mean of the samples rises by 10 per frame.
class NoiseSource final : public FrameSource {
 public:
  NoiseSource(int width, int height, bool seekable) : format_{width, height, {}}, seekable_(seekable) {}
  VideoFormat format() const override { return format_; }
  std::optional<std::int64_t> frame_count() const override { return 12; }
  bool seekable() const override { return seekable_; }
  bool read(std::int64_t index, std::span<std::uint8_t> frame) override {
    if (index >= 12) return false;
    if (!seekable_) {
      EXPECT_EQ(index, next_);
      ++next_;
    }
    std::mt19937 random(static_cast<unsigned>(index));
    for (auto& sample : frame) sample = static_cast<std::uint8_t>(60 + 10 * index + static_cast<int>(random() % 21));
    return true;
  }

 private:
  VideoFormat format_;
  bool seekable_;
  std::int64_t next_ = 0;
};

std::vector<std::uint8_t> frame_of(FrameSource& source, std::int64_t index) {
  std::vector<std::uint8_t> frame(frame_bytes(source.format().width, source.format().height), 99);
  EXPECT_TRUE(source.read(index, frame));
  return frame;
}

std::string id_of(const std::string& text) {
  return test::error_id([&] { static_cast<void>(prefilter_from(text)); });
}

TEST(Prefilter, NamesAreRead) {
  for (const char* text : {"mean:3", "mean:31", "gauss:1.5", "gauss:0.5", "temporal:2", "temporal:64"}) {
    EXPECT_EQ(name(prefilter_from(text)), text);
  }
  for (const char* text : {"", "mean", "mean:", "mean:x", "mean:3.5", "box:3", "temporal:1", "temporal:65", "gauss:", "gauss:nan"}) {
    EXPECT_EQ(id_of(text), "C63-PREFILTER") << text;
  }
  EXPECT_EQ(id_of("mean:4"), "C63-KERNEL-EVEN");
  EXPECT_EQ(id_of("mean:33"), "C63-KERNEL-SIZE");
  EXPECT_EQ(id_of("gauss:-1"), "C63-KERNEL-VALUE");
}

TEST(Prefilter, SmoothingKeepsFlatPicturesUpToTheBorder) {
  const std::vector<std::uint8_t> flat(37 * 11, 201);
  for (const ByteKernel& kernel : {mean_kernel(5), mean_kernel(31), gauss_kernel(2)}) {
    std::vector<std::uint8_t> out(flat.size());
    smooth({flat.data(), 37, 11, 37}, kernel, {out.data(), 37, 11, 37});
    EXPECT_EQ(out, flat);
  }
}

TEST(Prefilter, SmoothingTakesNoiseAwayInAllPlanes) {
  NoiseSource plain(32, 16, true);
  PrefilterSource smoothed(std::make_unique<NoiseSource>(32, 16, true), prefilter_from("gauss:1.5"), kPlenty);
  const auto before = frame_of(plain, 3);
  const auto after = frame_of(smoothed, 3);
  const auto spread = [](const auto& samples, std::size_t first, std::size_t last) {
    const auto [low, high] = std::minmax_element(samples.begin() + first, samples.begin() + last);
    return *high - *low;
  };
  EXPECT_EQ(spread(before, 0, 512), 20);
  EXPECT_LT(spread(after, 0, 512), 12);
  EXPECT_LT(spread(after, 512, 640), 14);
  EXPECT_LT(spread(after, 640, 768), 14);
}

TEST(Prefilter, ChromaWithoutRowsIsLeftAlone) {
  NoiseSource plain(4, 5, true);
  PrefilterSource smoothed(std::make_unique<NoiseSource>(4, 5, true), prefilter_from("mean:3"), kPlenty);
  const auto before = frame_of(plain, 1);
  const auto after = frame_of(smoothed, 1);
  EXPECT_FALSE(std::equal(before.begin(), before.begin() + 20, after.begin()));
  EXPECT_TRUE(std::equal(before.begin() + 20, before.end(), after.begin() + 20));
}

TEST(Prefilter, TakesNoMoreThanItsLimit) {
  constexpr std::uint64_t kFrame = 16 * 8 * 3 / 2;
  const auto memory_of = [](const char* text, std::uint64_t limit) -> std::uint64_t {
    try {
      return PrefilterSource(std::make_unique<NoiseSource>(16, 8, true), prefilter_from(text), limit).memory();
    } catch (const Error& error) {
      EXPECT_EQ(error.id(), "C63-MAX-MEMORY");
      return 0;
    }
  };
  EXPECT_EQ(memory_of("temporal:4", 6 * kFrame), 6 * kFrame);
  EXPECT_EQ(memory_of("temporal:4", 6 * kFrame - 1), 0U);
  EXPECT_EQ(memory_of("temporal:4", 9 * kFrame + 5), 9 * kFrame);
  EXPECT_EQ(memory_of("temporal:4", kPlenty), 34 * kFrame);
  EXPECT_EQ(memory_of("mean:3", 4 * kFrame), 4 * kFrame);
  EXPECT_EQ(memory_of("mean:3", 4 * kFrame - 1), 0U);
}

TEST(Prefilter, TemporalMeansAreTheSameInAnyOrder) {
  constexpr std::uint64_t kLeast = 6 * 16 * 8 * 3 / 2;
  NoiseSource plain(16, 8, true);
  PrefilterSource forward(std::make_unique<NoiseSource>(16, 8, false), prefilter_from("temporal:4"), kLeast);
  PrefilterSource anyhow(std::make_unique<NoiseSource>(16, 8, true), prefilter_from("temporal:4"), kLeast);
  std::vector<std::vector<std::uint8_t>> expected;
  for (std::int64_t index = 0; index < 12; ++index) {
    expected.push_back(frame_of(forward, index));
    const std::int64_t first = std::max<std::int64_t>(0, index - 3);
    const auto count = static_cast<int>(index - first + 1);
    for (std::size_t i = 0; i < expected.back().size(); i += 17) {
      int total = 0;
      for (std::int64_t k = first; k <= index; ++k) total += frame_of(plain, k)[i];
      ASSERT_EQ(expected.back()[i], (total + count / 2) / count);
    }
  }
  for (const std::int64_t index : {11, 3, 0, 7, 8, 2, 9}) {
    EXPECT_EQ(frame_of(anyhow, index), expected[static_cast<std::size_t>(index)]) << index;
  }
  std::vector<std::uint8_t> frame(192);
  EXPECT_FALSE(anyhow.read(12, frame));
  EXPECT_FALSE(forward.read(12, frame));
}

}  // namespace
}  // namespace c63::prefilter_test
