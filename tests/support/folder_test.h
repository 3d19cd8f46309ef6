#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "support/temporary_folder.h"

namespace c63::test {

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::ptrdiff_t lines_in(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

/// Tests that have a folder each.
class FolderTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return temporary_.file(name); }
  std::string write_file(const std::string& name, std::string_view content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }
  [[nodiscard]] std::ptrdiff_t files_in_folder() const {
    return std::distance(std::filesystem::directory_iterator(folder_), {});
  }

 private:
  TemporaryFolder temporary_;

 protected:
  std::filesystem::path folder_ = temporary_.file("");
};

}  // namespace c63::test
