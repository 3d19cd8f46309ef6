// Convolutions on a GPU: checks arguments and chooses the kernel.
#include "c63/cuda/filters.h"
#include "c63/filter_checks.h"
#include "cuda_me/filters/filter_kernels.h"

namespace c63::cuda {
namespace {

template <typename Sample, typename Tap>
void convolve_picture(FilterQueue& queue, BasicPlaneView<const Sample> in, const Kernel2d<Tap>& kernel,
                      BasicPlaneView<Sample> out, Convolution2dVariant variant) {
  check_kernel(kernel);
  check_same_shape(in, "the picture", out, "the output");
  check_apart(in, out);
  if (variant == Convolution2dVariant::best) {
    variant = kernel.separable() ? Convolution2dVariant::separable : Convolution2dVariant::restrict_taps;
  }
  require(variant != Convolution2dVariant::separable || kernel.separable(), "C63-KERNEL-VALUE",
          "the variant 'separable' needs a kernel with factors");
  if (in.width == 0 || in.height == 0) return;
  switch (variant) {
    case Convolution2dVariant::direct: return kernels::convolve_2d_direct(queue, in, kernel, out);
    case Convolution2dVariant::shared_tile: return kernels::convolve_2d_shared(queue, in, kernel, out, false);
    case Convolution2dVariant::separable: return kernels::convolve_2d_separable(queue, in, kernel, out);
    default: return kernels::convolve_2d_shared(queue, in, kernel, out, true);
  }
}

}  // namespace

void convolve(FilterQueue& queue, std::span<const double> signal, std::span<const double> taps, std::span<double> out,
              ConvolutionVariant variant) {
  check_taps(taps);
  check_same_length(signal.size(), "the signal", out.size(), "the output");
  check_apart(signal.data(), signal.size_bytes(), out.data(), out.size_bytes());
  if (signal.empty()) return;
  kernels::Taps argument;
  argument.count = static_cast<int>(taps.size());
  std::copy(taps.begin(), taps.end(), argument.value);
  const bool can_tune = kernels::can_convolve_tuned(signal, argument, out.data());
  switch (variant) {
    case ConvolutionVariant::global: return kernels::convolve_global(queue, signal, argument, out.data());
    case ConvolutionVariant::constant_taps: return kernels::convolve_constant(queue, signal, argument, out.data());
    case ConvolutionVariant::best:
    case ConvolutionVariant::tuned:
      if (can_tune) return kernels::convolve_tuned(queue, signal, argument, out.data());
      [[fallthrough]];
    case ConvolutionVariant::shared_tile: return kernels::convolve_shared(queue, signal, argument, out.data());
  }
}

void mean_filter(FilterQueue& queue, std::span<const double> signal, int width, std::span<double> out,
                 ConvolutionVariant variant) {
  convolve(queue, signal, mean_taps(width), out, variant);
}

void convolve(FilterQueue& queue, ConstPlaneView in, const ByteKernel& kernel, PlaneView out,
              Convolution2dVariant variant) {
  convolve_picture<std::uint8_t, std::int32_t>(queue, in, kernel, out, variant);
}

void convolve(FilterQueue& queue, BasicPlaneView<const float> in, const FloatKernel& kernel, BasicPlaneView<float> out,
              Convolution2dVariant variant) {
  convolve_picture<float, float>(queue, in, kernel, out, variant);
}

}  // namespace c63::cuda
