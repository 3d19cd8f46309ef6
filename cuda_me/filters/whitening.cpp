// Whitening on a GPU. WhiteningEngine::whiten() launches up to five kernels, one after another. The host waits for none
// of them before finish().
#include <algorithm>
#include <string>

#include "c63/cuda/filters.h"
#include "c63/error.h"
#include "c63/filter_checks.h"
#include "cuda_me/filters/whitening_kernels.h"
#include "cuda_me/runtime/memory.h"

namespace c63::cuda {

using kernels::Sum;
using kernels::WhiteningStatus;

struct WhiteningEngine::State {
  State(FilterQueue& q, ConstPlaneView reference, const WhiteningSettings& s)
      : queue(&q),
        settings(s),
        width(reference.width),
        height(reference.height),
        has_interior(width >= 3 && height >= 3),
        layout(width, height),
        memory(layout.bytes()),
        sums(3 + 2 * kernels::kListedFrames),
        products(static_cast<std::size_t>(kernels::kListedFrames) * kernels::kListedFrames),
        weights(kMaxMemory),
        status(1) {
    fill_async(sums.data(), 0, sums.bytes(), queue->stream());
    fill_async(products.data(), 0, products.bytes(), queue->stream());
    fill_async(status.data(), 0, status.bytes(), queue->stream());
    if (settings.reject) {
      cleaned = DeviceBuffer<std::uint8_t>(static_cast<std::size_t>(settings.memory) * static_cast<std::size_t>(width) *
                                           static_cast<std::size_t>(height));
    }
    if (has_interior) kernels::derive(queue->stream(), reference, layout.at(memory.data()), sums.data());
  }

  FilterQueue* queue;
  WhiteningSettings settings;
  int width;
  int height;
  bool has_interior;
  kernels::DerivedLayout layout;
  DeviceBuffer<std::uint8_t> memory;
  DeviceBuffer<Sum> sums;  ///< u, v and w of the reference, then p and q of each frame (ShiftSums)
  DeviceBuffer<Sum> products;
  DeviceBuffer<float> weights;
  DeviceBuffer<WhiteningStatus> status;
  DeviceBuffer<std::uint8_t> cleaned;
  WhiteningStatus last;
};

WhiteningEngine::WhiteningEngine(FilterQueue& queue, ConstPlaneView reference,
                                         const WhiteningSettings& settings) {
  check_whitening(settings);
  check_view(reference, "the reference");
  require(reference.width > 0 && reference.height > 0, "C63-FILTER-SHAPE", "invalid picture size " + shape_of(reference));
  state_ = std::make_unique<State>(queue, reference, settings);
}
WhiteningEngine::~WhiteningEngine() = default;
WhiteningEngine::WhiteningEngine(WhiteningEngine&&) noexcept = default;
WhiteningEngine& WhiteningEngine::operator=(WhiteningEngine&&) noexcept = default;

void WhiteningEngine::whiten(ConstPlaneView frame,
                                     std::span<const ConstPlaneView> history, BasicPlaneView<float> out) {
  State& s = *state_;
  check_memory(s.settings.memory, history.size());
  check_same_shape(frame, "the frame", out, "the output");
  std::vector<ConstPlaneView> all = {frame};
  all.insert(all.end(), history.begin(), history.end());
  for (const auto& view : all) {
    check_view(view, "the frame");
    require(view.width == s.width && view.height == s.height, "C63-FILTER-SHAPE",
            "the frame is " + shape_of(view) + ", the reference " + std::to_string(s.width) + "x" +
                std::to_string(s.height));
  }
  CUstream_st* stream = s.queue->stream();
  if (s.has_interior) {
    kernels::shift_all(stream, s.layout.at(s.memory.data()), kernels::list_of(all), s.sums.data() + 3);
  }
  if (s.settings.reject) {
    const std::size_t samples = static_cast<std::size_t>(s.width) * static_cast<std::size_t>(s.height);
    kernels::reject_all(stream, kernels::list_of(history), s.width, s.height,
                                static_cast<float>(*s.settings.reject), s.cleaned.data());
    for (std::size_t k = 0; k < history.size(); ++k) {
      all[k + 1] = {s.cleaned.data() + k * samples, s.width, s.height, s.width};
    }
  }
  const auto list = kernels::list_of(all);
  if (s.settings.method == WhiteningMethod::correlation) {
    kernels::correlate_all(stream, list, s.width, s.height, s.products.data());
  }
  kernels::solve_weights(stream, s.settings, s.sums.data(), s.sums.data() + 3, s.products.data(),
                                 s.weights.data(), s.status.data());
  kernels::subtract_all(stream, list, s.weights.data(), out);
}

void WhiteningEngine::finish() {
  State& s = *state_;
  s.queue->download(&s.last, s.status.data(), sizeof s.last);
  if (s.last.textureless == 0 && s.last.singular == 0) return;
  fill_async(s.status.data(), 0, s.status.bytes(), s.queue->stream());
  check_texture(s.last.textureless == 0);
  throw Error(ErrorKind::input, "C63-WHITEN-SINGULAR",
              "the " + std::to_string(s.settings.memory) +
                  " history frames depend on each other: the system has no unique solution; set epsilon above 0");
}

std::vector<float> WhiteningEngine::weights() const {
  std::vector<float> host(static_cast<std::size_t>(state_->settings.memory));
  state_->queue->download(host.data(), state_->weights.data(), host.size() * sizeof(float));
  return host;
}

std::optional<FrameShift> WhiteningEngine::shift() const {
  if (state_->last.textured_shift == 0) return std::nullopt;
  return state_->last.shift;
}

Whitener::Whitener(FilterQueue& queue, int width, int height, const WhiteningSettings& settings)
    : queue_(&queue), width_(width), height_(height), settings_(settings) {
  check_whitening(settings);
  require(width > 0 && height > 0, "C63-FILTER-SHAPE",
          "invalid picture size " + std::to_string(width) + "x" + std::to_string(height));
  out_ = DeviceArray<float>(queue, static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
}

bool Whitener::push(ConstPlaneView frame, BasicPlaneView<float> out) {
  check_frame_size(frame, width_, height_);
  const auto width = static_cast<std::size_t>(width_);
  const bool full = past_.size() == static_cast<std::size_t>(settings_.memory);
  std::vector<std::uint8_t> rows;
  for (int y = 0; y < height_; ++y) rows.insert(rows.end(), frame.row(y), frame.row(y) + width_);
  DeviceArray<std::uint8_t> newest(*queue_, std::span<const std::uint8_t>(rows));
  const auto view_of = [&](const DeviceArray<std::uint8_t>& array) {
    return ConstPlaneView{array.data(), width_, height_, width_};
  };
  if (!engine_) engine_.emplace(*queue_, view_of(newest), settings_);
  if (full) {
    std::vector<ConstPlaneView> history;
    for (const auto& past : past_) history.push_back(view_of(past));
    engine_->whiten(view_of(newest), history, {out_.data(), width_, height_, width_});
    engine_->finish();
    const std::vector<float> host = out_.download(*queue_);
    for (int y = 0; y < height_; ++y) {
      std::copy_n(host.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(y) * width), width_, out.row(y));
    }
    past_.pop_front();
  }
  past_.push_back(std::move(newest));
  return full;
}


}  // namespace c63::cuda
