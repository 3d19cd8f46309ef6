#pragma once

#include <string>

namespace c63 {

/// The version of the library, for example "1.0.0".
[[nodiscard]] std::string version();
/// The Git revision that the library was built from; "unknown" outside a checkout. A "+" at its end means that files
/// were changed.
[[nodiscard]] std::string revision();
/// The compiler's name and version.
[[nodiscard]] std::string compiler();

}  // namespace c63
