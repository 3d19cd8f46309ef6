#include "pipeline/frame_chain.h"

#include "bitstream/entropy_decoder.h"
#include "cpu/frame_restorer.h"

namespace c63 {

void FrameChain::allocate(const Geometry& geometry) {
  if (geometry_ == geometry) return;
  syntax_ = FrameSyntax(geometry);
  for (cpu::PaddedPicture& picture : pictures_) picture = cpu::PaddedPicture(geometry);
  if (keep_prediction_) prediction_ = cpu::PaddedPicture(geometry);
  geometry_ = geometry;
}

void FrameChain::reconstruct(const ParsedFrame& frame, std::int64_t index, TraceRow& trace) {
  if (!frame.advances_reference) inherited_.remember(syntax_);
  decode_scan(frame, syntax_, scan_);
  if (!frame.advances_reference) inherited_.apply_to(syntax_);
  trace.did("entropy", index);

  if (frame.advances_reference) current_ = 1 - current_;
  if (frame.tables != tables_) {
    tables_ = frame.tables;
    for (int p = 0; p < kPlanes; ++p) transforms_[p] = cpu::TransformTable(tables_[p], p);
  }
  for (int row = 0; row < frame.geometry.mcu_rows(); ++row) {
    cpu::restore_row(syntax_, transforms_, kernels_, pictures_[1 - current_], pictures_[current_],
                     keep_prediction_ ? &prediction_ : nullptr, row);
  }
  trace.did("restore", index);
}

void FrameChain::hand_out(const ParsedFrame& frame, DecodedFrame& out) const {
  out.picture.resize(frame.geometry.frame_bytes());
  pictures_[current_].copy_to(out.picture);
  if (keep_prediction_) {
    out.prediction.resize(frame.geometry.frame_bytes());
    prediction_.copy_to(out.prediction);
  }
  if (!keep_motion_ || frame.key || frame.repeat) return;
  for (int p = 0; p < kPlanes; ++p) {
    const PlaneSyntax& plane = syntax_.planes[p];
    out.motion[p] = {plane.geometry.columns, plane.geometry.rows, plane.vectors, {}, plane.uses_vector};
  }
}

DecodedFrame FrameChain::decode(const ParsedFrame& frame, std::int64_t index, bool wanted, TraceRow& trace) {
  allocate(frame.geometry);
  if (!frame.repeat) reconstruct(frame, index, trace);

  DecodedFrame out;
  out.key = frame.key;
  out.repeat = frame.repeat;
  out.advances_reference = frame.advances_reference;
  out.width = frame.geometry.width();
  out.height = frame.geometry.height();
  out.coded_bytes = frame.size;
  if (wanted) hand_out(frame, out);
  trace.did("copy", index);
  return out;
}

}  // namespace c63
