#include "decode/frame_task.h"

#include <algorithm>
#include <utility>

#include "c63/error.h"
#include "cpu/block_prediction.h"

namespace c63 {
namespace {

/// Returns the number of MCU rows that are entropy decoded at a time. They are few enough that their levels
/// stay in a cache. They are many enough that checking after them how far the reference is decoded costs little.
int rows_per_step(const Geometry& geometry) { return std::max(1, geometry.mcu_rows() / 16); }

}  // namespace

FrameTask::FrameTask(const DecoderSettings& settings)
    : kernels_(cpu::kernels(settings.execution.simd)), keep_prediction_(settings.keep_prediction) {}

void FrameTask::begin(StreamFrame&& coded, FramePictures&& pictures) {
  coded_ = std::move(coded);
  pictures_ = std::move(pictures);
  scan_.reset();
  decoded_ = restored_ = 0;
  cancelled_ = false;
  fault_ = nullptr;
}

bool FrameTask::run(TraceRow& trace) noexcept {
  try {
    try {
      if (!decode(trace)) return false;
    } catch (const Error& error) {
      throw coded_.located(error);
    }
  } catch (...) {
    fault_ = std::current_exception();
    pictures_.picture->progress.fail();
  }
  return true;
}

bool FrameTask::decode(TraceRow& trace) {
  const ParsedFrame& frame = coded_.parsed;
  const int rows = frame.geometry.mcu_rows();
  const auto fails = [&](const PictureRef& other) { return other && other->progress.failed(); };
  if (pictures_.before && !pictures_.before->progress.wait_for(rows, rows, *this)) return false;
  if (!scan_) {
    pictures_.picture->allocate(frame.geometry, keep_prediction_);
    if (syntax_.geometry != frame.geometry) syntax_ = FrameSyntax(frame.geometry);
    scan_.emplace(frame, scan_bytes_);
    syntax_.key = frame.key;
    if (frame.tables != tables_) {
      tables_ = frame.tables;
      for (int p = 0; p < kPlanes; ++p) transforms_[p] = cpu::TransformTable(tables_[p], p);
    }
  }
  while (restored_ < rows) {
    if (cancelled_ || fails(pictures_.reference) || fails(pictures_.before)) {
      pictures_.picture->progress.fail();
      return true;
    }
    if (decoded_ < rows) {
      for (const int end = std::min(rows, decoded_ + rows_per_step(frame.geometry)); decoded_ < end; ++decoded_) {
        scan_->decode_row(syntax_);
        pictures_.picture->vectors.fill_row(syntax_, pictures_.before ? &pictures_.before->vectors : nullptr, decoded_);
      }
      if (decoded_ == rows) scan_->finish();
      trace.did("entropy", coded_.index);
    }
    if (!restore(decoded_, /*may_wait=*/decoded_ == rows)) return false;
    trace.did("restore", coded_.index);
  }
  return true;
}

bool FrameTask::restore(int end, bool may_wait) {
  const int rows = syntax_.geometry.mcu_rows();
  DecodedPicture& to = *pictures_.picture;
  if (may_wait) to.progress.set_advancing(true);
  while (restored_ < end) {
    if (pictures_.reference) {
      const int needed = cpu::reference_rows(syntax_.geometry, to.vectors, restored_);
      RowProgress& progress = pictures_.reference->progress;
      if (!progress.has(needed)) {
        if (!may_wait) return true;
        if (!progress.spin_for(needed)) {
          to.progress.set_advancing(false);
          if (!progress.wait_for(needed, std::min(rows, needed + rows_per_step(syntax_.geometry)), *this)) return false;
          to.progress.set_advancing(true);
        }
      }
      if (progress.failed()) return true;
    }
    cpu::restore_row(syntax_, to.vectors, transforms_, kernels_, pictures_.reference ? pictures_.reference->samples : to.samples,
                     to.samples, keep_prediction_ ? &to.prediction : nullptr, restored_);
    to.progress.reach(++restored_);
  }
  return true;
}

std::array<MotionField, kPlanes> FrameTask::motion() const {
  std::array<MotionField, kPlanes> fields;
  if (coded_.parsed.key) return fields;
  for (int p = 0; p < kPlanes; ++p) {
    const PlaneGeometry& g = syntax_.planes[p].geometry;
    const PredictionVectors::Plane& plane = pictures_.picture->vectors.plane(p);
    fields[p] = {g.columns, g.rows, plane.vectors, {}, plane.has_vector};
  }
  return fields;
}

void FrameTask::end() noexcept {
  scan_.reset();
  pictures_ = {};
  coded_ = {};
}

}  // namespace c63
