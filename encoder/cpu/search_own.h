#pragma once

#include <array>
#include <memory>

#include "c63/settings.h"
#include "cpu/search_method.h"

namespace c63::cpu {

/// Returns a searcher for each plane of a GOP chain: by the settings' own search, if there is one, else by their method.
[[nodiscard]] std::array<std::unique_ptr<BlockSearcher>, kPlanes> make_plane_searchers(const CodingSettings& settings,
                                                                                      const Kernels& kernels,
                                                                                      const Geometry& geometry);

}  // namespace c63::cpu
