#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace c63::bench {

/// Returns a self-contained page about a GPU's motion kernels: their times, the slowest first, and their roofline. `me` is
/// a result of c63bench me, or a result of tools/gpu_check, which contains a result of c63bench me. `cpu` is a result of
/// c63bench cpu or tools/checks/cpu_check; it may be null. Throws Error (input, C63-BENCH-FILE) for other JSON.
[[nodiscard]] std::string ladder_page(const nlohmann::ordered_json& me, const nlohmann::ordered_json& cpu);

/// Reads a file of results. Throws Error (input).
[[nodiscard]] nlohmann::ordered_json read_figures(const std::string& path);

/// Writes the page of `me`. If `cpu_path` is not empty, it is a file with the CPU's results. Throws Error (input,
/// output).
void write_ladder_page(const std::string& path, const nlohmann::ordered_json& me, const std::string& cpu_path);

}  // namespace c63::bench
