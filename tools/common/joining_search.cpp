#include "common/joining_search.h"

#include <fmt/format.h>

#include <optional>
#include <span>
#include <utility>

#include "c63/error.h"

namespace c63::tools {

PairSearch joining_search(PairSearch cpu, std::shared_ptr<LateDevice<PairSearch>> late, std::string late_name,
                          std::function<void(const std::string&)> note, std::chrono::milliseconds start) {
  return [search = std::move(cpu), late = std::move(late), late_name = std::move(late_name), note = std::move(note), start,
          spent = std::chrono::steady_clock::duration::zero()](std::span<const MotionPair> pairs,
                                                               const MotionResults& results) mutable {
    if (late) {
      try {
        if (spent >= start) late->begin();
        if (std::optional<PairSearch> ready = late->ready()) {
          (*ready)(pairs, results);  // may fail, because it allocates memory on the device
          search = *std::move(ready);
          late = nullptr;
          note("searching on " + late_name);
          return;
        }
      } catch (const Error& error) {
        late = nullptr;
        note(fmt::format("the search stays on the CPU: {}", error.message()));
      }
    }
    const auto begin = std::chrono::steady_clock::now();
    search(pairs, results);
    spent += std::chrono::steady_clock::now() - begin;
  };
}

}  // namespace c63::tools
