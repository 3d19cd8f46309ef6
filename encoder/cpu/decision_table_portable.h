#pragma once

#include "cpu/choose_levels_portable.h"
#include "cpu/decision_kernels_portable.h"
#include "cpu/search_best_portable.h"

namespace c63::cpu {
namespace {
namespace portable {

/// Returns the decision kernels of an instruction set that has no forms of its own: portable and scalar kernels.
[[maybe_unused]] const DecisionKernels& decision_table() {
  const DecisionKernels& scalar = scalar_decision_kernels();
  static const DecisionKernels kKernels{search_best,    scalar.transform_blocks, choose_levels, scalar.write_levels,
                                        cost_candidate, extend_beam,             extend_narrow_by<cost_candidate, extend_beam>};
  return kKernels;
}

}  // namespace portable
}  // namespace
}  // namespace c63::cpu
