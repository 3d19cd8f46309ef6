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

/// A file of numpy arrays (.npz: an uncompressed zip archive of .npy files). The first dimension of each array grows
/// while rows are appended. Until commit(), each array is kept in its own file, so memory does not grow with its
/// length.
class NpzFile {
 public:
  /// Sizes and offsets from this value on are written in zip64 form.
  static constexpr std::uint64_t kLongForm = 0xFFFFFFFF;

  explicit NpzFile(const std::string& path, Durability durability = Durability::process,
                   std::uint64_t long_form = kLongForm);
  ~NpzFile();

  /// Adds an array whose rows have this shape. `type` is numpy's name of the elements, such as "<u2". Returns the
  /// array's number.
  [[nodiscard]] std::size_t add_array(const std::string& name, const std::string& type, std::vector<int> row_shape);
  /// Appends one row to an array.
  void append(std::size_t array, std::span<const std::byte> row);
  void commit();
  /// See OutputFile::commit_part().
  [[nodiscard]] std::string commit_part();

 private:
  struct Array;
  void write_archive();
  void write_member(const Array& array, std::string& directory);

  OutputFile file_;
  std::uint64_t long_form_;
  std::unique_ptr<ScratchFolder> scratch_;
  std::vector<Array> arrays_;
};

}  // namespace c63::tools
