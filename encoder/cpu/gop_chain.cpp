#include "cpu/gop_chain.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>

#include "bitstream/entropy_encoder.h"
#include "bitstream/frame_header.h"
#include "c63/error.h"
#include "c63/filters.h"
#include "c63/quality.h"
#include "c63/thread_pool.h"
#include "cpu/block_prediction.h"
#include "decide/repeat_frame.h"

namespace c63::cpu {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds(Clock::duration time) { return std::chrono::duration<double, std::milli>(time).count(); }

}  // namespace

GopChain::GopChain(const ResolvedEncode& encode, const Kernels& kernels)
    : settings_(encode.settings), kernels_(kernels), geometry_(encode.geometry) {
  for (FrameSyntax& syntax : syntax_) syntax = FrameSyntax(geometry_);
  for (PaddedPicture& picture : pictures_) picture = PaddedPicture(geometry_);
  for (PredictionVectors& vectors : vectors_) vectors = PredictionVectors(geometry_);
  if (settings_.measurement.keep_prediction) prediction_ = PaddedPicture(geometry_);
}

void GopChain::code(std::int64_t count, const PaddedPicture& picture, std::span<const std::uint8_t> original, const FramePlan& plan,
                    EncodedFrame& frame, TraceRow& trace) {
  const bool keeps_motion = settings_.measurement.keep_motion && !plan.key;
  if (plan.advances_reference()) newest_ = 1 - newest_;
  const FrameJob job{.plan = &plan,
                     .current = &picture,
                     .original = original,
                     .reference = &pictures_[static_cast<std::size_t>(1 - newest_)],
                     .reconstruction = &pictures_[static_cast<std::size_t>(newest_)],
                     .syntax = &syntax_[syntax_of(count)],
                     .vectors = &vectors_[static_cast<std::size_t>(1 - newest_vectors_)],
                     .before = &vectors_[static_cast<std::size_t>(newest_vectors_)],
                     .prediction = settings_.measurement.keep_prediction ? &prediction_ : nullptr,
                     .motion = keeps_motion ? &frame.motion : nullptr};
  frame.index = plan.index;
  frame.key = plan.key;
  frame.repeat = plan.repeat || !code_unless_repeated(job, frame, trace);
  if (frame.repeat) return repeat(job, frame);
  newest_vectors_ = 1 - newest_vectors_;
  const auto coded = Clock::now();
  hand_out(job, frame);
  frame.statistics.times.measure += milliseconds(trace.did("measure", plan.index) - coded);
}

bool GopChain::code_unless_repeated(const FrameJob& job, EncodedFrame& frame, TraceRow& trace) {
  const RateDecisions& rate = job.plan->rate;
  if (!coder_) coder_.emplace(settings_.coding, kernels_);
  coder_->begin(job);
  // Returns the squared error of the frame if it becomes a repeat. Once the sum has reached `limit`, no more MCU rows
  // are added to it, because a repeat with such an error is not chosen.
  const auto error_up_to = [&](std::uint64_t limit) {
    std::atomic<std::uint64_t> error = 0;
    parallel_for(geometry_.mcu_rows(), [&](int row) {
      if (error < limit) error += coder_->repeat_error(row);
    });
    return error.load();
  };
  const auto better_repeated = [&](std::int64_t cost) {
    const std::uint64_t error = error_up_to(repeat_error_limit(cost, job.plan->headers, rate));
    return repeat_is_cheaper(error, cost, job.plan->headers, rate);
  };
  const bool may_repeat = rate.any() && rate.repeats && !job.plan->key && job.plan->advances_reference();
  if (may_repeat && better_repeated(least_row_costs(geometry_, rate.lambda))) return false;
  job.syntax->key = job.plan->key;
  if (job.motion != nullptr) {
    for (int p = 0; p < kPlanes; ++p) {
      const PlaneGeometry g = geometry_.plane(p);
      frame.motion[p] = {g.columns, g.rows, {}, std::vector<std::uint16_t>(static_cast<std::size_t>(g.blocks()))};
    }
  }
  const std::int64_t cost = code_rows(job, frame.statistics, trace);
  return !may_repeat || !better_repeated(cost);
}

void GopChain::repeat(const FrameJob& job, EncodedFrame& frame) {
  newest_ = 1 - newest_;  // the previous picture stays the newest
  frame.motion = {};
  frame.statistics.luma_sad = 0;
  frame.statistics.sse = {};
  FrameJob shown = job;
  shown.reconstruction = &pictures_[static_cast<std::size_t>(newest_)];
  shown.motion = nullptr;
  for (int row = 0; settings_.measurement.psnr && row < geometry_.mcu_rows(); ++row) {
    const auto errors = measure_row(shown, row);
    for (int p = 0; p < kPlanes; ++p) frame.statistics.sse[p] += errors[p];
  }
  hand_out(shown, frame);
}

