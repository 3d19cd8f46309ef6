#pragma once

#include <string>

namespace c63::tools {

/// Returns what --version prints.
[[nodiscard]] std::string version_text(const std::string& program);

}  // namespace c63::tools
