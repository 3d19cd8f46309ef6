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
  double compute_ms = 0;  ///< without transfers to and from the device; whitening on a GPU: with them
  double total_ms = 0;    ///< with transfers to and from the device; on the CPU equal to compute_ms

  FilterTiming& operator+=(const FilterTiming& other) {
    compute_ms += other.compute_ms;
    total_ms += other.total_ms;
    return *this;
  }
};

/// The filters on one device. Data is in host memory. An unknown variant of a filter throws Error (usage,
/// C63-FILTER-VARIANT), whose text lists the known ones.
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
  /// Takes the next frame of a sequence; the first call takes the first frame. Writes a whitened frame to `out` and
  /// returns true, or returns false if none is ready.
  virtual bool whiten(ConstPlaneView frame, const WhiteningSettings& settings, BasicPlaneView<float> out,
                      FilterTiming& timing) = 0;
};

/// Returns the CPU's filters. `variant` is serial, fast, or best, which is fast.
[[nodiscard]] std::unique_ptr<FilterEngine> make_cpu_engine(const std::string& variant);
/// Returns the filters on GPU `device`. Throws Error (device) if the GPU cannot be used, or this build has no CUDA.
[[nodiscard]] std::unique_ptr<FilterEngine> make_cuda_engine(int device, const std::string& variant);

}  // namespace c63::tools
