#include "c63/version.h"

namespace c63 {

std::string version() { return C63_VERSION; }

std::string revision() { return C63_REVISION; }

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#elif defined(__GNUC__)
  return "g++ " __VERSION__;
#else
  return "unknown compiler";
#endif
}

}  // namespace c63
