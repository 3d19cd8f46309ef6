#pragma once

#include <array>
#include <memory>

#include "c63/settings.h"
#include "cpu/search_method.h"

namespace c63::cpu {

/// Returns a searcher for each plane of a GOP chain. It runs the user's own search if the settings have one, otherwise
/// the settings' search method.
[[nodiscard]] std::array<std::unique_ptr<BlockSearcher>, kPlanes> make_plane_searchers(const CodingSettings& settings,
                                                                                      const Kernels& kernels,
                                                                                      const Geometry& geometry);

}  // namespace c63::cpu
