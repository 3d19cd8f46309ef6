// Whitens a frame, or a sequence frame by frame: subtracts a weighted sum of the frames before it.
#include <algorithm>
#include <string>
#include <utility>

#include "c63/filter_checks.h"
#include "c63/filters.h"

namespace c63 {
namespace {

template <typename Sample>
using Views = std::vector<BasicPlaneView<const Sample>>;

FrameShift require_shift(const std::optional<FrameShift>& shift) {
  check_texture(shift.has_value());
  return *shift;
}

/// Returns views of the history. If the settings reject outliers, they show a copy without outliers, which is made in
/// `storage`. Otherwise they show the history itself.
template <typename Sample>
Views<Sample> clean(std::span<const BasicPlaneView<const Sample>> history, const WhiteningSettings& settings,
                    std::vector<std::vector<Sample>>& storage, FilterForm form) {
  Views<Sample> views(history.begin(), history.end());
  if (!settings.reject) return views;
  const int width = history[0].width;
  const int height = history[0].height;
  storage.resize(history.size());
  std::vector<BasicPlaneView<Sample>> out;
  for (auto& samples : storage) {
    samples.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
    out.push_back({samples.data(), width, height, width});
  }
  reject_outliers<Sample>(history, *settings.reject, out, form);
  views.assign(out.begin(), out.end());
  return views;
}

/// Whitens a frame. `shifts` is a function that returns the shifts of the frame and of its history. It is only called
/// if the method needs them.
template <typename Sample, typename Shifts>
void whiten_with(BasicPlaneView<const Sample> frame, std::span<const BasicPlaneView<const Sample>> history,
                 const WhiteningSettings& settings, BasicPlaneView<float> out, FilterForm form,
                 std::vector<std::vector<Sample>>& storage, const Shifts& shifts) {
  const Views<Sample> past = clean(history, settings, storage, form);
  std::vector<double> weights;
  if (settings.method == WhiteningMethod::shift) {
    const std::pair<FrameShift, std::vector<FrameShift>> known = shifts();
    weights = shift_weights(known.first, known.second, settings.degree, settings.epsilon);
  } else {
    std::vector<double> r(past.size() * past.size());
    std::vector<double> b(past.size());
    correlate<Sample>(frame, past, r, b, form);
    weights = correlation_weights(r, b, settings.epsilon);
  }
  subtract_weighted<Sample>(frame, past, weights, out, form);
}

}  // namespace

template <typename Sample>
void whiten(const ShiftReference<Sample>& reference, BasicPlaneView<const Sample> frame,
            std::span<const BasicPlaneView<const Sample>> history, const WhiteningSettings& settings,
            BasicPlaneView<float> out, FilterForm form) {
  check_whitening(settings);
  check_memory(settings.memory, history.size());
  check_history(frame, history);
  std::vector<std::vector<Sample>> storage;
  whiten_with<Sample>(frame, history, settings, out, form, storage, [&] {
    std::vector<FrameShift> shifts;
    for (const auto& past : history) shifts.push_back(require_shift(reference.shift_of(past)));
    return std::pair(require_shift(reference.shift_of(frame)), std::move(shifts));
  });
}

template <typename Sample>
Whitener<Sample>::Whitener(int width, int height, const WhiteningSettings& settings, FilterForm form)
    : width_(width), height_(height), settings_(settings), form_(form) {
  check_whitening(settings);
  require(width > 0 && height > 0, "C63-FILTER-SHAPE",
          "invalid picture size " + std::to_string(width) + "x" + std::to_string(height));
}

template <typename Sample>
bool Whitener<Sample>::push(BasicPlaneView<const Sample> frame, BasicPlaneView<float> out) {
  check_frame_size(frame, width_, height_);
  last_shift_.reset();
  if (width_ >= 3 && height_ >= 3) {
    if (!reference_) reference_.emplace(frame, form_);
    last_shift_ = reference_->shift_of(frame);
  }
  if (settings_.method == WhiteningMethod::shift) static_cast<void>(require_shift(last_shift_));

  const bool full = past_.size() == static_cast<std::size_t>(settings_.memory);
  if (full) {
    Views<Sample> history;
    for (const Past& past : past_) history.push_back({past.samples.data(), width_, height_, width_});
    whiten_with<Sample>(frame, history, settings_, out, form_, cleaned_, [&] {
      std::vector<FrameShift> shifts;
      for (const Past& past : past_) shifts.push_back(*past.shift);
      return std::pair(*last_shift_, std::move(shifts));
    });
  }
  Past newest;
  if (full) {
    newest = std::move(past_.front());
    past_.pop_front();
  }
  newest.samples.resize(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_));
  for (int y = 0; y < height_; ++y) {
    std::copy_n(frame.row(y), width_, newest.samples.begin() + static_cast<std::ptrdiff_t>(y) * width_);
  }
  newest.shift = last_shift_;
  past_.push_back(std::move(newest));
  return full;
}

#define C63_INSTANTIATE(Sample)                                                                                       \
  template void whiten<Sample>(const ShiftReference<Sample>&, BasicPlaneView<const Sample>,                           \
                               std::span<const BasicPlaneView<const Sample>>, const WhiteningSettings&,               \
                               BasicPlaneView<float>, FilterForm);                                                    \
  template class Whitener<Sample>;
C63_INSTANTIATE(std::uint8_t)
C63_INSTANTIATE(float)
#undef C63_INSTANTIATE

}  // namespace c63
