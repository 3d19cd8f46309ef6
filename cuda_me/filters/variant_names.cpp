// Lists the variants of each filter, with the names that programs accept and print (variant_names()).
#include <array>

#include "c63/cuda/filters.h"

namespace c63::cuda {
namespace {

template <typename Variant, std::size_t N>
using Names = std::array<std::pair<std::string_view, Variant>, N>;

constexpr Names<ConvolutionVariant, 5> kConvolution = {{{"best", ConvolutionVariant::best},
                                                        {"global", ConvolutionVariant::global},
                                                        {"constant-taps", ConvolutionVariant::constant_taps},
                                                        {"shared-tile", ConvolutionVariant::shared_tile},
                                                        {"tuned", ConvolutionVariant::tuned}}};
constexpr Names<Convolution2dVariant, 5> kConvolution2d = {{{"best", Convolution2dVariant::best},
                                                            {"direct", Convolution2dVariant::direct},
                                                            {"shared-tile", Convolution2dVariant::shared_tile},
                                                            {"restrict-taps", Convolution2dVariant::restrict_taps},
                                                            {"separable", Convolution2dVariant::separable}}};
constexpr Names<HistogramVariant, 5> kHistogram = {{{"best", HistogramVariant::best},
                                                    {"sections", HistogramVariant::sections},
                                                    {"interleaved", HistogramVariant::interleaved},
                                                    {"privatized", HistogramVariant::privatized},
                                                    {"cub", HistogramVariant::cub}}};
constexpr Names<ReductionVariant, 8> kReduction = {{{"best", ReductionVariant::best},
                                                    {"one-thread", ReductionVariant::one_thread},
                                                    {"one-block", ReductionVariant::one_block},
                                                    {"atomics", ReductionVariant::atomics},
                                                    {"tree-interleaved", ReductionVariant::tree_interleaved},
                                                    {"tree-sequential", ReductionVariant::tree_sequential},
                                                    {"shuffles", ReductionVariant::shuffles},
                                                    {"cub", ReductionVariant::cub}}};
constexpr Names<ScanVariant, 8> kScan = {{{"best", ScanVariant::best},
                                          {"hillis-steele", ScanVariant::hillis_steele},
                                          {"blelloch", ScanVariant::blelloch},
                                          {"blelloch-padded", ScanVariant::blelloch_padded},
                                          {"many-blocks", ScanVariant::many_blocks},
                                          {"look-back", ScanVariant::look_back},
                                          {"rounds", ScanVariant::rounds},
                                          {"cub", ScanVariant::cub}}};
constexpr Names<ProductVariant, 4> kProduct = {{{"best", ProductVariant::best},
                                                {"direct", ProductVariant::direct},
                                                {"shared-tile", ProductVariant::shared_tile},
                                                {"register-tile", ProductVariant::register_tile}}};
constexpr Names<ShiftVariant, 6> kShift = {{{"best", ShiftVariant::best},
                                            {"sums-on-cpu", ShiftVariant::sums_on_cpu},
                                            {"atomics", ShiftVariant::atomics},
                                            {"back-to-back", ShiftVariant::back_to_back},
                                            {"four-streams", ShiftVariant::four_streams},
                                            {"one-kernel", ShiftVariant::one_kernel}}};

}  // namespace

template <>
std::span<const std::pair<std::string_view, ConvolutionVariant>> variant_names() {
  return kConvolution;
}
template <>
std::span<const std::pair<std::string_view, Convolution2dVariant>> variant_names() {
  return kConvolution2d;
}
template <>
std::span<const std::pair<std::string_view, HistogramVariant>> variant_names() {
  return kHistogram;
}
template <>
std::span<const std::pair<std::string_view, ReductionVariant>> variant_names() {
  return kReduction;
}
template <>
std::span<const std::pair<std::string_view, ScanVariant>> variant_names() {
  return kScan;
}
template <>
std::span<const std::pair<std::string_view, ProductVariant>> variant_names() {
  return kProduct;
}
template <>
std::span<const std::pair<std::string_view, ShiftVariant>> variant_names() {
  return kShift;
}

}  // namespace c63::cuda
