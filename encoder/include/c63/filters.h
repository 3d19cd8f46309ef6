#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "c63/picture.h"

// Convolution, histogram, reduction, prefix scan, matrix product, frame shift and whitening, of any length and size.
// Each filter has a serial form, which defines the result, and a fast form (SIMD and threads). c63/cuda/filters.h has
// the same filters for data on a GPU. Outputs must not overlap inputs, except where a comment allows it. Samples must
// be finite: results for NaN or infinity are undefined. If the shapes of arguments do not fit each other, a function
// throws Error (usage) with the shapes in its message.

namespace c63 {

/// The shift of a frame against a reference, in samples: frame(x, y) ≈ reference(x + dx, y + dy), for |dx|, |dy| up to
/// about 0.5.
struct FrameShift {
  double dx = 0;
  double dy = 0;
};

/// How a filter is computed.
enum class FilterForm {
  serial,  ///< one thread, straight from the formula in the function's comment
  fast,    ///< SIMD and all threads
};

// ---- Convolution of signals (one-dimensional arrays of numbers) ----------------------------------------------------

inline constexpr std::size_t kMaxTaps = 1023;  ///< the most taps of a 1-D kernel

/// Computes out[i] = Σ_k taps[k] · signal[i + K/2 − k], with k ascending and K = taps.size(). The taps are the kernel's
/// weights. The signal is zero outside, as in numpy.convolve(…, mode="same"). K must be odd and at most kMaxTaps, taps
/// must be finite, and `out` must be as long as `signal`. All forms give the same bits.
void convolve(std::span<const double> signal, std::span<const double> taps, std::span<double> out,
              FilterForm form = FilterForm::fast);

/// Throws if the number of taps is even or above kMaxTaps, or if a tap is not finite.
void check_taps(std::span<const double> taps);

/// Returns `width` equal taps of 1/width, for a moving mean. `width` must be odd and at most kMaxTaps.
[[nodiscard]] std::vector<double> mean_taps(int width);

/// Calls convolve() with mean_taps(width).
void mean_filter(std::span<const double> signal, int width, std::span<double> out, FilterForm form = FilterForm::fast);

// ---- Convolution of pictures ---------------------------------------------------------------------------------------

inline constexpr int kMaxKernelSize = 31;  ///< the largest side of a 2-D kernel

/// A square kernel of odd side. `Tap` is int32 for pictures of bytes, float for pictures of floats.
template <typename Tap>
struct Kernel2d {
  int size = 1;
  std::vector<Tap> taps = {Tap{1}};  ///< `size` rows of `size` taps
  /// The two factors of a separable kernel: taps[y·size + x] = column[y] · row[x]. Both are empty if the kernel is not
  /// separable. Convolving with one factor after the other is much less work than convolving with the taps.
  std::vector<Tap> row = {};
  std::vector<Tap> column = {};
  Tap divisor = Tap{1};  ///< the weighted sum is divided by it; positive

  [[nodiscard]] bool separable() const { return !row.empty(); }
};
using ByteKernel = Kernel2d<std::int32_t>;
using FloatKernel = Kernel2d<float>;

/// Returns the separable kernel with these two factors, which have the same odd length.
template <typename Tap>
[[nodiscard]] Kernel2d<Tap> separable_kernel(std::span<const Tap> row, std::span<const Tap> column, Tap divisor = Tap{1});

/// Returns a kernel of size x size equal taps.
[[nodiscard]] ByteKernel mean_kernel(int size);
/// Returns a Gaussian kernel with standard deviation `sigma`, above 0 and at most 5. It reaches to 3·sigma; taps are in
/// 1/65536.
[[nodiscard]] ByteKernel gauss_kernel(double sigma);

/// Throws if the kernel cannot be used: an even or too large side, wrong factors, or sums that could overflow.
void check_kernel(const ByteKernel& kernel);
void check_kernel(const FloatKernel& kernel);

/// Computes s[y][x] = Σ_j Σ_i taps[j][i] · in[y + r − j][x + r − i] with r = size/2; `in` is zero outside the picture.
/// `out` is s / divisor, rounded half up and clamped to 0..255. All forms are exact. Σ|taps|·255 + divisor/2 must be
/// below 2³¹.
void convolve(ConstPlaneView in, const ByteKernel& kernel, PlaneView out, FilterForm form = FilterForm::fast);
/// Computes s by the same formula in float, and out = s / divisor without rounding and clamping. The serial form sums
/// in double, the fast form in float.
void convolve(BasicPlaneView<const float> in, const FloatKernel& kernel, BasicPlaneView<float> out,
              FilterForm form = FilterForm::fast);

// ---- Histogram -----------------------------------------------------------------------------------------------------

/// Maps each byte value to a bin of a histogram.
struct BinMap {
  std::array<std::uint8_t, 256> bin{};
  int bins = 0;  ///< the number of bins, 1..256; every bin[v] < bins

