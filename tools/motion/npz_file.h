#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "files/output_file.h"

namespace c63::tools {

/// How an NpzFile is written.
struct NpzOptions {
  Durability durability = Durability::process;
  std::uint64_t expected_rows = 0;         ///< of each array; 0: unknown
  std::size_t piece = std::size_t{1} << 20;  ///< bytes of an array that are written together
};

/// A file of numpy arrays (.npz: an uncompressed zip archive of .npy files). The first dimension of each array grows
/// while rows are appended. Memory does not grow with it. Rows are written to their final places if the number of rows
/// is as expected. Otherwise arrays are moved when the number is known.
class NpzFile {
 public:
  explicit NpzFile(const std::string& path, const NpzOptions& options = {});
  ~NpzFile();

  /// Adds an array whose rows have this shape. `type` is numpy's name of the elements, such as "<u2". Returns the
  /// array's number. Call it before the first append().
  [[nodiscard]] std::size_t add_array(const std::string& name, const std::string& type, const std::vector<int>& row_shape);
  /// Appends one row to an array.
  void append(std::size_t array, std::span<const std::byte> row);
  void commit();
  /// See OutputFile::commit_part().
  [[nodiscard]] std::string commit_part();

 private:
  struct Array;
  void arrange(const std::function<std::uint64_t(const Array&)>& rows_of);
  void make_room(std::uint64_t rows);
  void write_piece(Array& array);
  void write_archive();
  void write_member(const Array& array, std::string& directory);
  [[nodiscard]] std::string end_of_directory(std::uint64_t place, std::uint64_t size) const;

  NpzOptions options_;
  OutputFile file_;
  std::vector<Array> arrays_;
  std::uint64_t room_ = 0;  ///< number of rows for which each array has room in the file
};

}  // namespace c63::tools
