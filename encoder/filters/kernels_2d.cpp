// Makes and checks the kernels of 2-D convolution.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include "c63/filter_checks.h"
#include "c63/filters.h"

namespace c63 {
namespace {

void check_size(int size) {
  const std::string text = "a kernel of " + std::to_string(size) + "x" + std::to_string(size);
  require(size >= 1 && size % 2 == 1, "C63-KERNEL-EVEN", text + " has no middle: its side must be odd and positive");
  require(size <= kMaxKernelSize, "C63-KERNEL-SIZE",
          text + ": a side may be at most " + std::to_string(kMaxKernelSize));
}

template <typename Tap>
void check_form(const Kernel2d<Tap>& kernel) {
  check_size(kernel.size);
  const auto size = static_cast<std::size_t>(kernel.size);
  const std::string side = std::to_string(kernel.size);
  require(kernel.taps.size() == size * size, "C63-KERNEL-SIZE",
          "a kernel of " + side + "x" + side + " with " + std::to_string(kernel.taps.size()) + " taps");
  require(kernel.divisor > 0, "C63-KERNEL-VALUE", "the divisor of a kernel must be positive");
  if (kernel.row.empty() && kernel.column.empty()) return;
  require(kernel.row.size() == size && kernel.column.size() == size, "C63-KERNEL-SIZE",
          "a kernel of " + side + "x" + side + " with factors of " + std::to_string(kernel.row.size()) + " and " +
              std::to_string(kernel.column.size()));
  for (std::size_t y = 0; y < size; ++y) {
    for (std::size_t x = 0; x < size; ++x) {
      using Product = std::conditional_t<std::is_integral_v<Tap>, std::int64_t, Tap>;
      const Product product = static_cast<Product>(kernel.column[y]) * static_cast<Product>(kernel.row[x]);
      require(static_cast<Product>(kernel.taps[y * size + x]) == product, "C63-KERNEL-VALUE",
              "the taps of a kernel of " + side + "x" + side + " are not the products of its factors");
    }
  }
}

}  // namespace

template <typename Tap>
Kernel2d<Tap> separable_kernel(std::span<const Tap> row, std::span<const Tap> column, Tap divisor) {
  require(row.size() == column.size(), "C63-KERNEL-SIZE",
          "factors of " + std::to_string(row.size()) + " and " + std::to_string(column.size()) +
              " taps: both must have the same length");
  check_size(static_cast<int>(std::min<std::size_t>(row.size(), 1'000'000)));
  Kernel2d<Tap> kernel;
  kernel.size = static_cast<int>(row.size());
  kernel.row.assign(row.begin(), row.end());
  kernel.column.assign(column.begin(), column.end());
  kernel.divisor = divisor;
  kernel.taps.clear();
  for (const Tap c : column) {
    for (const Tap r : row) {
      if constexpr (std::is_integral_v<Tap>) {
        const std::int64_t product = static_cast<std::int64_t>(c) * r;
        require(std::abs(product) <= std::numeric_limits<Tap>::max(), "C63-KERNEL-VALUE",
                "the factors " + std::to_string(c) + " and " + std::to_string(r) + " of a kernel are too large");
      }
      kernel.taps.push_back(c * r);
    }
  }
  check_kernel(kernel);
  return kernel;
}
template Kernel2d<std::int32_t> separable_kernel(std::span<const std::int32_t>, std::span<const std::int32_t>,
                                                 std::int32_t);
template Kernel2d<float> separable_kernel(std::span<const float>, std::span<const float>, float);

ByteKernel mean_kernel(int size) {
  check_size(size);
  const std::vector<std::int32_t> ones(static_cast<std::size_t>(size), 1);
  return separable_kernel<std::int32_t>(ones, ones, size * size);
}

ByteKernel gauss_kernel(double sigma) {
  require(sigma > 0 && sigma <= 5, "C63-KERNEL-VALUE",
          "a Gaussian of standard deviation " + std::to_string(sigma) + ": it must be above 0 and at most 5");
  const int radius = static_cast<int>(std::ceil(3 * sigma));
  std::vector<double> weights;
  double total = 0;
  for (int i = -radius; i <= radius; ++i) {
    weights.push_back(std::exp(-0.5 * i * i / (sigma * sigma)));
    total += weights.back();
  }
  std::vector<std::int32_t> taps;
  int rest = 256;
  for (const double weight : weights) {
    taps.push_back(static_cast<std::int32_t>(std::lround(weight / total * 256)));
    rest -= taps.back();
  }
  // Rounding makes the sum of the taps differ from 256. The difference is added to the middle tap. So the sum is 256,
  // and flat areas keep their brightness.
  taps[static_cast<std::size_t>(radius)] += rest;
  return separable_kernel<std::int32_t>(taps, taps, 65536);
}

void check_kernel(const ByteKernel& kernel) {
  check_form(kernel);
  for (const auto* taps : {&kernel.taps, &kernel.row, &kernel.column}) {
    std::int64_t magnitude = 0;
    for (const std::int32_t tap : *taps) magnitude += std::abs(static_cast<std::int64_t>(tap));
    require(magnitude * 255 + kernel.divisor / 2 <= std::numeric_limits<std::int32_t>::max(), "C63-KERNEL-VALUE",
            "the taps of the kernel add up to " + std::to_string(magnitude) +
                " in magnitude: sums of bytes could overflow");
  }
}

void check_kernel(const FloatKernel& kernel) {
  require(std::isfinite(kernel.divisor) &&
              std::ranges::all_of(kernel.taps, [](float t) { return std::isfinite(t); }),
          "C63-KERNEL-VALUE", "a tap or the divisor of the kernel is not finite");
  check_form(kernel);
}

}  // namespace c63
