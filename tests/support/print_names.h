#pragma once

#include <ostream>

#include "c63/settings.h"

namespace c63 {

// Print names for GoogleTest, which looks for these functions in the namespace of the types.
inline void PrintTo(SimdLevel level, std::ostream* out) { *out << name(level); }
inline void PrintTo(SearchMethod method, std::ostream* out) { *out << name(method); }

}  // namespace c63
