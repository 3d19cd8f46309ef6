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

// Convolution, histogram, reduction, prefix scan, matrix product, frame shift and whitening, of any length and size. Each
// has a serial form, which is the definition, and a fast one (SIMD and threads). c63/cuda/filters.h has the same functions
// for data on a GPU. Outputs must not overlap inputs, except where a comment allows it. Samples must be finite: results for
// NaN or infinity are undefined. All functions throw Error (usage) with the shapes in the message.

namespace c63 {

/// How a filter is computed.
enum class FilterForm {
  serial,  ///< one thread, exactly as the definition says
  fast,    ///< SIMD and all threads
};

// ---- Convolution of signals ----------------------------------------------------------------------------------------

inline constexpr std::size_t kMaxTaps = 1023;  ///< of a 1-D kernel

/// out[i] = Σ_k taps[k] · signal[i + K/2 − k], k ascending, the signal zero outside: numpy.convolve(…, mode="same").
/// K = taps.size() must be odd and at most kMaxTaps, taps finite, `out` as long as `signal`. All forms agree to the bit.
void convolve(std::span<const double> signal, std::span<const double> taps, std::span<double> out,
              FilterForm form = FilterForm::fast);

/// Throws if the number of taps is even or above kMaxTaps, or if a tap is not finite.
void check_taps(std::span<const double> taps);

/// Returns `width` equal taps of 1/width, for a moving mean. `width` must be odd and at most kMaxTaps.
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
  /// The two factors of a separable kernel: taps[y·size + x] = column[y] · row[x]. Both are empty for other kernels.
  /// Convolving with one factor after the other is much less work.
  std::vector<Tap> row = {};
  std::vector<Tap> column = {};
  Tap divisor = Tap{1};  ///< the sum is divided by it; positive

  [[nodiscard]] bool separable() const { return !row.empty(); }
};
using ByteKernel = Kernel2d<std::int32_t>;
using FloatKernel = Kernel2d<float>;

/// Returns the kernel of two factors of the same odd length.
template <typename Tap>
[[nodiscard]] Kernel2d<Tap> separable_kernel(std::span<const Tap> row, std::span<const Tap> column, Tap divisor = Tap{1});

/// Returns size x size equal taps.
[[nodiscard]] ByteKernel mean_kernel(int size);
/// Returns a Gaussian with standard deviation `sigma`, above 0 and at most 5. It ends at 3·sigma; taps are in 1/65536.
[[nodiscard]] ByteKernel gauss_kernel(double sigma);

/// Throws if the kernel cannot be used: an even or too large side, wrong factors, or sums that could overflow.
void check_kernel(const ByteKernel& kernel);
void check_kernel(const FloatKernel& kernel);

/// s[y][x] = Σ_j Σ_i taps[j][i] · in[y + r − j][x + r − i], r = size/2, zero outside the picture.
/// out = s / divisor, rounded half up and clamped to 0..255; exact in every form. Σ|taps|·255 must stay below 2³¹.
void convolve(ConstPlaneView in, const ByteKernel& kernel, PlaneView out, FilterForm form = FilterForm::fast);
/// out = s / divisor. The serial form sums in double, the fast form in float.
void convolve(BasicPlaneView<const float> in, const FloatKernel& kernel, BasicPlaneView<float> out,
              FilterForm form = FilterForm::fast);

// ---- Histogram -----------------------------------------------------------------------------------------------------

/// The bin of each byte value.
struct BinMap {
  std::array<std::uint8_t, 256> bin{};
  int bins = 0;  ///< 1..256; every bin[v] < bins

  /// Returns a map with 256 bins, one for each value.
  [[nodiscard]] static BinMap identity();
};

/// Sets counts[b] to the number of bytes in bin b. counts.size() must equal map.bins.
void histogram(std::span<const std::uint8_t> bytes, const BinMap& map, std::span<std::uint64_t> counts,
               FilterForm form = FilterForm::fast);
void histogram(ConstPlaneView picture, const BinMap& map, std::span<std::uint64_t> counts,
               FilterForm form = FilterForm::fast);
/// Throws if a bin is out of range or map.bins differs from `counts`.
void check_bin_map(const BinMap& map, std::size_t counts);

// ---- Reduction -----------------------------------------------------------------------------------------------------