std::int64_t GopChain::code_rows(const FrameJob& job, FrameStatistics& statistics, TraceRow& trace) {
  const bool key = job.plan->key;
  const std::int64_t index = job.plan->index;
  const auto begin = Clock::now();
  if (!key) {
    parallel_for(geometry_.mcu_rows(), [&](int row) { coder_->prepare_row(row); });
    try {
      coder_->prepare();
    } catch (const Error& error) {  // only a user's own search throws
      throw error.at({.frame = index});
    }
  }
  const auto begin_rows = Clock::now();
  std::mutex totals;
  std::int64_t cost = 0;
  Clock::duration search{};  // summed over all threads, like `transform` and `measure`
  Clock::duration transform{};
  Clock::duration measure{};
  const auto search_row = [&](int row) {
    const auto start = Clock::now();
    const std::uint64_t sad = coder_->search_row(row);
    const auto searched = Clock::now();
    const std::lock_guard lock(totals);
    statistics.luma_sad += sad;
    search += searched - start;
  };
  const auto code_row = [&](int row) {
    const auto start = Clock::now();
    const std::int64_t row_cost = coder_->code_row(row);
    const auto coded = Clock::now();
    std::array<std::uint64_t, kPlanes> errors{};
    if (settings_.measurement.psnr) errors = measure_row(job, row);
    const auto measured = Clock::now();
    const std::lock_guard lock(totals);
    cost += row_cost;
    for (int p = 0; p < kPlanes; ++p) statistics.sse[p] += errors[p];
    transform += coded - start;
    measure += measured - coded;
  };
  if (!key && coder_->codes_after_search()) {
    parallel_for(geometry_.mcu_rows(), search_row);
    parallel_for(geometry_.mcu_rows(), code_row);
  } else {
    parallel_for(geometry_.mcu_rows(), [&](int row) {
      if (!key) search_row(row);
      code_row(row);
    });
  }
  const auto end_rows = Clock::now();

  // Search, transform and measurement alternate from row to row, on several threads. Statistics show these stages one
  // after another. So the time of all rows is divided among the stages, in proportion to the time that threads spent in
  // each.
  const double share = static_cast<double>((end_rows - begin_rows).count()) /
                       static_cast<double>(std::max<Clock::rep>(1, (search + transform + measure).count()));
  const auto scaled = [&](Clock::duration time) {
    return Clock::duration(static_cast<Clock::rep>(static_cast<double>(time.count()) * share));
  };
  const auto searched = key ? begin_rows : begin_rows + scaled(search);
  const auto coded = searched + scaled(transform);
  statistics.times.motion = key ? 0 : milliseconds(searched - begin);
  statistics.times.transform = milliseconds(coded - searched);
  statistics.times.measure = milliseconds(end_rows - coded);
  if (!key) trace.did("search", index, searched);
  trace.did("code", index, coded);
  return cost;
}

std::array<std::uint64_t, kPlanes> GopChain::measure_row(const FrameJob& job, int mcu_row) const {
  std::array<std::uint64_t, kPlanes> errors{};
  std::array<std::span<const std::uint8_t>, kPlanes> originals;
  if (!job.original.empty()) originals = split_planes(job.original, geometry_.width(), geometry_.height());
  for (int p = 0; p < kPlanes; ++p) {
    const auto original = job.original.empty() ? job.current->coded(p) : originals[static_cast<std::size_t>(p)];
    const PlaneGeometry g = geometry_.plane(p);
    const std::size_t step = static_cast<std::size_t>(rows_per_mcu(p)) * static_cast<std::size_t>(g.width);
    const std::size_t first = std::min(g.coded_samples, static_cast<std::size_t>(mcu_row) * step);
    const std::size_t end = std::min(g.coded_samples, first + step);
    errors[p] = sum_of_squared_errors(original.subspan(first, end - first),
                                      job.reconstruction->coded(p).subspan(first, end - first));
  }
  return errors;
}

void GopChain::hand_out(const FrameJob& job, EncodedFrame& frame) {
  const MeasurementSettings& wanted = settings_.measurement;
  if (job.motion != nullptr) {
    for (int p = 0; p < kPlanes; ++p) {
      frame.motion[p].vectors = job.vectors->plane(p).vectors;
      if (job.plan->rate.any()) frame.motion[p].inter = job.vectors->plane(p).has_vector;
    }
  }
  if (compares_pictures(wanted) || wanted.keep_reconstruction) {
    frame.reconstruction.resize(geometry_.frame_bytes());
    job.reconstruction->copy_to(frame.reconstruction);
  }
  if (compares_pictures(wanted)) {
    std::vector<std::uint8_t> copy;
    if (job.original.empty()) {
      copy.resize(geometry_.frame_bytes());
      job.current->copy_to(copy);
    }
    const std::span<const std::uint8_t> original = job.original.empty() ? std::span<const std::uint8_t>(copy) : job.original;
    compare_pictures(original, frame.reconstruction, settings_, frame.statistics);
    if (!wanted.keep_reconstruction) frame.reconstruction = {};
  }
  if (wanted.keep_prediction) {
    if (!frame.repeat) {
      shown_prediction_.resize(geometry_.frame_bytes());
      job.prediction->copy_to(shown_prediction_);
    }
    frame.prediction = shown_prediction_;
  }
}

void GopChain::write(std::int64_t count, const FramePlan& plan, EncodedFrame& frame) const {
  const auto start = Clock::now();
  std::vector<std::uint8_t>& bytes = frame.bytes;
  if (frame.repeat) {
    write_repeat_frame(bytes);
    frame.statistics.bits.header = 8 * kRepeatFrameBytes;
    return;
  }
  write_frame_header(bytes, geometry_, plan.tables, plan.key, plan.headers);
  const std::size_t header_bytes = bytes.size();
  encode_scan(syntax_[syntax_of(count)], bytes, frame.statistics.bits);
  write_frame_trailer(bytes);
  frame.statistics.bits.header += 8 * (header_bytes + kFrameTrailerBytes);
  frame.statistics.times.entropy = milliseconds(Clock::now() - start);
}

}  // namespace c63::cpu
