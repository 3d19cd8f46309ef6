#include "cpu/frame_coder.h"

namespace c63::cpu {

void FrameCoder::begin(const FrameJob& job) {
  job_ = &job;
  const QuantizationTables& tables = job.plan->tables;
  for (int p = 0; p < kPlanes; ++p) {
    if (tables[p] != tables_[p]) transforms_[p] = TransformTable(tables[p], p);
  }
  tables_ = tables;
}

}  // namespace c63::cpu
