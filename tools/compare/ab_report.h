#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "compare/ab_result.h"

namespace c63::tools {

/// Returns the table and the verdicts as text for standard output.
[[nodiscard]] std::string ab_text(const AbResult& result);
/// Returns CSV with one row per point (AbPoint): one input, side and quantizer.
[[nodiscard]] std::string ab_csv(const AbResult& result);
/// Returns everything except the pictures as JSON, with settings and machine. Infinite and missing figures are null.
[[nodiscard]] nlohmann::ordered_json ab_json(const AbResult& result);

/// Returns true if this build contains Chart.js, which draws the plots.
[[nodiscard]] bool can_write_html();

/// Returns one self-contained page: plots, pictures, the table, and the CSV and JSON for download. It can be opened
/// from disk without a network. Throws Error (usage, C63-NO-CHARTS) if can_write_html() is false.
[[nodiscard]] std::string ab_html(const AbResult& result);

}  // namespace c63::tools
