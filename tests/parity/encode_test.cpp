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
#include "contents.h"

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
  void SetUp() override { parity::skip_without(std::get<0>(GetParam())); }
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
/// all instruction sets are compared with it, and all exhaustive methods.
const std::vector<std::uint8_t>& scalar_stream(std::span<const std::uint8_t> video, EncoderSettings settings) {
  static std::map<std::array<int, 4>, std::vector<std::uint8_t>> known;
  CodingSettings& coding = settings.coding;
  if (is_exhaustive(coding.method)) coding.method = SearchMethod::full_brute;
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
        // Only the default method tests all combinations, and only without a sanitizer. All other cases test every third
        // combination, which is two for each size and range.
        const bool all = method == SearchMethod::full && !kSanitized;
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

std::string test_name(const testing::TestParamInfo<std::tuple<SimdLevel, SearchMethod>>& test) {
  std::string text = std::string(name(std::get<0>(test.param))) + "_" + std::string(name(std::get<1>(test.param)));
  std::ranges::replace(text, '-', '_');
  return text;
}

INSTANTIATE_TEST_SUITE_P(EveryLevelAndMethod, EncodeParity,
                         testing::Combine(parity::kVectorLevels, testing::ValuesIn(values_of<SearchMethod>())),
                         test_name);

}  // namespace
}  // namespace c63::encode_test
