#include "motion/npz_file.h"

#include <fmt/format.h>
#include <zlib.h>

#include <filesystem>
#include <system_error>
#include <utility>

namespace c63::tools {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;
constexpr std::uint32_t kLocalHeader = 0x04034b50;
constexpr std::uint32_t kDirectoryEntry = 0x02014b50;
constexpr std::uint32_t kDirectoryEnd = 0x06054b50;
constexpr std::uint32_t kLongDirectoryEnd = 0x06064b50;
constexpr std::uint32_t kLongDirectoryPlace = 0x07064b50;
constexpr std::uint16_t kVersion = 20;
constexpr std::uint16_t kLongVersion = 45;
constexpr std::uint16_t kLongFields = 1;         // id of the extra field for zip64
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
  std::vector<int> row_shape;
  std::string path;
  std::unique_ptr<OutputFile> file = nullptr;
  std::string piece = {};  ///< bytes not yet written
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;
  std::uint32_t crc = 0;

  void write_piece() {
    file->write(piece);
    piece.clear();
  }

  /// Returns the header of a .npy file.
  [[nodiscard]] std::string header() const {
    std::string shape = fmt::format("({},", rows);
    for (std::size_t i = 0; i < row_shape.size(); ++i) shape += fmt::format("{}{}", i == 0 ? " " : ", ", row_shape[i]);
    std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}), }}", type, shape);
    constexpr std::size_t kPreamble = 10;
    constexpr std::size_t kAlignment = 64;
    text.resize((kPreamble + text.size() + 1 + kAlignment - 1) / kAlignment * kAlignment - kPreamble - 1, ' ');
    text += '\n';
    std::string header = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0};
    put(header, static_cast<std::uint16_t>(text.size()));
    return header + text;
  }
};

NpzFile::NpzFile(const std::string& path, Durability durability, std::uint64_t long_form)
    : file_(path, durability), long_form_(long_form) {
  const std::string folder =
      file_.direct() ? std::string() : std::filesystem::path(file_.part_path()).parent_path().string();
  scratch_ = std::make_unique<ScratchFolder>(folder.empty() && !file_.direct() ? "." : folder, "c63mv-arrays");
}

NpzFile::~NpzFile() = default;

std::size_t NpzFile::add_array(const std::string& name, const std::string& type, std::vector<int> row_shape) {
  Array array{.name = name + ".npy", .type = type, .row_shape = std::move(row_shape), .path = scratch_->file(name)};
  array.file = std::make_unique<OutputFile>(array.path);
  arrays_.push_back(std::move(array));
  return arrays_.size() - 1;
}

void NpzFile::append(std::size_t array, std::span<const std::byte> row) {
  Array& to = arrays_[array];
  to.crc = crc_of(to.crc, row.data(), row.size());
  to.bytes += row.size();
  ++to.rows;
  to.piece.append(reinterpret_cast<const char*>(row.data()), row.size());
  if (to.piece.size() >= kPiece) to.write_piece();
}

void NpzFile::write_member(const Array& array, std::string& directory) {
  const std::string header = array.header();
  const std::uint64_t size = header.size() + array.bytes;
  const std::uint64_t place = file_.bytes_written();
  const std::uint32_t header_crc = crc_of(0, header.data(), header.size());
  const auto crc = static_cast<std::uint32_t>(crc32_combine(header_crc, array.crc, static_cast<z_off_t>(array.bytes)));
  const bool is_long = size >= long_form_;
  const bool is_far = place >= long_form_;
  const auto short_size = is_long ? kIsLong : static_cast<std::uint32_t>(size);

  const auto put_common = [&](std::string& text, bool has_long_fields, std::uint16_t extra_bytes) {
    put(text, has_long_fields ? kLongVersion : kVersion);
    put(text, std::uint16_t{0});  // flags
    put(text, std::uint16_t{0});  // not compressed
    put(text, std::uint16_t{0});  // midnight
    put(text, kFirstDay);
    put(text, crc);
    put(text, short_size);
    put(text, short_size);
    put(text, static_cast<std::uint16_t>(array.name.size()));
    put(text, extra_bytes);
  };
  std::string local;
  put(local, kLocalHeader);
  put_common(local, is_long, is_long ? 20 : 0);
  local += array.name;
  if (is_long) {
    put(local, kLongFields);
    put(local, std::uint16_t{16});
    put(local, size);
    put(local, size);
  }
  file_.write(local);
  file_.write(header);
  if (array.bytes > 0) file_.append_file(array.path, array.bytes);

  const int long_values = (is_long ? 2 : 0) + (is_far ? 1 : 0);
  put(directory, kDirectoryEntry);
  put(directory, long_values > 0 ? kLongVersion : kVersion);  // version that made it
  put_common(directory, long_values > 0, static_cast<std::uint16_t>(long_values > 0 ? 4 + 8 * long_values : 0));
  put(directory, std::uint16_t{0});  // comment
  put(directory, std::uint16_t{0});  // number of the disk
  put(directory, std::uint16_t{0});  // internal attributes
  put(directory, std::uint32_t{0});  // external attributes
  put(directory, is_far ? kIsLong : static_cast<std::uint32_t>(place));
  directory += array.name;
  if (long_values == 0) return;
  put(directory, kLongFields);
  put(directory, static_cast<std::uint16_t>(8 * long_values));
  if (is_long) {
    put(directory, size);
    put(directory, size);
  }
  if (is_far) put(directory, place);
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
  for (Array& array : arrays_) {
    array.write_piece();
    array.file->commit();
    write_member(array, directory);
    std::error_code ignored;
    std::filesystem::remove(array.path, ignored);  // at once, so that the disk never holds all arrays twice
  }
  const std::uint64_t place = file_.bytes_written();
  const bool is_far = place >= long_form_;
  const auto count = static_cast<std::uint16_t>(arrays_.size());
  std::string end = directory;
  if (is_far) {
    const std::uint64_t long_end = place + directory.size();
    put(end, kLongDirectoryEnd);
    put(end, std::uint64_t{44});  // number of bytes that follow
    put(end, kLongVersion);
    put(end, kLongVersion);
    put(end, std::uint32_t{0});
    put(end, std::uint32_t{0});
    put(end, std::uint64_t{count});
    put(end, std::uint64_t{count});
    put(end, static_cast<std::uint64_t>(directory.size()));
    put(end, place);
    put(end, kLongDirectoryPlace);
    put(end, std::uint32_t{0});
    put(end, long_end);
    put(end, std::uint32_t{1});
  }
  put(end, kDirectoryEnd);
  put(end, std::uint16_t{0});
  put(end, std::uint16_t{0});
  put(end, count);
  put(end, count);
  put(end, static_cast<std::uint32_t>(directory.size()));
  put(end, is_far ? kIsLong : static_cast<std::uint32_t>(place));
  put(end, std::uint16_t{0});
  file_.write(end);
}

}  // namespace c63::tools
