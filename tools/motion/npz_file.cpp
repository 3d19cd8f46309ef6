#include "motion/npz_file.h"

#include <fmt/format.h>
#include <zlib.h>

#include <memory>
#include <utility>

namespace c63::tools {
namespace {

// All sizes and offsets are in zip64 form, as numpy writes them, so a file may have any length.
constexpr std::uint32_t kLocalHeader = 0x04034b50;
constexpr std::uint32_t kDirectoryEntry = 0x02014b50;
constexpr std::uint32_t kDirectoryEnd = 0x06054b50;
constexpr std::uint32_t kLongDirectoryEnd = 0x06064b50;
constexpr std::uint32_t kLongDirectoryPlace = 0x07064b50;
constexpr std::uint16_t kVersion = 45;
constexpr std::uint16_t kLongFields = 1;         // id of the zip64 field
constexpr std::uint16_t kFirstDay = 1 << 5 | 1;  // 1 January 1980, so that equal content gives equal bytes
constexpr std::uint32_t kIsLong = 0xFFFFFFFF;    // says that the value is in the zip64 field

/// Appends a number, little-endian.
template <typename Value>
void put(std::string& text, Value value) {
  for (std::size_t i = 0; i < sizeof value; ++i)
    text += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i) & 255);
}

std::uint32_t crc_of(std::uint32_t crc, const void* bytes, std::size_t size) {
  return static_cast<std::uint32_t>(crc32_z(crc, static_cast<const unsigned char*>(bytes), size));
}

}  // namespace

struct NpzFile::Array {
  std::string name;
  std::string type;
  std::string row_shape;       ///< such as " 135, 240"
  std::uint64_t row_bytes = 0;
  std::unique_ptr<OutputFile> file = {};  ///< has the rows; is never committed
  std::string piece = {};                 ///< the bytes of rows that follow them
  std::uint64_t rows = 0;
  std::uint32_t crc = 0;

  /// Returns the header of the .npy file.
  [[nodiscard]] std::string header() const {
    std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({},{}), }}", type, rows, row_shape);
    constexpr std::size_t kPreamble = 10;
    constexpr std::size_t kAlignment = 64;
    text.resize((kPreamble + text.size() + 1 + kAlignment - 1) / kAlignment * kAlignment - kPreamble - 1, ' ');
    text += '\n';
    std::string header = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0};
    put(header, static_cast<std::uint16_t>(text.size()));
    return header + text;
  }
  void write_piece() {
    file->write(piece);
    piece.clear();
  }
};

// With `at_commit`, the file has a path even if the output is a pipe.
NpzFile::NpzFile(const std::string& path, Durability durability) : file_(path, {durability, true}) {}

NpzFile::~NpzFile() = default;

std::size_t NpzFile::add_array(const std::string& name, const std::string& type, const std::vector<int>& row_shape) {
  Array array{.name = name + ".npy", .type = type, .row_shape = {}, .row_bytes = std::stoull(type.substr(2))};
  for (const int side : row_shape) {
    array.row_shape += fmt::format("{}{}", array.row_shape.empty() ? " " : ", ", side);
    array.row_bytes *= static_cast<std::uint64_t>(side);
  }
  array.file = std::make_unique<OutputFile>(file_.part_path());
  arrays_.push_back(std::move(array));
  return arrays_.size() - 1;
}

void NpzFile::append(std::size_t array, std::span<const std::byte> row) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  Array& to = arrays_[array];
  to.crc = crc_of(to.crc, row.data(), row.size());
  ++to.rows;
  to.piece.append(reinterpret_cast<const char*>(row.data()), row.size());
  if (to.piece.size() >= kPiece) to.write_piece();
}

/// Writes an array, and appends its entry to the directory.
void NpzFile::write_member(Array& array, std::string& directory) {
  const std::uint64_t start = file_.bytes_written();
  const std::string header = array.header();
  const std::uint64_t row_bytes = array.rows * array.row_bytes;
  const std::uint64_t size = header.size() + row_bytes;
  const auto crc = static_cast<std::uint32_t>(
      crc32_combine(crc_of(0, header.data(), header.size()), array.crc, static_cast<z_off_t>(row_bytes)));
  const auto put_common = [&](std::string& text, std::uint16_t extra_bytes) {
    put(text, kVersion);
    put(text, std::uint16_t{0});  // flags
    put(text, std::uint16_t{0});  // not compressed
    put(text, std::uint16_t{0});  // midnight
    put(text, kFirstDay);
    put(text, crc);
    put(text, kIsLong);
    put(text, kIsLong);
    put(text, static_cast<std::uint16_t>(array.name.size()));
    put(text, extra_bytes);
  };
  const auto put_long = [&](std::string& text, std::uint16_t bytes) {
    put(text, kLongFields);
    put(text, bytes);
    put(text, size);
    put(text, size);
  };
  std::string local;
  put(local, kLocalHeader);
  put_common(local, 20);
  local += array.name;
  put_long(local, 16);
  file_.write(local + header);
  array.write_piece();
  file_.append_file(array.file->part_path(), row_bytes);
  array.file.reset();  // removes it

  put(directory, kDirectoryEntry);
  put(directory, kVersion);  // version that made it
  put_common(directory, 28);
  put(directory, std::uint16_t{0});  // comment
  put(directory, std::uint16_t{0});  // number of the disk
  put(directory, std::uint16_t{0});  // internal attributes
  put(directory, std::uint32_t{0});  // external attributes
  put(directory, kIsLong);
  directory += array.name;
  put_long(directory, 24);
  put(directory, start);
}

void NpzFile::commit() {
  write_archive();
  file_.commit();
}

std::string NpzFile::commit_part() {
  write_archive();
  return file_.commit_part();
}

void NpzFile::write_archive() {
  std::string directory;
  for (Array& array : arrays_) write_member(array, directory);
  file_.write(directory + end_of_directory(file_.bytes_written(), directory.size()));
}

/// Returns what follows the directory, which has `size` bytes and begins at `place`.
std::string NpzFile::end_of_directory(std::uint64_t place, std::uint64_t size) const {
  const auto count = static_cast<std::uint16_t>(arrays_.size());
  std::string end;
  put(end, kLongDirectoryEnd);
  put(end, std::uint64_t{44});  // number of bytes that follow
  put(end, kVersion);
  put(end, kVersion);
  put(end, std::uint64_t{0});  // numbers of disks
  put(end, std::uint64_t{count});
  put(end, std::uint64_t{count});
  put(end, size);
  put(end, place);
  put(end, kLongDirectoryPlace);
  put(end, std::uint32_t{0});
  put(end, place + size);
  put(end, std::uint32_t{1});
  put(end, kDirectoryEnd);
  put(end, std::uint32_t{0});
  put(end, count);
  put(end, count);
  put(end, static_cast<std::uint32_t>(size));
  put(end, kIsLong);
  put(end, std::uint16_t{0});
  return end;
}

}  // namespace c63::tools
