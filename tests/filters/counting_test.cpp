// Tests histogram, reduction and scan. The serial form must follow the definition, and the fast form must give the
// same.
#include <cmath>
#include <numeric>

#include "filters_test_support.h"

namespace c63 {
namespace {

BinMap coarse_map() {
  BinMap map;
  map.bins = 7;
  for (std::size_t v = 0; v < 256; ++v) map.bin[v] = static_cast<std::uint8_t>(v * 5 % 7);
  return map;
}

TEST(Histogram, CountsByHand) {
  const std::vector<std::uint8_t> bytes = {3, 255, 3, 0};
  std::vector<std::uint64_t> counts(256, 99);
  histogram(bytes, BinMap::identity(), counts, FilterForm::serial);
  EXPECT_EQ(counts[3], 2U);
  EXPECT_EQ(counts[255], 1U);
  EXPECT_EQ(counts[0], 1U);
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}), 4U);
}

TEST(Histogram, FastIsExactAtEveryLength) {
  for (const std::size_t length : kLengths) {
    for (const Content content : kContents) {
      const auto bytes = make_values<std::uint8_t>(length, content);
      for (const BinMap& map : {BinMap::identity(), coarse_map()}) {
        std::vector<std::uint64_t> expected(static_cast<std::size_t>(map.bins), 1), got(expected.size(), 2);
        histogram(bytes, map, expected, FilterForm::serial);
        histogram(bytes, map, got, FilterForm::fast);
        ASSERT_EQ(expected, got) << length;
      }
    }
  }
}

TEST(Histogram, PicturesWithGapsCountTheirSamplesOnly) {
  for (const Size size : kSizes) {
    const Picture<std::uint8_t> picture(size, Content::random);
    std::vector<std::uint64_t> expected(7, 1), got(7, 2);
    histogram(picture.view(), coarse_map(), expected, FilterForm::serial);
    histogram(picture.view(), coarse_map(), got, FilterForm::fast);
    EXPECT_EQ(expected, got);
    EXPECT_EQ(std::accumulate(got.begin(), got.end(), std::uint64_t{0}),
              static_cast<std::uint64_t>(size.width) * static_cast<std::uint64_t>(size.height));
  }
}

TEST(Histogram, ReportsWrongArguments) {
  const std::vector<std::uint8_t> bytes(10);
  std::vector<std::uint64_t> counts(7);
  BinMap map = coarse_map();
  map.bin[200] = 7;
  EXPECT_EQ(error_id([&] { histogram(bytes, map, counts); }), "C63-BIN-MAP");
  map.bins = 0;
  EXPECT_EQ(error_id([&] { histogram(bytes, map, counts); }), "C63-BIN-MAP");
  EXPECT_EQ(error_id([&] { histogram(bytes, BinMap::identity(), counts); }), "C63-FILTER-SHAPE");
}

template <typename T>
class Reduction : public ::testing::Test {};
using ReductionTypes = ::testing::Types<std::uint8_t, std::int32_t, float, double>;
TYPED_TEST_SUITE(Reduction, ReductionTypes);

TYPED_TEST(Reduction, FastAgreesAtEveryLength) {
  using T = TypeParam;
  for (const std::size_t length : kLengths) {
    for (const Content content : kContents) {
      const auto values = make_values<T>(length, content, 7, 1'000'000);
      const std::span<const T> view(values);
      const auto expected = sum<T>(view, FilterForm::serial);
      const auto got = sum<T>(view, FilterForm::fast);
      if constexpr (std::is_integral_v<T>) {
        ASSERT_EQ(expected, got) << length;
      } else {
        double magnitude = 0;
        for (const T value : values) magnitude += std::abs(static_cast<double>(value));
        ASSERT_NEAR(expected, got, 1e-13 * magnitude) << length;
      }
      if (length == 0) {
        for (const FilterForm form : {FilterForm::serial, FilterForm::fast}) {
          EXPECT_EQ(got, 0);
          EXPECT_EQ(error_id([&] { static_cast<void>(minimum<T>(view, form)); }), "C63-FILTER-EMPTY");
          EXPECT_EQ(error_id([&] { static_cast<void>(maximum<T>(view, form)); }), "C63-FILTER-EMPTY");
          EXPECT_EQ(error_id([&] { static_cast<void>(argmin<T>(view, form)); }), "C63-FILTER-EMPTY");
          EXPECT_EQ(error_id([&] { static_cast<void>(argmax<T>(view, form)); }), "C63-FILTER-EMPTY");
        }
        continue;
      }
      ASSERT_EQ(minimum<T>(view, FilterForm::serial), minimum<T>(view, FilterForm::fast));
      ASSERT_EQ(maximum<T>(view, FilterForm::serial), maximum<T>(view, FilterForm::fast));
      ASSERT_EQ(argmin<T>(view, FilterForm::serial), argmin<T>(view, FilterForm::fast));
      ASSERT_EQ(argmax<T>(view, FilterForm::serial), argmax<T>(view, FilterForm::fast));
    }
  }
}

