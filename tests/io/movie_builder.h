#pragma once

#include <string>
#include <vector>

namespace c63::test {

/// A QuickTime file of raw RGB pictures of 16x16 as they are given, whole or not.
[[nodiscard]] std::string movie_of(const std::vector<std::string>& pictures);

/// One whose only picture lies in another file, `path` from the root.
[[nodiscard]] std::string movie_with_data_elsewhere(const std::string& path);

}  // namespace c63::test
