#pragma once

#include <array>
#include <string>
#include <vector>

namespace c63::test {

/// How long each picture of a movie is to be shown, and how it is to be turned.
struct MovieShow {
  std::vector<int> durations = {};  ///< duration of each picture in 25ths of a second; empty: one each
  std::array<int, 4> matrix = {};   ///< a, b, c, d of its display matrix; zeros: no matrix
};

/// Returns a QuickTime file of raw RGB pictures of 16x16. A picture may have fewer bytes than this size needs.
[[nodiscard]] std::string movie_of(const std::vector<std::string>& pictures, const MovieShow& show = {});

/// Returns a movie whose only picture is in another file. `path` is that file's absolute path.
[[nodiscard]] std::string movie_with_data_elsewhere(const std::string& path);

}  // namespace c63::test
