#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "c63/frame_shift.h"
#include "c63/picture.h"

// Convolution, histogram, reduction, prefix scan, matrix product, frame shift and whitening. Views in, views out; any
// length and size. Each has a serial form, which is the definition, and a fast one (SIMD and threads); c63/cuda/filters.h
// has the same functions for data on a GPU. Outputs must not overlap inputs unless it is said. Samples must be finite:
// what NaN or infinity gives is not defined. All throw Error (usage), with the shapes in the text.

namespace c63 {

/// How it is computed.
enum class FilterForm {
  serial,  ///< one thread, straight from the definition
  fast,    ///< SIMD and all threads
};

// ---- Convolution of signals ----------------------------------------------------------------------------------------

inline constexpr std::size_t kMaxTaps = 1023;  ///< of a 1-D convolution

/// out[i] = Σ_k taps[k] · signal[i + K/2 − k], k ascending, the signal zero outside: numpy.convolve(…, mode="same").
/// K = taps.size() must be odd and at most kMaxTaps, taps finite, `out` as long as `signal`. All forms agree to the bit.
void convolve(std::span<const double> signal, std::span<const double> taps, std::span<double> out,
              FilterForm form = FilterForm::fast);

/// Throws if there is not an odd number of taps, more than kMaxTaps, or one that is not finite.
void check_taps(std::span<const double> taps);

/// `width` equal taps of 1/width: the moving mean. `width` as for convolve().
[[nodiscard]] std::vector<double> mean_taps(int width);

/// convolve() with mean_taps().
void mean_filter(std::span<const double> signal, int width, std::span<double> out, FilterForm form = FilterForm::fast);

// ---- Convolution of pictures ---------------------------------------------------------------------------------------

inline constexpr int kMaxKernelSize = 31;  ///< a side of a 2-D kernel

/// A square kernel of odd side. `Tap` is int32 for pictures of bytes, float for pictures of floats.
template <typename Tap>
struct Kernel2d {
  int size = 1;
  std::vector<Tap> taps = {Tap{1}};  ///< rows of `size`
  /// Where taps[y·size + x] = column[y] · row[x], both factors; else both empty. Convolving with the factors one after
  /// the other is much less work.
  std::vector<Tap> row = {};
  std::vector<Tap> column = {};
  Tap divisor = Tap{1};  ///< the sum is divided by it; positive

  [[nodiscard]] bool separable() const { return !row.empty(); }
};
using ByteKernel = Kernel2d<std::int32_t>;
using FloatKernel = Kernel2d<float>;

/// The kernel of two factors of the same odd length.
template <typename Tap>
[[nodiscard]] Kernel2d<Tap> separable_kernel(std::span<const Tap> row, std::span<const Tap> column, Tap divisor = Tap{1});

/// size x size equal taps.
[[nodiscard]] ByteKernel mean_kernel(int size);
/// A Gaussian of standard deviation `sigma` > 0 up to 5, cut off at three of them, in 1/65536.
[[nodiscard]] ByteKernel gauss_kernel(double sigma);

/// Throws if the kernel cannot be used: even, above kMaxKernelSize, factors that are none, sums that could overflow.
void check_kernel(const ByteKernel& kernel);
void check_kernel(const FloatKernel& kernel);

/// s[y][x] = Σ_j Σ_i taps[j][i] · in[y + r − j][x + r − i], r = size/2, zero outside the picture.
/// out = s divided by the divisor, rounded half up, cut to 0..255; exact in every form. Σ|taps|·255 must stay below 2³¹.
void convolve(ConstPlaneView in, const ByteKernel& kernel, PlaneView out, FilterForm form = FilterForm::fast);
/// out = s / divisor; serial sums in double, the others in float.
void convolve(BasicPlaneView<const float> in, const FloatKernel& kernel, BasicPlaneView<float> out,
              FilterForm form = FilterForm::fast);

// ---- Histogram -----------------------------------------------------------------------------------------------------

/// Which bin a byte counts in.
struct BinMap {
  std::array<std::uint8_t, 256> bin{};
  int bins = 0;  ///< 1..256; every bin[v] < bins

