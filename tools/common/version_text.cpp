#include "common/version_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "c63/settings.h"
#include "c63/version.h"

namespace c63::tools {

std::string version_text(const std::string& program) {
  std::vector<std::string> levels;
  for (const SimdLevel level : available_simd_levels()) levels.emplace_back(name(level));
  return fmt::format("{} {}\nrevision {}\ncompiler {}\nCUDA {}\nSIMD {} (of {})\nFFmpeg {}", program, version(),
                     revision(), compiler(), C63_CUDA_DESCRIPTION, levels.back(), fmt::join(levels, ", "),
                     C63_FFMPEG_DESCRIPTION);
}

}  // namespace c63::tools
