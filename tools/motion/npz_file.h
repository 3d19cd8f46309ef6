#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/output_file.h"
#include "io/scratch_folder.h"

namespace c63::tools {

/// A file of numpy's arrays (.npz: a zip archive of .npy files, not compressed) whose first dimension grows while it is
/// written. Each array lies in a file of its own until commit(), so that its length takes no memory.
class NpzFile {
 public:
  /// From that size on, sizes and places are written in the long form (zip64).
  static constexpr std::uint64_t kLongForm = 0xFFFFFFFF;

  explicit NpzFile(const std::string& path, Durability durability = Durability::process,
                   std::uint64_t long_form = kLongForm);
  ~NpzFile();

  /// Adds an array of rows of that shape; `type` is numpy's name of its elements, such as "<u2". Returns its number.
  [[nodiscard]] std::size_t add_array(const std::string& name, const std::string& type, std::vector<int> row_shape);
  /// Appends a whole row.
  void append(std::size_t array, std::span<const std::byte> row);
  void commit();
  /// See OutputFile::commit_part().
  [[nodiscard]] std::string commit_part();

 private:
  struct Array;
  void write_archive();
  void write_member(const Array& array, std::string& directory);

  OutputFile file_;
  std::string folder_;
  std::uint64_t long_form_;
  std::unique_ptr<ScratchFolder> scratch_;
  std::vector<Array> arrays_;
};

}  // namespace c63::tools
