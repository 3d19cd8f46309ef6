#pragma once

#include <cstdint>
#include <optional>

namespace c63 {

/// What is known of an encode while it runs.
struct EncodeProgress {
  std::optional<std::int64_t> frames = {};  ///< of the whole video; nothing for live input
  std::int64_t finished = 0;                ///< frames that are encoded
  double elapsed_ms = 0;
  std::int64_t frame_blocks = 0;  ///< 8x8 blocks of a frame, all planes
  int chains = 1;                 ///< GOPs that are encoded at the same time
  int threads = 1;                ///< of the CPU
};

/// Returns how long the CPU still needs for the video, in ms, as well as can be told. Before enough frames are finished it is
/// the least that any CPU would need. Of input whose length is unknown, as much is taken to be left as was seen.
[[nodiscard]] double estimate_time_left(const EncodeProgress& progress);

}  // namespace c63