/// The type of a sum: integers are summed exactly (modulo 2⁶⁴), floats in double.
template <typename T>
using SumOf = std::conditional_t<std::is_floating_point_v<T>, double,
                                 std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;

// For T = uint8, int32, float and double. The sum of an empty view is 0; the other functions throw for an empty view.

template <typename T>
[[nodiscard]] SumOf<T> sum(std::span<const T> values, FilterForm form = FilterForm::fast);
template <typename T>
[[nodiscard]] T minimum(std::span<const T> values, FilterForm form = FilterForm::fast);
template <typename T>
[[nodiscard]] T maximum(std::span<const T> values, FilterForm form = FilterForm::fast);
/// Returns the index of the first smallest value.
template <typename T>
[[nodiscard]] std::size_t argmin(std::span<const T> values, FilterForm form = FilterForm::fast);
/// Returns the index of the first largest value.
template <typename T>
[[nodiscard]] std::size_t argmax(std::span<const T> values, FilterForm form = FilterForm::fast);

/// Σ (a[i] − b[i])², as PSNR needs it. Both signals must have the same length.
[[nodiscard]] std::uint64_t sum_of_squared_errors(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b,
                                                  FilterForm form = FilterForm::fast);

// ---- Prefix scan ---------------------------------------------------------------------------------------------------

// For T = int32, uint32 and double. `out` is as long as `values` and may be the same memory. Integer sums wrap.

/// out[i] = Σ values[0..i].
template <typename T>
void inclusive_scan(std::span<const T> values, std::span<T> out, FilterForm form = FilterForm::fast);
/// out[i] = Σ values[0..i-1], out[0] = 0.
template <typename T>
void exclusive_scan(std::span<const T> values, std::span<T> out, FilterForm form = FilterForm::fast);

// ---- Matrix product ------------------------------------------------------------------------------------------------

/// c = a · b; `width` is the number of columns. a.width = b.height, c is a.height x b.width. A matrix may be empty:
/// a.width = 0 makes c zero. The serial form sums in double, the fast form in float.
void multiply(BasicPlaneView<const float> a, BasicPlaneView<const float> b, BasicPlaneView<float> c,
              FilterForm form = FilterForm::fast);

// ---- Shift of a frame against a reference --------------------------------------------------------------------------

/// The sums over the picture's interior that give a shift. g and h are the reference's derivatives along y and x. m is its
/// mean over a sample and its four neighbours; d = frame − m. Sums over bytes are sums of integers, so they are exact.
struct ShiftSums {
  double p = 0;  ///< Σ g·d
  double q = 0;  ///< Σ h·d
  double u = 0;  ///< Σ h²
  double v = 0;  ///< Σ g·h
  double w = 0;  ///< Σ g²
};

/// dx = (q·w − p·v)/(u·w − v²), dy = (p·u − q·v)/(u·w − v²). Empty if the determinant is too small against u·w: then the
/// reference has no texture, or only along one direction.
[[nodiscard]] std::optional<FrameShift> shift_from(const ShiftSums& sums);

// In what follows, Sample is uint8 or float.

/// A reference picture, prepared once for many frames.
template <typename Sample>
class ShiftReference {
 public:
  /// Copies what it needs of `picture`, which must be at least 3x3. Does not keep the view.
  explicit ShiftReference(BasicPlaneView<const Sample> picture, FilterForm form = FilterForm::fast);

