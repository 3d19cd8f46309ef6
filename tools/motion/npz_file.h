#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "files/output_file.h"

namespace c63::tools {

/// A file of numpy arrays (.npz: an uncompressed zip archive of .npy files). The first dimension of each array grows
/// while rows are appended. Memory does not grow with it: until commit(), each array has a file of its own next to the
/// output.
class NpzFile {
 public:
  explicit NpzFile(const std::string& path, Durability durability = Durability::process);
  ~NpzFile();

  /// Adds an array whose rows have this shape. `type` is numpy's name of the elements, such as "<u2". Returns the
  /// array's number.
  [[nodiscard]] std::size_t add_array(const std::string& name, const std::string& type, const std::vector<int>& row_shape);
  /// Appends one row to an array.
  void append(std::size_t array, std::span<const std::byte> row);
  void commit();
  /// See OutputFile::commit_part().
  [[nodiscard]] std::string commit_part();

 private:
  struct Array;
  void write_archive();
  void write_member(Array& array, std::string& directory);
  [[nodiscard]] std::string end_of_directory(std::uint64_t place, std::uint64_t size) const;

  OutputFile file_;
  std::vector<Array> arrays_;
};

}  // namespace c63::tools
