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

DecodedFrame FrameChain::decode(const ParsedFrame& frame, std::int64_t index, TraceRow& trace) {
  allocate(frame.geometry);
  decode_scan(frame, syntax_, scan_);
  trace.did("entropy", index);

  const cpu::PaddedPicture& reference = pictures_[1 - reconstruction_];
  cpu::PaddedPicture& picture = pictures_[reconstruction_];
  if (frame.tables != tables_) {
    tables_ = frame.tables;
    for (int p = 0; p < kPlanes; ++p) transforms_[p] = cpu::TransformTable(tables_[p], p);
  }
  for (int row = 0; row < frame.geometry.mcu_rows(); ++row) {
    cpu::restore_row(syntax_, transforms_, kernels_, reference, picture, keep_prediction_ ? &prediction_ : nullptr,
                     row);
  }
  reconstruction_ = 1 - reconstruction_;
  trace.did("restore", index);

  DecodedFrame out;
  out.key = frame.key;
  out.width = frame.geometry.width();
  out.height = frame.geometry.height();
  out.coded_bytes = frame.size;
  out.picture.resize(frame.geometry.frame_bytes());
  picture.copy_to(out.picture);
  if (keep_prediction_) {
    out.prediction.resize(frame.geometry.frame_bytes());
    prediction_.copy_to(out.prediction);
  }
  if (keep_motion_ && !frame.key) {
    for (int p = 0; p < kPlanes; ++p) {
      const PlaneSyntax& plane = syntax_.planes[p];
      out.motion[p] = {plane.geometry.columns, plane.geometry.rows, plane.vectors, {}};
    }
  }
  trace.did("copy", index);
  return out;
}

}  // namespace c63