  /// One bin a value.
  [[nodiscard]] static BinMap identity();
};

/// Sets counts[b] to how many bytes fall into bin b; counts.size() = map.bins.
void histogram(std::span<const std::uint8_t> bytes, const BinMap& map, std::span<std::uint64_t> counts,
               FilterForm form = FilterForm::fast);
void histogram(ConstPlaneView picture, const BinMap& map, std::span<std::uint64_t> counts,
               FilterForm form = FilterForm::fast);
/// Throws if a bin is out of range or there are not `counts` bins.
void check_bin_map(const BinMap& map, std::size_t counts);

// ---- Reduction -----------------------------------------------------------------------------------------------------

/// What a sum is kept in: integers exactly (modulo 2⁶⁴), floats in double.
template <typename T>
using SumOf = std::conditional_t<std::is_floating_point_v<T>, double,
                                 std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;

// For T of uint8, int32, float and double. A sum of nothing is 0; the others throw for an empty view.

template <typename T>
[[nodiscard]] SumOf<T> sum(std::span<const T> values, FilterForm form = FilterForm::fast);
template <typename T>
[[nodiscard]] T minimum(std::span<const T> values, FilterForm form = FilterForm::fast);
template <typename T>
[[nodiscard]] T maximum(std::span<const T> values, FilterForm form = FilterForm::fast);
/// Index of the first smallest value.
template <typename T>
[[nodiscard]] std::size_t argmin(std::span<const T> values, FilterForm form = FilterForm::fast);
/// Index of the first largest value.
template <typename T>
[[nodiscard]] std::size_t argmax(std::span<const T> values, FilterForm form = FilterForm::fast);

/// Σ (a[i] − b[i])², the error of PSNR; the signals are of one length.
[[nodiscard]] std::uint64_t sum_of_squared_errors(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b,
                                                  FilterForm form = FilterForm::fast);

// ---- Prefix scan ---------------------------------------------------------------------------------------------------

// For T of int32, uint32 and double. `out` is as long as `values` and may be the same memory. Integers wrap.

/// out[i] = Σ values[0..i].
template <typename T>
void inclusive_scan(std::span<const T> values, std::span<T> out, FilterForm form = FilterForm::fast);
/// out[i] = Σ values[0..i-1], out[0] = 0.
template <typename T>
void exclusive_scan(std::span<const T> values, std::span<T> out, FilterForm form = FilterForm::fast);

// ---- Matrix product ------------------------------------------------------------------------------------------------

/// c = a · b; `width` is the number of columns. a.width = b.height, c is a.height x b.width. A matrix may be empty:
/// a.width = 0 makes c zero. Serial sums in double, the others in float.
void multiply(BasicPlaneView<const float> a, BasicPlaneView<const float> b, BasicPlaneView<float> c,
              FilterForm form = FilterForm::fast);

// ---- Shift of a frame against a reference --------------------------------------------------------------------------

/// The sums over the interior that a shift is computed from: g and h are the reference's derivatives along y and x, m
/// its mean over a sample and its four neighbours, d = frame − m. For bytes they are sums of integers, hence exact.
struct ShiftSums {
  double p = 0;  ///< Σ g·d
  double q = 0;  ///< Σ h·d
  double u = 0;  ///< Σ h²
  double v = 0;  ///< Σ g·h
  double w = 0;  ///< Σ g²
};

/// dx = (q·w − p·v)/(u·w − v²), dy = (p·u − q·v)/(u·w − v²); nothing where the determinant is so small against u·w that
/// the reference has no texture, or texture along one direction only.
[[nodiscard]] std::optional<FrameShift> shift_from(const ShiftSums& sums);

// Sample is uint8 or float in what follows.

/// A reference picture prepared once for many frames.
template <typename Sample>
class ShiftReference {
 public:
  /// Takes what it needs of `picture`, at least 3x3; does not keep the view.
  explicit ShiftReference(BasicPlaneView<const Sample> picture, FilterForm form = FilterForm::fast);

  /// The shift of a frame of the same size; nothing for a reference without texture.
  [[nodiscard]] std::optional<FrameShift> shift_of(BasicPlaneView<const Sample> frame) const;
  [[nodiscard]] ShiftSums sums_of(BasicPlaneView<const Sample> frame) const;
  [[nodiscard]] bool textureless() const;

 private:
  using Derived = std::conditional_t<std::is_same_v<Sample, float>, float, std::int16_t>;
  struct RowSums {
    double p = 0;
    double q = 0;
  };
  [[nodiscard]] RowSums sums_of_row(const Sample* frame, std::size_t row) const;

