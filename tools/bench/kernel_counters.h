#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace c63::bench {

/// Has NVIDIA's profiler ncu count the first launch that `command` makes, which takes it seconds. Returns the figures in percent of
/// the GPU's peak, with a line for people in `text`; or only `why_not`, if there is no ncu or if it may not count.
[[nodiscard]] nlohmann::ordered_json count_by_ncu(const std::string& command);

/// The same of what ncu --csv wrote, with its exit code.
[[nodiscard]] nlohmann::ordered_json counters_of(const std::string& csv, int exit_code);

}  // namespace c63::bench
