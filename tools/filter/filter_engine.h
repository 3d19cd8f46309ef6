#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "c63/filters.h"

namespace c63::tools {

enum class ReductionKind { sum, minimum, maximum, argmin, argmax };

/// How long a filter took.
struct FilterTiming {
  double compute_ms = 0;  ///< with the data in place
  double total_ms = 0;    ///< with the transfers to the device and back; on the CPU the same as above
};

/// The filters on one device, for data in host memory. An unknown variant of a filter is an Error (usage,
/// C63-FILTER-VARIANT), which lists the known ones.
class FilterEngine {
 public:
  virtual ~FilterEngine() = default;

  [[nodiscard]] virtual std::string description() const = 0;
  virtual FilterTiming convolve(std::span<const double> signal, std::span<const double> taps, std::span<double> out) = 0;
  virtual FilterTiming scan(std::span<const double> values, bool inclusive, std::span<double> out) = 0;
  virtual FilterTiming reduce(std::span<const double> values, ReductionKind kind, double& result) = 0;
  virtual FilterTiming histogram(std::span<const std::uint8_t> bytes, const BinMap& map,
                                 std::span<std::uint64_t> counts) = 0;
  virtual FilterTiming convolve(ConstPlaneView in, const ByteKernel& kernel, PlaneView out) = 0;
  virtual FilterTiming shift(ConstPlaneView reference, ConstPlaneView frame, std::optional<FrameShift>& result) = 0;
  /// Whitens the next frame of a sequence. The first call begins it. Returns true if `out` was written.
  virtual bool whiten(ConstPlaneView frame, const WhiteningSettings& settings, BasicPlaneView<float> out,
                      FilterTiming& timing) = 0;
};

/// `variant` is serial, fast or best (fast).
[[nodiscard]] std::unique_ptr<FilterEngine> make_cpu_engine(const std::string& variant);
/// Throws Error (device) if the GPU cannot be used, or this build has no CUDA.
[[nodiscard]] std::unique_ptr<FilterEngine> make_cuda_engine(int device, const std::string& variant);

}  // namespace c63::tools
