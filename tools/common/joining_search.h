#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "c63/joining_device.h"

namespace c63::tools {

/// Returns a search that begins with `cpu`, and goes on with `late` from the first call after `late` is ready. If the
/// caller does not start `late`, it is started once `cpu` has searched for `start`, about the time that a start takes. So
/// a short film does not start it. If `late` cannot be started, or its first search fails, `cpu` does all searches. `note`
/// gets one line about either. Both find the same vectors, so the results do not depend on times.
[[nodiscard]] PairSearch joining_search(PairSearch cpu, std::shared_ptr<LateDevice<PairSearch>> late, std::string late_name,
                                        std::function<void(const std::string&)> note,
                                        std::chrono::milliseconds start = std::chrono::milliseconds(300));

}  // namespace c63::tools
