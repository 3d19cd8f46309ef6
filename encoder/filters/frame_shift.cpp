// Measures the shift of a frame against a reference. Derivatives are stored times two, and means of five samples times
// five. For bytes these are integers, so their sums are exact in any order.
#include <algorithm>

#include "c63/filter_checks.h"
#include "c63/filters.h"
#include "filters/clones.h"
#include "c63/thread_pool.h"

namespace c63 {
namespace {

C63_CLONES void derive_row(const std::uint8_t* above, const std::uint8_t* row, const std::uint8_t* below,
                           std::int16_t* __restrict g, std::int16_t* __restrict h, std::int16_t* __restrict m,
                           std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    g[i] = static_cast<std::int16_t>(below[i + 1] - above[i + 1]);
    h[i] = static_cast<std::int16_t>(row[i + 2] - row[i]);
    m[i] = static_cast<std::int16_t>(row[i + 1] + above[i + 1] + below[i + 1] + row[i] + row[i + 2]);
  }
}
C63_CLONES void derive_row(const float* above, const float* row, const float* below, float* __restrict g,
                           float* __restrict h, float* __restrict m, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    g[i] = below[i + 1] - above[i + 1];
    h[i] = row[i + 2] - row[i];
    m[i] = row[i + 1] + above[i + 1] + below[i + 1] + row[i] + row[i + 2];
  }
}

// Rows are summed in pieces of this many samples. So the sums of products of bytes stay below 2³¹: each product is at
// most 255·1275.
constexpr std::size_t kPiece = 4096;

C63_CLONES void sums_of_piece(const std::uint8_t* frame, const std::int16_t* g, const std::int16_t* h,
                              const std::int16_t* m, std::size_t count, double& p, double& q) {
  std::int32_t gd = 0;
  std::int32_t hd = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto d = static_cast<std::int16_t>(5 * frame[i] - m[i]);
    gd += g[i] * d;
    hd += h[i] * d;
  }
  p += gd;
  q += hd;
}

C63_CLONES void sums_of_piece(const float* frame, const float* g, const float* h, const float* m, std::size_t count,
                              double& p, double& q) {
  Vector<float> gd{}, hd{};
  std::size_t i = 0;
  for (; i + kLanesOf<float> <= count; i += kLanesOf<float>) {
    Vector<float> x, a, b, c;
    std::memcpy(&x, frame + i, sizeof x);
    std::memcpy(&a, g + i, sizeof a);
    std::memcpy(&b, h + i, sizeof b);
    std::memcpy(&c, m + i, sizeof c);
    const Vector<float> d = 5.0F * x - c;
    gd += a * d;
    hd += b * d;
  }
  for (std::size_t lane = 0; lane < kLanesOf<float>; ++lane) {
    p += gd[lane];
    q += hd[lane];
  }
  for (; i < count; ++i) {
    const float d = 5.0F * frame[i] - m[i];
    p += static_cast<double>(g[i]) * d;
    q += static_cast<double>(h[i]) * d;
  }
}

}  // namespace

std::optional<FrameShift> shift_from(const ShiftSums& s) {
  const double determinant = s.u * s.w - s.v * s.v;
  if (!(determinant > 1e-9 * s.u * s.w)) return std::nullopt;
  return FrameShift{(s.q * s.w - s.p * s.v) / determinant, (s.p * s.u - s.q * s.v) / determinant};
}

template <typename Sample>
ShiftReference<Sample>::ShiftReference(BasicPlaneView<const Sample> picture, FilterForm form)
    : form_(form), width_(picture.width), height_(picture.height) {
  check_view(picture, "the reference");
  require(width_ >= 3 && height_ >= 3, "C63-SHIFT-SIZE",
          "a reference of " + shape_of(picture) + " has no interior: it must be 3x3 or larger");
  const auto count = static_cast<std::size_t>(width_ - 2);
  const auto rows = static_cast<std::size_t>(height_ - 2);
  g_.resize(rows * count);
  h_.resize(rows * count);
  m_.resize(rows * count);
  for (std::size_t y = 0; y < rows; ++y) {
    const int at = static_cast<int>(y);
    derive_row(picture.row(at), picture.row(at + 1), picture.row(at + 2), &g_[y * count], &h_[y * count],
               &m_[y * count], count);
  }
  for (std::size_t i = 0; i < g_.size(); ++i) {
    const double g = g_[i];
    const double h = h_[i];
    texture_.u += h * h;
    texture_.v += g * h;
    texture_.w += g * g;
  }
  texture_.u /= 4;
  texture_.v /= 4;
  texture_.w /= 4;
}

template <typename Sample>
typename ShiftReference<Sample>::RowSums ShiftReference<Sample>::sums_of_row(const Sample* frame,
                                                                             std::size_t row) const {
  const auto count = static_cast<std::size_t>(width_ - 2);
  const std::size_t start = row * count;
  RowSums sums;
  if (form_ == FilterForm::serial) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto d = 5 * frame[i] - m_[start + i];
      sums.p += static_cast<double>(g_[start + i]) * d;
      sums.q += static_cast<double>(h_[start + i]) * d;
    }
    return sums;
  }
  // Vector<float> are added in shorter pieces, because shorter sums have smaller rounding errors.
  const std::size_t piece = std::is_same_v<Sample, float> ? 1024 : kPiece;
  for (std::size_t i = 0; i < count; i += piece) {
    sums_of_piece(frame + i, &g_[start + i], &h_[start + i], &m_[start + i], std::min(piece, count - i), sums.p,
                  sums.q);
  }
  return sums;
}

template <typename Sample>
ShiftSums ShiftReference<Sample>::sums_of(BasicPlaneView<const Sample> frame) const {
  check_view(frame, "the frame");
  require(frame.width == width_ && frame.height == height_, "C63-FILTER-SHAPE",
          "the frame is " + shape_of(frame) + ", the reference " + std::to_string(width_) + "x" +
              std::to_string(height_));
  const auto rows = static_cast<std::size_t>(height_ - 2);
  std::vector<RowSums> sums(rows);  // added in order, so that the result does not depend on the number of threads
  const auto body = [&](std::size_t begin, std::size_t end) {
    for (std::size_t y = begin; y < end; ++y) sums[y] = sums_of_row(frame.row(static_cast<int>(y) + 1) + 1, y);
  };
  form_ == FilterForm::serial ? body(0, rows) : parallel_ranges(rows, 1 + 65536 / static_cast<std::size_t>(width_), body);
  ShiftSums total = texture_;
  for (const RowSums& row : sums) {
    total.p += row.p;
    total.q += row.q;
  }
  total.p /= 10;
  total.q /= 10;
  return total;
}

template <typename Sample>
std::optional<FrameShift> ShiftReference<Sample>::shift_of(BasicPlaneView<const Sample> frame) const {
  return shift_from(sums_of(frame));
}

template <typename Sample>
bool ShiftReference<Sample>::textureless() const {
  return !shift_from(texture_);
}

template <typename Sample>
std::optional<FrameShift> estimate_shift(BasicPlaneView<const Sample> reference, BasicPlaneView<const Sample> frame,
                                         FilterForm form) {
  return ShiftReference<Sample>(reference, form).shift_of(frame);
}

template class ShiftReference<std::uint8_t>;
template class ShiftReference<float>;
template std::optional<FrameShift> estimate_shift(BasicPlaneView<const std::uint8_t>, BasicPlaneView<const std::uint8_t>,
                                                  FilterForm);
template std::optional<FrameShift> estimate_shift(BasicPlaneView<const float>, BasicPlaneView<const float>, FilterForm);

}  // namespace c63