  /// Returns a map with 256 bins, one for each value.
  [[nodiscard]] static BinMap identity();
};

/// Sets counts[b] to the number of bytes in bin b. counts.size() must equal map.bins.
void histogram(std::span<const std::uint8_t> bytes, const BinMap& map, std::span<std::uint64_t> counts,
               FilterForm form = FilterForm::fast);
void histogram(ConstPlaneView picture, const BinMap& map, std::span<std::uint64_t> counts,
               FilterForm form = FilterForm::fast);
/// Throws if a bin is out of range, or if map.bins differs from `counts`, the number of counters.
void check_bin_map(const BinMap& map, std::size_t counts);

// ---- Reduction -----------------------------------------------------------------------------------------------------

/// The type of a sum: integers are summed exactly (modulo 2⁶⁴), floats in double.
template <typename T>
using SumOf = std::conditional_t<std::is_floating_point_v<T>, double,
                                 std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;

// In this section, T is uint8, int32, float or double. The sum of an empty span is 0. All other functions of this
// section throw for an empty span.

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

/// Returns Σ (a[i] − b[i])², which PSNR needs. `a` and `b` must have the same length.
[[nodiscard]] std::uint64_t sum_of_squared_errors(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b,
                                                  FilterForm form = FilterForm::fast);

// ---- Prefix scan ---------------------------------------------------------------------------------------------------

// In this section, T is int32, uint32 or double. `out` is as long as `values` and may be the same memory. Integer sums
// wrap around.

/// Computes out[i] = values[0] + … + values[i].
template <typename T>
void inclusive_scan(std::span<const T> values, std::span<T> out, FilterForm form = FilterForm::fast);
/// Computes out[i] = values[0] + … + values[i-1], and out[0] = 0.
template <typename T>
void exclusive_scan(std::span<const T> values, std::span<T> out, FilterForm form = FilterForm::fast);

// ---- Matrix product ------------------------------------------------------------------------------------------------

/// Computes c = a · b. A matrix has `height` rows and `width` columns: a.width = b.height, and c has a.height rows and
/// b.width columns. A matrix may be empty: a.width = 0 makes c zero. The serial form sums in double, the fast form in
/// float.
void multiply(BasicPlaneView<const float> a, BasicPlaneView<const float> b, BasicPlaneView<float> c,
              FilterForm form = FilterForm::fast);

// ---- Shift of a frame against a reference --------------------------------------------------------------------------

/// Sums over the picture's interior, from which shift_from() computes a shift. g and h are the reference's derivatives
/// along y and x. m is the mean of a reference sample and its four neighbours, and d = frame − m. For bytes, the sums
/// are exact.
struct ShiftSums {
  double p = 0;  ///< Σ g·d
  double q = 0;  ///< Σ h·d
  double u = 0;  ///< Σ h²
  double v = 0;  ///< Σ g·h
  double w = 0;  ///< Σ g²
};

/// Returns dx = (q·w − p·v)/(u·w − v²) and dy = (p·u − q·v)/(u·w − v²). Empty if the determinant u·w − v² is too small
/// compared with u·w: then the reference has no texture, or only along one direction.
[[nodiscard]] std::optional<FrameShift> shift_from(const ShiftSums& sums);

// In the functions below, Sample is uint8 or float.

/// A reference picture, prepared once for many frames.
template <typename Sample>
class ShiftReference {
 public:
  /// Prepares `picture`, which must be at least 3x3. Does not keep the view.
  explicit ShiftReference(BasicPlaneView<const Sample> picture, FilterForm form = FilterForm::fast);

