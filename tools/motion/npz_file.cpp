#include "motion/npz_file.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <utility>

namespace c63::tools {
namespace {

// All sizes and offsets are in zip64 form, as numpy writes them, so a file may have any length.
constexpr std::uint32_t kLocalHeader = 0x04034b50;
constexpr std::uint32_t kDirectoryEntry = 0x02014b50;
constexpr std::uint32_t kDirectoryEnd = 0x06054b50;
constexpr std::uint32_t kLongDirectoryEnd = 0x06064b50;
constexpr std::uint32_t kLongDirectoryPlace = 0x07064b50;
constexpr std::uint64_t kLocalHeaderBytes = 30 + 20;  // with the zip64 field, without the name
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
  std::uint64_t start = 0;     ///< of the array's part of the archive
  std::uint64_t data = 0;      ///< where its rows begin
  std::uint64_t rows = 0;
  std::uint64_t written = 0;   ///< bytes of rows in the file
  std::string piece = {};      ///< the bytes of rows that follow them
  std::uint32_t crc = 0;

  /// Returns the header of a .npy file with this number of rows.
  [[nodiscard]] std::string header(std::uint64_t count) const {
    std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({},{}), }}", type, count, row_shape);
    constexpr std::size_t kPreamble = 10;
    constexpr std::size_t kAlignment = 64;
    text.resize((kPreamble + text.size() + 1 + kAlignment - 1) / kAlignment * kAlignment - kPreamble - 1, ' ');
    text += '\n';
    std::string header = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0};
    put(header, static_cast<std::uint16_t>(text.size()));
    return header + text;
  }
  /// Returns the size of a .npy file with this number of rows.
  [[nodiscard]] std::uint64_t size(std::uint64_t count) const { return header(count).size() + count * row_bytes; }
};

NpzFile::NpzFile(const std::string& path, const NpzOptions& options)
    : options_(options), file_(path, {options.durability, true}) {}

NpzFile::~NpzFile() = default;

std::size_t NpzFile::add_array(const std::string& name, const std::string& type, const std::vector<int>& row_shape) {
  Array array{.name = name + ".npy", .type = type, .row_shape = {}, .row_bytes = std::stoull(type.substr(2))};
  for (const int side : row_shape) {
    array.row_shape += fmt::format("{}{}", array.row_shape.empty() ? " " : ", ", side);
    array.row_bytes *= static_cast<std::uint64_t>(side);
  }
  arrays_.push_back(std::move(array));
  return arrays_.size() - 1;
}

void NpzFile::append(std::size_t array, std::span<const std::byte> row) {
  Array& to = arrays_[array];
  to.crc = crc_of(to.crc, row.data(), row.size());
  ++to.rows;
  to.piece.append(reinterpret_cast<const char*>(row.data()), row.size());
  if (to.piece.size() < options_.piece) return;
  make_room(to.rows);
  write_piece(to);
}

/// Gives each array the place that it has in an archive with this number of rows. Moves what was written.
void NpzFile::arrange(const std::function<std::uint64_t(const Array&)>& rows_of) {
  std::vector<std::uint64_t> places;  // of the arrays' rows
  std::uint64_t place = 0;
  for (Array& array : arrays_) {
    const std::uint64_t rows = rows_of(array);
    const std::uint64_t size = array.size(rows);
    const std::uint64_t local_header = kLocalHeaderBytes + array.name.size();
    array.start = place;
    places.push_back(place + local_header + array.header(rows).size());
    place += local_header + size;
  }
  const auto move = [&](std::size_t i) {
    file_.move(arrays_[i].data, places[i], arrays_[i].written);
    arrays_[i].data = places[i];
  };
  // No array may be overwritten before it has moved. All move in the same direction.
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    if (places[i] < arrays_[i].data) move(i);
  }
  for (std::size_t i = arrays_.size(); i-- > 0;) move(i);
}

/// Makes sure that each array has room for this number of rows.
void NpzFile::make_room(std::uint64_t rows) {
  if (rows <= room_) return;
  // A film's header may say any number. So it is believed only up to 16 times of what has come.
  const std::uint64_t expected = std::min(options_.expected_rows, 16 * rows);
  room_ = rows <= expected ? expected : 2 * rows;
  arrange([this](const Array&) { return room_; });
}

void NpzFile::write_piece(Array& array) {
  file_.go_to(array.data + array.written);
  file_.write(array.piece);
  array.written += array.piece.size();
  array.piece.clear();
}

/// Writes what is before an array's rows, and appends the array's entry to the directory.
void NpzFile::write_member(const Array& array, std::string& directory) {
  const std::string header = array.header(array.rows);
  const std::uint64_t size = array.size(array.rows);
  const auto crc = static_cast<std::uint32_t>(
      crc32_combine(crc_of(0, header.data(), header.size()), array.crc, static_cast<z_off_t>(array.rows * array.row_bytes)));
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
  file_.go_to(array.start);
  file_.write(local + header);

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
  put(directory, array.start);
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
  arrange([](const Array& array) { return array.rows; });
  std::uint64_t place = 0;
  std::string directory;
  for (Array& array : arrays_) {
    write_piece(array);
    write_member(array, directory);
    place = array.data + array.written;
  }
  const std::string end = directory + end_of_directory(place, directory.size());
  file_.go_to(place);
  file_.write(end);
  file_.cut(place + end.size());
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
