#pragma once

#include <ostream>

#include "c63/settings.h"

namespace c63 {

// GoogleTest prints values of these types with these functions. They must be in the namespace of the types.
inline void PrintTo(SimdLevel level, std::ostream* out) { *out << name(level); }
inline void PrintTo(SearchMethod method, std::ostream* out) { *out << name(method); }

}  // namespace c63
