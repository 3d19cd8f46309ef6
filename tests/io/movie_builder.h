#pragma once

#include <array>
#include <string>
#include <vector>

namespace c63::test {

/// How a movie is to be shown.
struct MovieShow {
  std::vector<int> durations = {};                    ///< of each picture in 25ths of a second; none: one
  std::array<int, 4> matrix = {};  ///< a, b, c, d of its display matrix; zeros: none
};

/// A QuickTime file of raw RGB pictures of 16x16 as they are given, whole or not.
[[nodiscard]] std::string movie_of(const std::vector<std::string>& pictures, const MovieShow& show = {});

/// One whose only picture lies in another file, `path` from the root.
[[nodiscard]] std::string movie_with_data_elsewhere(const std::string& path);

}  // namespace c63::test
