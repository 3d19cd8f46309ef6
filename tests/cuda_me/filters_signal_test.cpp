// Tests filters and scans of signals on a GPU, in all variants. Compares them with the serial form on the CPU, at many
// lengths and also with unaligned data.
#include <cmath>

#include "cuda_me/runtime/memory.h"
#include "cuda_me/runtime/needs.h"
#include "filters_test_support.h"

namespace c63::cuda {
namespace {

class CudaSignals : public FilterTest {};
C63_INSTANTIATE_FILTER_TESTS(CudaSignals);

TEST_P(CudaSignals, ConvolutionsAgreeToTheBit) {
  FilterQueue& queue = this->queue();
  for (const std::size_t length : lengths()) {
    const auto signal = make_values<double>(length, Content::random);
    for (const std::size_t count : {1, 3, 5, 7, 9, 11, 33, 1023}) {
      if (length > 1000 && count > 33) continue;
      const auto taps = make_values<double>(count, Content::random, 2);
      std::vector<double> expected(length);
      c63::convolve(signal, taps, expected, FilterForm::serial);
      for (const auto& [name, variant] : variant_names<ConvolutionVariant>()) {
        for (const std::size_t offset : {0, 1}) {
          const Offset<double> in(queue, signal, offset), out(queue, length, offset);
          convolve(queue, in.const_span(), taps, out.span(), variant);
          ASSERT_EQ(expected, out.download(queue)) << name << ", " << length << " samples, " << count << " taps";
        }
      }
    }
  }
}

TEST_P(CudaSignals, HistogramsAreExact) {
  FilterQueue& queue = this->queue();
  BinMap coarse;
  coarse.bins = 7;
  for (std::size_t v = 0; v < 256; ++v) coarse.bin[v] = static_cast<std::uint8_t>(v * 5 % 7);
  for (const std::size_t length : lengths()) {
    for (const Content content : contents()) {
      const auto bytes = make_values<std::uint8_t>(length, content);
      for (const BinMap& map : {BinMap::identity(), coarse}) {
        std::vector<std::uint64_t> expected(static_cast<std::size_t>(map.bins));
        c63::histogram(bytes, map, expected, FilterForm::serial);
        for (const auto& [name, variant] : variant_names<HistogramVariant>()) {
          for (const std::size_t offset : {0, 3}) {
            const Offset<std::uint8_t> in(queue, bytes, offset);
            const Offset<std::uint64_t> counts(queue, expected.size(), 0);
            histogram(queue, in.const_span(), map, counts.span(), variant);
            ASSERT_EQ(expected, counts.download(queue)) << name << ", " << length;
          }
        }
      }
    }
  }
}

/// More than 2^32 bytes have the same value, so a 32-bit counter would overflow. histogram() must count them in several
/// pieces.
TEST_P(CudaSignals, CubCountsBeyond32Bits) {
  if (few()) GTEST_SKIP() << "4 GiB";
  constexpr std::size_t kBytes = (std::size_t{4} << 30) + 12'345;
  FilterQueue& queue = this->queue();
  DeviceArray<std::uint8_t> bytes;
  try {
    bytes = DeviceArray<std::uint8_t>(queue, kBytes);
  } catch (const Error&) {
    GTEST_SKIP() << "the GPU has no 4 GiB that are free";
  }
  fill_async(bytes.data(), 7, kBytes, queue.stream());
  fill_async(bytes.data() + kBytes - 5, 9, 5, queue.stream());
  const DeviceArray<std::uint64_t> counts(queue, 256);
  histogram(queue, bytes.const_span(), BinMap::identity(), counts.span(), HistogramVariant::cub);
  std::vector<std::uint64_t> expected(256);
  expected[7] = kBytes - 5;
  expected[9] = 5;
  EXPECT_EQ(counts.download(queue), expected);
}

template <typename T>
void expect_reductions(FilterQueue& queue, const std::vector<std::size_t>& lengths, const std::vector<Content>& contents) {
  for (const std::size_t length : lengths) {
    for (const Content content : contents) {
      const auto values = make_values<T>(length, content, 7, 1'000'000);
      double magnitude = 0;
      for (const T value : values) magnitude += std::abs(static_cast<double>(value));
      for (const auto& [name, variant] : variant_names<ReductionVariant>()) {
        const Offset<T> in(queue, values, length % 2);
        const DeviceArray<SumOf<T>> total(queue, 1);
        sum<T>(queue, in.const_span(), total.data(), variant);
        const auto expected = c63::sum<T>(values, FilterForm::serial);
        if constexpr (std::is_integral_v<T>) {
          ASSERT_EQ(total.download(queue)[0], expected) << name << ", " << length;
        } else {
          ASSERT_NEAR(total.download(queue)[0], expected, 1e-13 * magnitude) << name << ", " << length;
        }
        const DeviceArray<T> value(queue, 1);
        const DeviceArray<std::uint64_t> place(queue, 1);
        if (length == 0) {
          EXPECT_EQ(error_id([&, v = variant] { minimum<T>(queue, in.const_span(), value.data(), v); }),
                    "C63-FILTER-EMPTY");
          EXPECT_EQ(error_id([&, v = variant] { maximum<T>(queue, in.const_span(), value.data(), v); }),
                    "C63-FILTER-EMPTY");
          EXPECT_EQ(error_id([&, v = variant] { argmin<T>(queue, in.const_span(), place.data(), v); }),
                    "C63-FILTER-EMPTY");
          EXPECT_EQ(error_id([&, v = variant] { argmax<T>(queue, in.const_span(), place.data(), v); }),
                    "C63-FILTER-EMPTY");
          continue;
        }
        minimum<T>(queue, in.const_span(), value.data(), variant);
        ASSERT_EQ(value.download(queue)[0], c63::minimum<T>(values, FilterForm::serial)) << name << ", " << length;
        maximum<T>(queue, in.const_span(), value.data(), variant);
        ASSERT_EQ(value.download(queue)[0], c63::maximum<T>(values, FilterForm::serial)) << name << ", " << length;
        argmin<T>(queue, in.const_span(), place.data(), variant);
        ASSERT_EQ(place.download(queue)[0], c63::argmin<T>(values, FilterForm::serial)) << name << ", " << length;
        argmax<T>(queue, in.const_span(), place.data(), variant);
        ASSERT_EQ(place.download(queue)[0], c63::argmax<T>(values, FilterForm::serial)) << name << ", " << length;
      }
    }
  }
}

TEST_P(CudaSignals, ReductionsAgree) {
  expect_reductions<std::uint8_t>(queue(), lengths(), contents());
  expect_reductions<std::int32_t>(queue(), lengths(), contents());
  expect_reductions<float>(queue(), lengths(), contents());
  expect_reductions<double>(queue(), lengths(), contents());
}

TEST_P(CudaSignals, SquaredErrorsAreExactAlsoUnaligned) {
  FilterQueue& queue = this->queue();
  const DeviceArray<std::uint64_t> result(queue, 1);
  for (const std::size_t length : lengths()) {
    for (const Content content : contents()) {
      const auto a = make_values<std::uint8_t>(length, content, 1);
      const auto b = make_values<std::uint8_t>(length, Content::random, 2);
      for (const std::size_t a_offset : {0, 3}) {
        for (const std::size_t b_offset : {0, 3}) {
          const Offset<std::uint8_t> first(queue, a, a_offset), second(queue, b, b_offset);
          sum_of_squared_errors(queue, first.const_span(), second.const_span(), result.data());
          ASSERT_EQ(result.download(queue)[0], c63::sum_of_squared_errors(a, b, FilterForm::serial))
              << length << ", " << a_offset << " and " << b_offset << " bytes after a line";
        }
      }
    }
  }
  const DeviceArray<std::uint8_t> longer(queue, 8);
  EXPECT_EQ(error_id([&] {
              sum_of_squared_errors(queue, longer.const_span(), longer.const_span().first(7), result.data());
            }),
            "C63-FILTER-SHAPE");
}

/// `is_long` adds lengths at which each thread block scans many tiles (pieces of the signal). They do not all fit in
/// its shared memory. The variants with a single thread block would take long for them.
template <typename T>
void expect_scans(FilterQueue& queue, std::vector<std::size_t> lengths, bool is_long = false) {
  if (is_long) lengths.insert(lengths.end(), {5'000'001, 20'000'000});
  for (const std::size_t length : lengths) {
    const auto values = make_values<T>(length, Content::random, 8, 1'000'000);
    for (const bool inclusive : {true, false}) {
      std::vector<T> expected(length);
      inclusive ? c63::inclusive_scan<T>(values, expected, FilterForm::serial)
                : c63::exclusive_scan<T>(values, expected, FilterForm::serial);
      for (const auto& [name, variant] : variant_names<ScanVariant>()) {
        const bool is_one_block = variant != ScanVariant::best && variant < ScanVariant::many_blocks;
        if (length > 2'000'000 && is_one_block) continue;
        for (const int how : {0, 1, 2, 3}) {
          const bool in_place = how % 2 != 0;
          const std::size_t offset = how / 2;
          const Offset<T> in(queue, values, offset), apart(queue, length, offset);
          const Offset<T>& out = in_place ? in : apart;
          inclusive ? inclusive_scan<T>(queue, in.const_span(), out.span(), variant)
                    : exclusive_scan<T>(queue, in.const_span(), out.span(), variant);
          const std::vector<T> got = out.download(queue);
          if constexpr (std::is_integral_v<T>) {
            ASSERT_EQ(expected, got) << name << ", " << length;
          } else {
            for (std::size_t i = 0; i < length; ++i) {
              ASSERT_NEAR(expected[i], got[i], 1e-9 * 1e6 * (1 + std::sqrt(i))) << name << ", " << length;
            }
          }
        }
      }
    }
  }
}

TEST_P(CudaSignals, ScansAgreeAlsoInPlace) {
  expect_scans<std::int32_t>(queue(), lengths());
  expect_scans<std::uint32_t>(queue(), lengths(), !few());
  expect_scans<double>(queue(), lengths());
}

TEST_P(CudaSignals, ScansAgreeOnEveryCard) {
  FilterQueue& queue = this->queue();
  for (const DeviceLimits& card : known_cards()) {
    const PretendedCard pretended(card.architecture);
    for (const std::size_t length : {std::size_t{5003}, std::size_t{4'200'001}}) {  // `best` changes in between
      if (few() && length > 5003) continue;
      const auto values = make_values<std::uint32_t>(length, Content::random, 9, 1'000'000'000);
      const DeviceArray<std::uint32_t> in(queue, std::span<const std::uint32_t>(values)), out(queue, length);
      std::vector<std::uint32_t> expected(length);
      c63::inclusive_scan<std::uint32_t>(values, expected, FilterForm::serial);
      for (const auto variant : {ScanVariant::best, ScanVariant::rounds}) {
        fill_async(out.data(), 0xCD, length * sizeof(std::uint32_t), queue.stream());
        inclusive_scan<std::uint32_t>(queue, in.const_span(), out.span(), variant);
        ASSERT_EQ(expected, out.download(queue)) << "sm_" << card.architecture << ", " << length;
      }
    }
  }
}

TEST_P(CudaSignals, ReportWrongArguments) {
  FilterQueue& queue = this->queue();
  const DeviceArray<double> signal(queue, 8), out(queue, 7);
  const std::vector<double> taps(4, 1.0), good(3, 1.0);
  EXPECT_EQ(error_id([&] { convolve(queue, signal.const_span(), taps, signal.span()); }), "C63-KERNEL-EVEN");
  EXPECT_EQ(error_id([&] { convolve(queue, signal.const_span(), good, out.span()); }), "C63-FILTER-SHAPE");
  EXPECT_EQ(error_id([&] { convolve(queue, signal.const_span(), good, signal.span()); }), "C63-FILTER-OVERLAP");
  EXPECT_EQ(error_id([&] { inclusive_scan<double>(queue, signal.const_span(), out.span()); }), "C63-FILTER-SHAPE");
  EXPECT_EQ(error_id([] { FilterQueue(1000); }), "C63-CUDA-NO-DEVICE");
}

}  // namespace
}  // namespace c63::cuda