TYPED_TEST(Reduction, PlacesAreTheFirstOfEquals) {
  using T = TypeParam;
  std::vector<T> values(300'000, T{9});
  std::vector<T> high(300'000, T{9});
  for (const std::size_t at : {299'999, 200'000, 65'536, 65'535, 77, 0}) {
    values[at] = T{2};
    EXPECT_EQ(argmin<T>(values, FilterForm::serial), at);
    EXPECT_EQ(argmin<T>(values, FilterForm::fast), at);
    high[at] = T{11};
    EXPECT_EQ(argmax<T>(high, FilterForm::serial), at);
    EXPECT_EQ(argmax<T>(high, FilterForm::fast), at);
  }
}

TEST(ReductionOfInts, SumsDoNotOverflow) {
  const std::vector<std::int32_t> values(100'000, 2'000'000'000);
  EXPECT_EQ(sum<std::int32_t>(values), 200'000'000'000'000);
}

TEST(SquaredErrors, ByHandAndWithoutOverflow) {
  const std::vector<std::uint8_t> a = {0, 255, 7, 7}, b = {255, 0, 9, 7};
  const std::vector<std::uint8_t> dark(300'000, 0), bright(300'000, 255);
  for (const FilterForm form : {FilterForm::serial, FilterForm::fast}) {
    EXPECT_EQ(sum_of_squared_errors(a, b, form), 2 * 255 * 255 + 4);
    EXPECT_EQ(sum_of_squared_errors(dark, bright, form), std::uint64_t{300'000} * 255 * 255);
  }
  EXPECT_EQ(error_id([&] { static_cast<void>(sum_of_squared_errors(a, dark)); }), "C63-FILTER-SHAPE");
}

TEST(SquaredErrors, FastIsExactAtEveryLength) {
  for (const std::size_t length : kLengths) {
    for (const Content a : kContents) {
      for (const Content b : {Content::zeros, Content::alternating, Content::random}) {
        const auto first = make_values<std::uint8_t>(length, a, 1);
        const auto second = make_values<std::uint8_t>(length, b, 2);
        ASSERT_EQ(sum_of_squared_errors(first, second, FilterForm::serial),
                  sum_of_squared_errors(first, second, FilterForm::fast))
            << length;
      }
    }
  }
}

template <typename T>
class Scan : public ::testing::Test {};
using ScanTypes = ::testing::Types<std::int32_t, std::uint32_t, double>;
TYPED_TEST_SUITE(Scan, ScanTypes);

TYPED_TEST(Scan, ByHand) {
  using T = TypeParam;
  const std::vector<T> values = {3, 1, 4};
  std::vector<T> out(3);
  inclusive_scan<T>(values, out, FilterForm::serial);
  EXPECT_EQ(out, (std::vector<T>{3, 4, 8}));
  exclusive_scan<T>(values, out, FilterForm::serial);
  EXPECT_EQ(out, (std::vector<T>{0, 3, 4}));
}

TYPED_TEST(Scan, FastAgreesAtEveryLengthAlsoInPlace) {
  using T = TypeParam;
  std::vector<std::size_t> lengths(kLengths.begin(), kLengths.end());
  lengths.push_back(3'000'001);
  for (const std::size_t length : lengths) {
    for (const Content content : {Content::largest, Content::random}) {
      const auto values = make_values<T>(length, content, 8, 1'000'000);
      for (const bool inclusive : {true, false}) {
        const auto run = [&](std::span<const T> in, std::span<T> out, FilterForm form) {
          inclusive ? inclusive_scan<T>(in, out, form) : exclusive_scan<T>(in, out, form);
        };
        std::vector<T> expected(length, T{1}), got(length, T{2}), same = values;
        run(values, expected, FilterForm::serial);
        run(values, got, FilterForm::fast);
        run(same, same, FilterForm::fast);
        ASSERT_EQ(got, same);
        if constexpr (std::is_integral_v<T>) {
          ASSERT_EQ(expected, got) << length;
        } else {
          for (std::size_t i = 0; i < length; ++i) ASSERT_NEAR(expected[i], got[i], 1e-10 * 1e6 * (1 + std::sqrt(i)));
        }
      }
    }
  }
}

TYPED_TEST(Scan, ReportsWrongArguments) {
  using T = TypeParam;
  std::vector<T> values(10), out(9);
  EXPECT_EQ(error_id([&] { inclusive_scan<T>(values, out); }), "C63-FILTER-SHAPE");
  const std::span<T> all(values);
  EXPECT_EQ(error_id([&] { exclusive_scan<T>(all.first(9), all.last(9)); }), "C63-FILTER-OVERLAP");
}

TEST(SceneCut, IsToldByTheHistogram) {
  const std::vector<std::uint64_t> dark = {90, 10, 0, 0};
  const std::vector<std::uint64_t> alike = {180, 20, 0, 0};
  const std::vector<std::uint64_t> bright = {0, 10, 50, 40};
  const std::vector<std::uint64_t> empty(4);
  EXPECT_DOUBLE_EQ(histogram_distance(dark, alike), 0);
  EXPECT_DOUBLE_EQ(histogram_distance(dark, bright), 0.9);
  EXPECT_TRUE(is_scene_cut(dark, bright));
  EXPECT_FALSE(is_scene_cut(dark, alike));
  EXPECT_FALSE(is_scene_cut(dark, empty));
  EXPECT_EQ(error_id([&] { static_cast<void>(histogram_distance(dark, std::vector<std::uint64_t>(3))); }),
            "C63-FILTER-SHAPE");
}

}  // namespace
}  // namespace c63
