#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace c63::bench {

/// Returns a self-contained page of a GPU's motion kernels: a ladder of their times, and their roofline. `me` are
/// figures of c63bench me, or a result of tools/gpu_check that contains them. `cpu` are figures of c63bench cpu or
/// tools/checks/cpu_check, and may be null. Throws Error (input, C63-BENCH-FILE) for other JSON.
[[nodiscard]] std::string ladder_page(const nlohmann::ordered_json& me, const nlohmann::ordered_json& cpu);

/// Reads a file of figures. Throws Error (input).
[[nodiscard]] nlohmann::ordered_json read_figures(const std::string& path);

/// Writes the page of `me`. If a name is given, the CPU's figures are read from that file. Throws Error (input,
/// output).
void write_ladder_page(const std::string& path, const nlohmann::ordered_json& me, const std::string& cpu_path);

}  // namespace c63::bench
