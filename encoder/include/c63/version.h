#pragma once

#include <string>

namespace c63 {

/// "1.0.0"
[[nodiscard]] std::string version();
/// Git revision the library was built from, "unknown" outside a checkout; "+" after it for changed files.
[[nodiscard]] std::string revision();
/// The compiler's name and version.
[[nodiscard]] std::string compiler();

}  // namespace c63
