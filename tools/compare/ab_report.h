#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "compare/ab_result.h"

namespace c63::tools {

/// The table and the verdicts on standard output.
[[nodiscard]] std::string ab_text(const AbResult& result);
/// A row per point.
[[nodiscard]] std::string ab_csv(const AbResult& result);
/// Everything except the pictures, with settings and machine. Infinite and missing figures are null.
[[nodiscard]] nlohmann::ordered_json ab_json(const AbResult& result);

/// Returns true if this build has Chart.js, which draws the plots.
[[nodiscard]] bool can_write_html();

/// Returns one self-contained page: plots, pictures, table, and the CSV and JSON to download. It opens from disk
/// without a network. Throws Error (usage, C63-NO-CHARTS) if can_write_html() is false.
[[nodiscard]] std::string ab_html(const AbResult& result);

}  // namespace c63::tools
