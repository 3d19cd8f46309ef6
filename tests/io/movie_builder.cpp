#include "movie_builder.h"

#include <cstdint>

namespace c63::test {
namespace {

std::string big_endian(std::size_t value, int bytes) {
  std::string text;
  for (int i = bytes; i-- > 0;) text += static_cast<char>(value >> (8 * i));
  return text;
}

std::string zeros(std::size_t count) { return std::string(count, '\0'); }

std::string atom(const std::string& type, const std::string& content) {
  return big_endian(8 + content.size(), 4) + type + content;
}

/// Returns a length byte and `text`, filled with zeros to 1 + `room` bytes.
std::string counted(const std::string& text, std::size_t room) {
  std::string field(1, static_cast<char>(text.size()));
  field += text;
  field.resize(1 + room);
  return field;
}

std::string matrix_of(const std::array<int, 4>& m) {
  const auto fixed = [](int value) { return big_endian(static_cast<std::uint32_t>(value) << 16, 4); };
  if (m == std::array<int, 4>{}) return zeros(36);
  return fixed(m[0]) + fixed(m[1]) + zeros(4) + fixed(m[2]) + fixed(m[3]) + zeros(12) + big_endian(1U << 30, 4);
}

std::string file_of(const std::vector<std::size_t>& sizes, std::size_t offset, const std::string& reference,
                    const MovieShow& show = {}) {
  const std::string one = big_endian(1, 4);
  std::string entry = zeros(6) + big_endian(1, 2) + zeros(16) + big_endian(16, 2) + big_endian(16, 2);
  entry += big_endian(72 << 16, 4) + big_endian(72 << 16, 4) + zeros(4) + big_endian(1, 2) + zeros(32);
  entry += big_endian(24, 2) + big_endian(0xFFFF, 2);
  const std::string count = big_endian(sizes.size(), 4);
  std::string all_sizes;
  for (const std::size_t size : sizes) all_sizes += big_endian(size, 4);
  std::string times = zeros(4) + one + count + one;
  if (!show.durations.empty()) times = zeros(4) + count;
  for (const int duration : show.durations) times += one + big_endian(static_cast<std::size_t>(duration), 4);
  const std::string table = atom("stsd", zeros(4) + one + atom("raw ", entry)) +
                            atom("stts", times) +
                            atom("stsc", zeros(4) + one + one + count + one) +
                            atom("stsz", zeros(8) + count + all_sizes) + atom("stco", zeros(4) + one + big_endian(offset, 4));
  const std::string references = zeros(4) + one + reference;
  const std::string media =
      atom("mdhd", zeros(12) + big_endian(25, 4) + count + zeros(4)) + atom("hdlr", zeros(4) + "mhlrvide" + zeros(13)) +
      atom("minf", atom("vmhd", zeros(12)) + atom("dinf", atom("dref", references)) + atom("stbl", table));
  const std::string header = zeros(12) + big_endian(25, 4) + count + zeros(16) + matrix_of({1, 0, 0, 1}) + zeros(28);
  const std::string track = zeros(12) + one + zeros(24) + matrix_of(show.matrix) + big_endian(16 << 16, 4) + big_endian(16 << 16, 4);
  return atom("moov", atom("mvhd", header) + atom("trak", atom("tkhd", track) + atom("mdia", media)));
}

}  // namespace

std::string movie_of(const std::vector<std::string>& pictures, const MovieShow& show) {
  std::string data;
  std::vector<std::size_t> sizes;
  for (const std::string& picture : pictures) {
    data += picture;
    sizes.push_back(picture.size());
  }
  const std::string type = atom("ftyp", "qt  " + zeros(4) + "qt  ");
  const std::string here = atom("url ", zeros(3) + '\1');
  return type + atom("mdat", data) + file_of(sizes, type.size() + 8, here, show);
}

std::string movie_with_data_elsewhere(const std::string& path) {
  std::string alias = zeros(14) + counted("disk", 27) + zeros(12) + counted("other.bin", 63) + zeros(16);
  alias += big_endian(1, 2) + big_endian(1, 2) + zeros(16);  // levels: from, to
  alias += big_endian(2, 2) + big_endian(path.size(), 2) + path + zeros(path.size() % 2);
  alias += big_endian(0xFFFF, 2) + zeros(2);
  return atom("ftyp", "qt  " + zeros(4) + "qt  ") + file_of({16 * 16 * 3}, 0, atom("alis", alias));
}

}  // namespace c63::test