  /// Returns the shift of a frame of the same size; empty if the reference has no texture.
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

/// Returns the shift of `frame` relative to `reference`, such as a frame's global motion relative to the previous frame.
template <typename Sample>
[[nodiscard]] std::optional<FrameShift> estimate_shift(BasicPlaneView<const Sample> reference,
                                                       BasicPlaneView<const Sample> frame,
                                                       FilterForm form = FilterForm::fast);

// ---- Whitening -----------------------------------------------------------------------------------------------------

/// How the weights a_k of the history frames x_1 … x_N are found. The output is x_0 − Σ a_k x_k.
enum class WhiteningMethod {
  shift,        ///< from the shifts: a = Φ (ΦᵀΦ + εE)⁻¹ φ(s_0), φ the monomials of (dx, dy) up to a degree
  correlation,  ///< from the samples: (R + εE) a = b, R_kl = Σ x_k·x_l, b_k = Σ x_0·x_k
};

struct WhiteningSettings {
  int memory = 20;  ///< N, 1..kMaxMemory history frames
  WhiteningMethod method = WhiteningMethod::shift;
  int degree = 2;   ///< 0..kMaxDegree
  /// ε as a multiple of the mean of the matrix's diagonal, so that it does not depend on brightness. 0: no ε.
  double epsilon = 1e-6;
  /// Threshold in robust deviations from the temporal median. History samples further away are replaced by the median, so
  /// that an object in the history leaves no ghost. Empty: no samples are replaced.
  std::optional<double> reject = {};
};
inline constexpr int kMaxMemory = 64;
inline constexpr int kMaxDegree = 4;

/// Throws if a setting is out of its range.
void check_whitening(const WhiteningSettings& settings);

/// Returns the weights from shifts. Throws Error (input, C63-WHITEN-SINGULAR) if the system is singular.
[[nodiscard]] std::vector<double> shift_weights(const FrameShift& frame, std::span<const FrameShift> history, int degree,
                                                double epsilon);
/// Returns the weights from R (rows of N) and b. Throws as shift_weights() does.
[[nodiscard]] std::vector<double> correlation_weights(std::span<const double> r, std::span<const double> b,
                                                      double epsilon);

/// Computes R (rows of N) and b of the history and a frame, all of one size. Exact for bytes.
template <typename Sample>
void correlate(BasicPlaneView<const Sample> frame, std::span<const BasicPlaneView<const Sample>> history,
               std::span<double> r, std::span<double> b, FilterForm form = FilterForm::fast);

/// The lower limit of the deviation D. So if a history does not vary, a difference of a rounding step is not an
/// outlier.
inline constexpr double kMinDeviation = 0.5;

/// Writes each history frame with its outliers replaced. m is the lower median over time at a position, and
/// D = max(1.4826 · lower median of |x − m|, kMinDeviation). Samples with |x − m| > threshold·D become m.
template <typename Sample>
void reject_outliers(std::span<const BasicPlaneView<const Sample>> history, double threshold,
                     std::span<const BasicPlaneView<Sample>> out, FilterForm form = FilterForm::fast);

/// out = frame − Σ weights[k] · history[k], summed in float, with k ascending.
template <typename Sample>
void subtract_weighted(BasicPlaneView<const Sample> frame, std::span<const BasicPlaneView<const Sample>> history,
                       std::span<const double> weights, BasicPlaneView<float> out, FilterForm form = FilterForm::fast);

/// Whitens one frame with its history. Shifts are relative to `reference`. Throws Error (input): C63-SHIFT-TEXTURELESS if
/// the method is `shift` and the reference has no texture; C63-WHITEN-SINGULAR; C63-WHITEN-MEMORY if the history is not
/// settings.memory frames long.
template <typename Sample>
void whiten(const ShiftReference<Sample>& reference, BasicPlaneView<const Sample> frame,
            std::span<const BasicPlaneView<const Sample>> history, const WhiteningSettings& settings,
            BasicPlaneView<float> out, FilterForm form = FilterForm::fast);

/// Whitens a sequence frame by frame. Shifts are relative to the first frame and computed once for each frame.
template <typename Sample>
class Whitener {
 public:
  Whitener(int width, int height, const WhiteningSettings& settings, FilterForm form = FilterForm::fast);

  /// Takes the next frame. Writes `out` and returns true if at least settings.memory frames came before it.
  bool push(BasicPlaneView<const Sample> frame, BasicPlaneView<float> out);

  [[nodiscard]] const WhiteningSettings& settings() const { return settings_; }
  /// The shift of the last frame; empty if there was no frame or the first one has no texture.
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

/// The share of samples, 0..1, that must change their bin to turn one histogram into the other. This is half the sum of
/// absolute differences of the two, each divided by its total. 0 if either is empty.
[[nodiscard]] double histogram_distance(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b);

inline constexpr double kSceneCutDistance = 0.4;

/// Returns true if a new scene starts between two frames with these luma histograms of 256 bins.
[[nodiscard]] bool is_scene_cut(std::span<const std::uint64_t> before, std::span<const std::uint64_t> after,
                                double distance = kSceneCutDistance);

}  // namespace c63
