#pragma once

#include <cstdint>
#include <string>

#include "c63/error.h"

namespace c63 {

/// Throws Error (limit, C63-MAX-MEMORY) if a file of `bytes` bytes and the `values` numbers in it need more than
/// `max_bytes` together.
inline void check_signal_memory(std::uint64_t bytes, std::uint64_t values, std::uint64_t max_bytes, const std::string& file) {
  const std::uint64_t all = bytes + values * sizeof(double);
  if (all <= max_bytes) return;
  throw Error(ErrorKind::limit, "C63-MAX-MEMORY",
              "the signal takes " + std::to_string(all) + " bytes; the limit is " + std::to_string(max_bytes),
              {.file = file});
}

}  // namespace c63
