#include "decode/decode_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "c63/decoder.h"
#include "common/command_line.h"
#include "io/input_file.h"
#include "files/output_file.h"

namespace c63::tools {
namespace {

constexpr std::size_t kTextPiece = 64 << 10;  ///< bytes of text that are written together

std::string_view kind_of(const FrameEntry& entry) {
  if (entry.repeat) return "repeat";
  if (entry.key) return "key";
  return entry.advances_reference ? "inter" : "replacing";
}

void print_list(SeekableDecoder& decoder, const DecodeOptions& options) {
  std::string text = fmt::format("{:>8} {:>12} {:>9} {:<9} {}\n", "frame", "offset", "bytes", "kind", "tables");
  const std::int64_t first = options.decoder.first_frame;
  std::int64_t left = options.max_frames > 0 ? options.max_frames : decoder.frame_count();
  for (std::int64_t i = first; i < decoder.frame_count() && left > 0; ++i) {
    const FrameEntry& entry = decoder.entry(i);
    if (options.decoder.key_frames_only && !entry.key) continue;
    --left;
    fmt::format_to(std::back_inserter(text), "{:>8} {:>12} {:>9} {:<9} {}\n", i, entry.offset, entry.bytes,
                   kind_of(entry), entry.tables);
    if (text.size() < kTextPiece) continue;
    write_stdout(text);
    text.clear();
  }
  write_stdout(text);
}

void write_index(SeekableDecoder& decoder, const DecodeOptions& options) {
  OutputFile file(options.index, options.durability);
  const std::int64_t frames = decoder.frame_count();
  const std::string rate = options.rate ? fmt::format("\"rate_numerator\": {}, \"rate_denominator\": {}",
                                                      options.rate->numerator, options.rate->denominator)
                                        : "\"rate_numerator\": null, \"rate_denominator\": null";
  std::string text =
      fmt::format("{{\"width\": {}, \"height\": {}, {},\n \"frames\": [", decoder.width(), decoder.height(), rate);
  std::uint32_t tables = 0;
  for (std::int64_t i = 0; i < frames; ++i) {
    const FrameEntry& entry = decoder.entry(i);
    tables = std::max(tables, entry.tables + 1);
    fmt::format_to(std::back_inserter(text), "{}{{\"offset\": {}, \"bytes\": {}, \"kind\": \"{}\", \"tables\": {}}}",
                   i == 0 ? "\n  " : ",\n  ", entry.offset, entry.bytes, kind_of(entry), entry.tables);
    if (text.size() < kTextPiece) continue;
    file.write(text);
    text.clear();
  }
  text += "],\n \"tables\": [";
  for (std::uint32_t i = 0; i < tables; ++i) {
    const auto& [y, u, v] = decoder.tables(i);
    fmt::format_to(std::back_inserter(text), "{}[[{}], [{}], [{}]]", i == 0 ? "\n  " : ",\n  ", fmt::join(y, ", "),
                   fmt::join(u, ", "), fmt::join(v, ", "));
  }
  file.write(text + "]}\n");
  file.commit();
}

}  // namespace

void list_frames(const DecodeOptions& options, const ErrorPlace& place) {
  try {
    SeekableDecoder decoder(open_byte_source(options.input), options.decoder);
    if (options.list) print_list(decoder, options);
    if (!options.index.empty()) write_index(decoder, options);
    if (decoder.fault()) throw Error(*decoder.fault());
  } catch (const Error& error) {
    throw error.kind() == ErrorKind::input ? error.at(place) : error;
  }
}

}  // namespace c63::tools
