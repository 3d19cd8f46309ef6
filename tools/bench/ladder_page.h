#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace c63::bench {

/// A self-contained page of the motion kernels of a GPU: a ladder of their times and the roofline they lie under.
/// `me` are figures of c63bench me, or a result of tools/gpu_check that holds them; `cpu` are those of c63bench cpu or
/// tools/checks/cpu_check, and may be null. Throws Error (input, C63-BENCH-FILE) for other JSON.
[[nodiscard]] std::string ladder_page(const nlohmann::ordered_json& me, const nlohmann::ordered_json& cpu);

/// Reads a file of figures. Throws Error (input).
[[nodiscard]] nlohmann::ordered_json read_figures(const std::string& path);

/// Writes the page of `me`; with a name, the CPU's figures are read from there. Throws Error (input, output).
void write_ladder_page(const std::string& path, const nlohmann::ordered_json& me, const std::string& cpu_path);

}  // namespace c63::bench
