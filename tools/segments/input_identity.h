#pragma once

#include <cstdint>
#include <string>

namespace c63::tools {

/// What tells one input file from another without reading all of it.
struct InputIdentity {
  std::uint64_t bytes = 0;
  std::string sample_sha256;     ///< of 64 pieces of 4 KiB, evenly spread, the first and the last bytes among them
  std::int64_t modified_ns = 0;  ///< since 1970; copies may differ in it
};

/// Whether two files hold the same video, as far as samples tell.
[[nodiscard]] bool same_content(const InputIdentity& a, const InputIdentity& b);

/// Throws Error (usage, C63-SEGMENT-INPUT) for a pipe or device, and what reading throws.
[[nodiscard]] InputIdentity identify_input(const std::string& path);

}  // namespace c63::tools
