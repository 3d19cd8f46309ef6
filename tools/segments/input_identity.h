#pragma once

#include <cstdint>
#include <string>

namespace c63::tools {

/// Identifies an input file without reading all of it.
struct InputIdentity {
  std::uint64_t bytes = 0;
  std::string sample_sha256;     ///< of 64 pieces of 4 KiB, evenly spread, including the first and the last bytes
  std::int64_t modified_ns = 0;  ///< time of the last change, in ns since 1970; copies of a file may differ
};

/// Returns true if two files hold the same video, as far as size and sample tell.
[[nodiscard]] bool same_content(const InputIdentity& a, const InputIdentity& b);

/// Throws Error (usage, C63-SEGMENT-INPUT) for a pipe or device, and Error (input) if reading fails.
[[nodiscard]] InputIdentity identify_input(const std::string& path);

}  // namespace c63::tools
