#pragma once

#include <span>
#include <string>

#include "c63/filter_checks.h"
#include "c63/filters.h"

namespace c63 {

/// Throws if the history is empty, too long, or has frames of another size than `frame`.
template <typename Sample>
void check_history(const BasicPlaneView<const Sample>& frame, std::span<const BasicPlaneView<const Sample>> history) {
  check_view(frame, "the frame");
  require(!history.empty() && history.size() <= kMaxMemory, "C63-WHITEN-SETTING",
          "a history of " + std::to_string(history.size()) + " frames: 1 to " + std::to_string(kMaxMemory) +
              " can be used");
  for (std::size_t k = 0; k < history.size(); ++k) {
    check_same_shape(frame, "the frame", history[k], ("history frame " + std::to_string(k + 1)).c_str());
  }
}

}  // namespace c63
