// The project promises that equal settings give equal bytes. This tests it for every instruction set, thread count and
// lane count.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "c63/decoder.h"
#include "c63/encoder.h"
#include "c63/error.h"
#include "c63/motion.h"
#include "contents.h"
#include "codec/search_window.h"
#include "cpu/kernels.h"
#include "support/print_names.h"

namespace c63::encode_test {
namespace {

using parity::Content;

/// Makes frames with motion in luma, noise in chroma, and some other samples in between.
std::vector<std::uint8_t> make_video(int width, int height, int frames) {
  std::vector<std::uint8_t> video;
  for (int f = 0; f < frames; ++f) {
    for (int p = 0; p < 3; ++p) {
      std::vector<std::uint8_t> plane(plane_bytes(width, height, p));
      const Content content = p == 0 ? Content::shifted : Content::noise_on_gray;
      fill(content, plane.data(), static_cast<int>(plane.size()) / 4, 4, static_cast<std::ptrdiff_t>(plane.size() / 4),
           static_cast<unsigned>(f + 1));
      for (std::size_t i = 0; i < plane.size(); i += 97) plane[i] = static_cast<std::uint8_t>(i * 31 + 7 * f);
      video.insert(video.end(), plane.begin(), plane.end());
    }
  }
  return video;
}

class EncodeParity : public testing::TestWithParam<std::tuple<SimdLevel, SearchMethod>> {
 protected:
  void SetUp() override {
    const auto levels = available_simd_levels();
    if (std::ranges::find(levels, std::get<0>(GetParam())) == levels.end()) {
      GTEST_SKIP() << "this machine or build has no " << name(std::get<0>(GetParam())) << " kernels";
    }
  }
};

struct Execution {
  int threads = 0;
  int lanes = 0;
};

#if defined(C63_SANITIZED)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

/// The combinations of a thread count and a lane count that are tested.
constexpr Execution kExecutions[] = {{1, 1}, {1, 3}, {2, 3}, {2, 1}, {5, 1}, {5, 3}};

/// Returns the stream that the scalar kernels make from a video. Each stream is made only once and then kept, because
/// all instruction sets are compared with it.
const std::vector<std::uint8_t>& scalar_stream(std::span<const std::uint8_t> video, EncoderSettings settings) {
  static std::map<std::array<int, 4>, std::vector<std::uint8_t>> known;
  const CodingSettings& coding = settings.coding;
  const auto [at, is_new] = known.try_emplace({static_cast<int>(coding.method), coding.width, coding.height, coding.search_range});
  if (is_new) {
    settings.execution = {.threads = 1, .lanes = 1, .simd = SimdLevel::scalar};
    at->second = encode(video, settings);
  }
  return at->second;
}

TEST_P(EncodeParity, SameBytesAndPictures) {
  const auto [level, method] = GetParam();
  constexpr int kSizes[][2] = {{64, 48}, {100, 50}, {16, 16}, {40, 24}, {16, 130}};
  constexpr int kRanges[] = {16, 127};
  for (std::size_t size = 0; size < std::size(kSizes); ++size) {
    const auto [width, height] = kSizes[size];
    const auto video = make_video(width, height, 11);
    for (std::size_t range = 0; range < std::size(kRanges); ++range) {
      EncoderSettings settings;
      settings.coding.width = width;
      settings.coding.height = height;
      settings.coding.key_interval = 4;
      settings.coding.method = method;
      settings.coding.search_range = kRanges[range];
      const std::vector<std::uint8_t>& expected = scalar_stream(video, settings);
      settings.execution.simd = level;
      for (std::size_t i = 0; i < std::size(kExecutions); ++i) {
        // Only the default method tests all combinations, and only with fast kernels and without a sanitizer. All other
        // cases test every third combination, which is two for each size and range.
        const bool all = method == SearchMethod::full && level != SimdLevel::scalar && !kSanitized;
        if (!all && (size + range + i) % 3 != 0) continue;
        settings.execution.threads = kExecutions[i].threads;
        settings.execution.lanes = kExecutions[i].lanes;
        ASSERT_EQ(encode(video, settings), expected) << width << "x" << height << " range " << kRanges[range] << " threads "
                                                     << kExecutions[i].threads << " lanes " << kExecutions[i].lanes;
      }
      const auto pictures = decode(expected, {.execution = {.threads = 1, .simd = SimdLevel::scalar}});
      for (const int threads : {1, 3}) {
        ASSERT_EQ(decode(expected, {.execution = {.threads = threads, .simd = level}}), pictures);
      }
    }
  }
}

TEST(SearchMethods, FullIsBruteForce) {
  const auto video = make_video(96, 80, 6);
  EncoderSettings settings;
  settings.coding.width = 96;
  settings.coding.height = 80;
  const auto full = encode(video, settings);
  for (const SearchMethod method : {SearchMethod::full_brute, SearchMethod::full_eliminate}) {
    settings.coding.method = method;
    EXPECT_EQ(encode(video, settings), full);
  }
  settings.coding.method = SearchMethod::zero;
  EXPECT_NE(encode(video, settings), full);
}

TEST(EstimateMotion, FindsPlainMotionUnlessItDoesNotSearch) {
  constexpr int kWidth = 128;
  constexpr int kHeight = 96;
  // The picture is a smooth hill, which moves by (5, -3) from one plane to the other.
  const auto hill = [](int x, int y) {
    const int d = (x - 64) * (x - 64) + (y - 48) * (y - 48);
    return static_cast<std::uint8_t>(std::max(0, 250 - d / 12));
  };
  std::vector<std::uint8_t> current(kWidth * kHeight);
  std::vector<std::uint8_t> reference(kWidth * kHeight);
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      reference[y * kWidth + x] = hill(x, y);
      current[y * kWidth + x] = hill(x + 5, y - 3);
    }
  }
  const ConstPlaneView a{current.data(), kWidth, kHeight, kWidth};
  const ConstPlaneView b{reference.data(), kWidth, kHeight, kWidth};
  EXPECT_EQ(estimate_motion(a, b, 16, SearchMethod::full).at(7, 6), (MotionVector{5, -3}));
  const MotionField still = estimate_motion(a, b, 16, SearchMethod::zero);
  for (int row = 0; row < still.rows; ++row) {
    for (int column = 0; column < still.columns; ++column) {
      EXPECT_EQ(still.at(column, row), MotionVector{});
      EXPECT_EQ(still.sads[static_cast<std::size_t>(row * still.columns + column)],
                cpu::scalar_kernels().sad(&a.at(8 * column, 8 * row), kWidth, &b.at(8 * column, 8 * row), kWidth));
    }
  }
}

std::string test_name(const testing::TestParamInfo<std::tuple<SimdLevel, SearchMethod>>& test) {
  std::string text = std::string(name(std::get<0>(test.param))) + "_" + std::string(name(std::get<1>(test.param)));
  std::ranges::replace(text, '-', '_');
  return text;
}

INSTANTIATE_TEST_SUITE_P(EveryLevelAndMethod, EncodeParity,
                         testing::Combine(testing::ValuesIn(all_simd_levels()), testing::ValuesIn(all_search_methods())),
                         test_name);

}  // namespace
}  // namespace c63::encode_test