  FilterForm form_;
  int width_;
  int height_;
  std::vector<Derived> g_;  ///< interior rows: 2g
  std::vector<Derived> h_;  ///< 2h
  std::vector<Derived> m_;  ///< 5m
  ShiftSums texture_;
};

/// The shift of `frame` against `reference`: the global motion of a frame against the one before.
template <typename Sample>
[[nodiscard]] std::optional<FrameShift> estimate_shift(BasicPlaneView<const Sample> reference,
                                                       BasicPlaneView<const Sample> frame,
                                                       FilterForm form = FilterForm::fast);

// ---- Whitening -----------------------------------------------------------------------------------------------------

/// How the weights a_k of the history frames x_1 … x_N are found; the output is x_0 − Σ a_k x_k.
enum class WhiteningMethod {
  shift,        ///< from the shifts: a = Φ (ΦᵀΦ + εE)⁻¹ φ(s_0), φ the monomials of (dx, dy) up to a degree
  correlation,  ///< from the samples: (R + εE) a = b, R_kl = Σ x_k·x_l, b_k = Σ x_0·x_k
};

struct WhiteningSettings {
  int memory = 20;  ///< N, 1..kMaxMemory history frames
  WhiteningMethod method = WhiteningMethod::shift;
  int degree = 2;   ///< 0..kMaxDegree
  /// ε as a multiple of the mean of the matrix's diagonal, so that it does not depend on brightness; 0 for none.
  double epsilon = 1e-6;
  /// History samples further than that many robust deviations from their temporal median are replaced by it, so that an
  /// object in the history leaves no ghost. Nothing: history as it is.
  std::optional<double> reject = {};
};
inline constexpr int kMaxMemory = 64;
inline constexpr int kMaxDegree = 4;

/// Throws for settings out of their ranges.
void check_whitening(const WhiteningSettings& settings);

/// The weights from shifts. Throws Error (input, C63-WHITEN-SINGULAR) if the system is singular.
[[nodiscard]] std::vector<double> shift_weights(const FrameShift& frame, std::span<const FrameShift> history, int degree,
                                                double epsilon);
/// The weights from R (rows of N) and b. Throws as shift_weights().
[[nodiscard]] std::vector<double> correlation_weights(std::span<const double> r, std::span<const double> b,
                                                      double epsilon);

/// R (rows of N) and b of the history and a frame, all of one size. Exact for bytes.
template <typename Sample>
void correlate(BasicPlaneView<const Sample> frame, std::span<const BasicPlaneView<const Sample>> history,
               std::span<double> r, std::span<double> b, FilterForm form = FilterForm::fast);

/// Robust deviations are no smaller than this: a history that does not vary rejects nothing that a camera's rounding
/// explains.
inline constexpr double kMinDeviation = 0.5;

/// Writes each history frame with its outliers replaced: with m the lower median over time of a position and
/// D = max(1.4826 · lower median of |x − m|, kMinDeviation), samples with |x − m| > threshold·D become m.
template <typename Sample>
void reject_outliers(std::span<const BasicPlaneView<const Sample>> history, double threshold,
                     std::span<const BasicPlaneView<Sample>> out, FilterForm form = FilterForm::fast);

/// out = frame − Σ weights[k] · history[k], summed in float, k ascending.
template <typename Sample>
void subtract_weighted(BasicPlaneView<const Sample> frame, std::span<const BasicPlaneView<const Sample>> history,
                       std::span<const double> weights, BasicPlaneView<float> out, FilterForm form = FilterForm::fast);

/// Whitens one frame against its history (settings.memory frames); shifts are against `reference`. Throws Error (input):
/// C63-SHIFT-TEXTURELESS for the method `shift` and a reference without texture, C63-WHITEN-SINGULAR, and C63-WHITEN-MEMORY
/// if the history is not settings.memory frames long.
template <typename Sample>
void whiten(const ShiftReference<Sample>& reference, BasicPlaneView<const Sample> frame,
            std::span<const BasicPlaneView<const Sample>> history, const WhiteningSettings& settings,
            BasicPlaneView<float> out, FilterForm form = FilterForm::fast);

/// Whitens a sequence frame by frame; shifts are against the first one and computed once a frame.
template <typename Sample>
class Whitener {
 public:
  Whitener(int width, int height, const WhiteningSettings& settings, FilterForm form = FilterForm::fast);

  /// Takes the next frame. Where settings.memory frames came before it, writes `out` and returns true.
  bool push(BasicPlaneView<const Sample> frame, BasicPlaneView<float> out);

  [[nodiscard]] const WhiteningSettings& settings() const { return settings_; }
  /// The shift of the last frame; nothing if there was none or the first frame has no texture.
  [[nodiscard]] std::optional<FrameShift> last_shift() const { return last_shift_; }

 private:
  struct Past {
    std::vector<Sample> samples;
    std::optional<FrameShift> shift;
  };

  int width_;
  int height_;
  WhiteningSettings settings_;
  FilterForm form_;
  std::optional<ShiftReference<Sample>> reference_;
  std::optional<FrameShift> last_shift_;
  std::deque<Past> past_;  ///< newest last
  std::vector<std::vector<Sample>> cleaned_;
};

// ---- Scene cuts ----------------------------------------------------------------------------------------------------

/// Share of samples, 0..1, that would have to change their bin to make one histogram the other: half the sum of absolute
/// differences of the two, each divided by its total. 0 if either is empty.
[[nodiscard]] double histogram_distance(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b);

inline constexpr double kSceneCutDistance = 0.4;

/// Whether a new scene starts between two frames with these luma histograms of 256 bins.
[[nodiscard]] bool is_scene_cut(std::span<const std::uint64_t> before, std::span<const std::uint64_t> after,
                                double distance = kSceneCutDistance);

}  // namespace c63