  /// Returns the shift of a frame of the same size. Empty if the reference has no texture, or only along one direction.
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
  std::vector<Derived> g_;  ///< 2·g in the interior rows
  std::vector<Derived> h_;  ///< 2·h
  std::vector<Derived> m_;  ///< 5·m
  ShiftSums texture_;
};

/// Returns the shift of `frame` against `reference`, for example against the previous frame.
template <typename Sample>
[[nodiscard]] std::optional<FrameShift> estimate_shift(BasicPlaneView<const Sample> reference,
                                                       BasicPlaneView<const Sample> frame,
                                                       FilterForm form = FilterForm::fast);

// ---- Whitening -----------------------------------------------------------------------------------------------------

/// How the weights a_k of the earlier frames x_1 … x_N (the history) are found. x_0 is the frame to whiten; the
/// whitened frame is x_0 − Σ a_k x_k. E is the identity matrix.
enum class WhiteningMethod {
  /// from the shifts s_k: a = Φ (ΦᵀΦ + εE)⁻¹ φ(s_0); φ(s) are the monomials of s = (dx, dy) up to a degree, row k of Φ
  /// is φ(s_k)
  shift,
  correlation,  ///< from the samples: (R + εE) a = b with R_kl = Σ x_k·x_l and b_k = Σ x_0·x_k
};

struct WhiteningSettings {
  int memory = 20;  ///< N, the number of history frames, 1..kMaxMemory
  WhiteningMethod method = WhiteningMethod::shift;
  int degree = 2;   ///< the highest degree of the monomials, 0..kMaxDegree
  /// ε as a multiple of the mean of the matrix's diagonal. So it has the same effect in dark and in bright pictures. 0:
  /// no ε.
  double epsilon = 1e-6;
  /// The `threshold` of reject_outliers(): how far an outlier in the history is from the median over time. Outliers are
  /// replaced by the median, so that an object in the history leaves no ghost. Empty: nothing is replaced.
  std::optional<double> reject = {};
};
inline constexpr int kMaxMemory = 64;
inline constexpr int kMaxDegree = 4;

/// Throws if a setting is out of its range.
void check_whitening(const WhiteningSettings& settings);

/// Returns the weights by WhiteningMethod::shift. Throws Error (input, C63-WHITEN-SINGULAR) if the system is singular.
[[nodiscard]] std::vector<double> shift_weights(const FrameShift& frame, std::span<const FrameShift> history, int degree,
                                                double epsilon);
/// Returns the weights by WhiteningMethod::correlation from R (N rows of N values) and b. Throws as shift_weights()
/// does.
[[nodiscard]] std::vector<double> correlation_weights(std::span<const double> r, std::span<const double> b,
                                                      double epsilon);

/// Computes R (N rows of N values) and b of WhiteningMethod::correlation from N history frames and a frame of the same
/// size. Exact for bytes.
template <typename Sample>
void correlate(BasicPlaneView<const Sample> frame, std::span<const BasicPlaneView<const Sample>> history,
               std::span<double> r, std::span<double> b, FilterForm form = FilterForm::fast);

/// The least value of D in reject_outliers(). In a history that does not vary, D would otherwise be 0, and a difference
/// of one rounding step would be an outlier.
inline constexpr double kMinDeviation = 0.5;

/// Copies the history to `out` and replaces outliers. m is the lower median over time at a sample's position, and D =
/// max(1.4826 · lower median of |x − m|, kMinDeviation). A sample x with |x − m| > threshold·D becomes m.
template <typename Sample>
void reject_outliers(std::span<const BasicPlaneView<const Sample>> history, double threshold,
                     std::span<const BasicPlaneView<Sample>> out, FilterForm form = FilterForm::fast);

/// Computes out = frame − Σ weights[k] · history[k] in float, with k ascending.
template <typename Sample>
void subtract_weighted(BasicPlaneView<const Sample> frame, std::span<const BasicPlaneView<const Sample>> history,
                       std::span<const double> weights, BasicPlaneView<float> out, FilterForm form = FilterForm::fast);

/// Whitens one frame with its history. Shifts are against `reference`. Throws Error (input): C63-SHIFT-TEXTURELESS if
/// the method is `shift` and the reference has no texture; C63-WHITEN-SINGULAR if the weights have no unique solution;
/// C63-WHITEN-MEMORY if the history does not have settings.memory frames.
template <typename Sample>
void whiten(const ShiftReference<Sample>& reference, BasicPlaneView<const Sample> frame,
            std::span<const BasicPlaneView<const Sample>> history, const WhiteningSettings& settings,
            BasicPlaneView<float> out, FilterForm form = FilterForm::fast);

/// Whitens a sequence frame by frame. Shifts are against the first frame; each frame's shift is computed once.
template <typename Sample>
class Whitener {
 public:
  Whitener(int width, int height, const WhiteningSettings& settings, FilterForm form = FilterForm::fast);

  /// Takes the next frame. If at least settings.memory frames came before it, writes the whitened frame to `out` and
  /// returns true.
  bool push(BasicPlaneView<const Sample> frame, BasicPlaneView<float> out);

  [[nodiscard]] const WhiteningSettings& settings() const { return settings_; }
  /// The shift of the last frame. Empty if no frame was pushed, or if the first frame is smaller than 3x3 or has no
  /// texture, or only along one direction.
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

/// Returns half the sum of absolute differences of two histograms, after each is divided by its total. This is the
/// share of samples, 0..1, that would have to change their bin to make the histograms equal. 0 if either is empty.
[[nodiscard]] double histogram_distance(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b);

inline constexpr double kSceneCutDistance = 0.4;

/// Returns true if a new scene starts between two frames with these luma histograms of 256 bins.
[[nodiscard]] bool is_scene_cut(std::span<const std::uint64_t> before, std::span<const std::uint64_t> after,
                                double distance = kSceneCutDistance);

}  // namespace c63
