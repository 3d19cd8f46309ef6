#include "motion/truth.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "c63/byte_count.h"
#include "c63/error.h"
#include "c63/film_motion.h"
#include "common/text.h"
#include "common/values.h"
#include "io/input_file.h"
#include "motion/motion_stream.h"

namespace c63::tools {
namespace {

constexpr std::uint64_t kBytesOfFrame = 128;  // for an empty list of entries in the map
constexpr std::string_view kHeader = "frame,x,y,mv_x,mv_y";

std::optional<std::array<std::string_view, 5>> split(std::string_view line) {
  std::array<std::string_view, 5> fields;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto comma = line.find(',');
    if ((comma == std::string_view::npos) != (i + 1 == fields.size())) return std::nullopt;
    fields[i] = line.substr(0, comma);
    if (comma != std::string_view::npos) line.remove_prefix(comma + 1);
  }
  return fields;
}

/// Reads a line without its newline. Returns false at the end.
bool read_line(InputFile& file, std::string& line) {
  constexpr std::size_t kPiece = 4096;
  line.clear();
  for (;;) {
    const auto piece = file.peek(file.seekable() ? kPiece : 1);  // a pipe may wait for the rest of a piece
    if (piece.empty()) return !line.empty();
    const auto end = std::ranges::find(piece, '\n');
    line.append(piece.begin(), end);
    const bool is_whole = end != piece.end();
    std::vector<std::uint8_t> taken(static_cast<std::size_t>(end - piece.begin()) + (is_whole ? 1 : 0));
    static_cast<void>(file.read(taken));
    if (is_whole) return true;
  }
}

}  // namespace

MotionTruth::MotionTruth(const std::string& path, std::uint64_t max_memory, std::stop_token stop) : path_(path) {
  const auto fail = [&](std::int64_t line, const std::string& what) {
    throw Error(ErrorKind::input, "C63-TRUTH", line > 0 ? fmt::format("line {}: {}", line, what) : what, {.file = path});
  };
  InputFile file(path, std::move(stop));
  std::string line;
  for (std::int64_t number = 1; read_line(file, line); ++number) {
    if (number == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);  // UTF-8's mark of byte order
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (number == 1) {
      if (line != kHeader) fail(1, fmt::format("not a file of true motion: it must begin with \"{}\"", kHeader));
      continue;
    }
    const auto fields = split(line);
    if (!fields) fail(number, "the line does not have five fields");
    const auto frame = parse<std::int64_t>((*fields)[0]);
    const auto x = parse<int>((*fields)[1]);
    const auto y = parse<int>((*fields)[2]);
    if (!frame || !x || !y) fail(number, "frame, x and y are not whole numbers");
    last_frame_ = std::max(last_frame_, *frame);
    if ((*fields)[3].empty() && (*fields)[4].empty()) continue;
    const auto mv_x = parse<double>((*fields)[3]);
    const auto mv_y = parse<double>((*fields)[4]);
    if (!mv_x || !mv_y || !std::isfinite(*mv_x) || !std::isfinite(*mv_y))
      fail(number, "the vector is not a pair of numbers");
    std::vector<Entry>& entries = frames_[*frame];
    // Each entry later gets an error, which is a float. While the median is computed, there is also a copy of the
    // error. The factor 2 is for vectors that double their memory when they grow.
    memory_ += 2 * (sizeof(Entry) + 2 * sizeof(float)) + (entries.empty() ? kBytesOfFrame : 0);
    if (memory_ > max_memory) {
      throw Error(ErrorKind::limit, "C63-MAX-MEMORY",
                  fmt::format("the true motion up to line {} takes {}; the limit is half of --max-memory, {}", number,
                              bytes_text(memory_), bytes_text(max_memory)),
                  {.file = path});
    }
    entries.push_back({*x, *y, *mv_x, *mv_y});
  }
  if (frames_.empty()) fail(0, fmt::format("the file has no vectors; it must begin with \"{}\"", kHeader));
}

void MotionTruth::check_length(std::int64_t frames, bool all) const {
  if (frames == frame_count() || (!all && frames < frame_count())) return;
  throw Error(ErrorKind::input, "C63-TRUTH",
              fmt::format("true motion of {}, the stream has {}{}", counted(frame_count(), "frame"),
                          all ? "" : "more: at least ", frames),
              {.file = path_});
}

std::vector<double> MotionTruth::endpoint_errors(std::int64_t frame, const FrameBlocks& blocks, const FilmFrame* film) const {
  std::vector<double> errors;
  const auto found = frames_.find(frame);
  if (found == frames_.end() || blocks.key || blocks.repeat) return errors;
  if (film == nullptr && !blocks_line_up(blocks.width)) {
    throw Error(
        ErrorKind::usage, "C63-MV-SHEARED",
        fmt::format("width {} is not a multiple of 16: the codec shears such pictures, so that coded vectors are not "
                    "those of the picture and cannot be compared with true ones",
                    blocks.width));
  }
  const PlaneBlocks& luma = blocks.planes[0];
  for (const Entry& entry : found->second) {
    if (entry.x < 0 || entry.y < 0 || entry.x / 8 >= luma.columns || entry.y / 8 >= luma.rows) continue;
    const auto block = static_cast<std::size_t>(entry.y / 8) * luma.columns + entry.x / 8;
    if (luma.inter[block] == 0) continue;
    const MotionVector whole = luma.vectors[block];
    const auto [x, y] = film != nullptr ? film->in_samples(block) : std::array<float, 2>{static_cast<float>(whole.x), static_cast<float>(whole.y)};
    errors.push_back(std::hypot(entry.mv_x - x, entry.mv_y - y));
  }
  return errors;
}

}  // namespace c63::tools
