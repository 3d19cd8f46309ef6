#include "decode/picture_files.h"

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "c63/error.h"
#include "c63/picture.h"
#include "common/outputs.h"
#include "io/text.h"
#include "pictures/picture_file.h"

namespace c63::tools {
namespace {

constexpr int kMostDigits = 20;

/// Reads the rest of a number format such as %d or %04d. `at` is the position after the %. Returns the number of digits
/// (0 for %d) and the position after the format. Returns nothing for anything else.
std::optional<std::pair<int, std::size_t>> digits_at(const std::string& pattern, std::size_t at) {
  int digits = 0;
  std::size_t end = at;
  for (; end < pattern.size() && pattern[end] >= '0' && pattern[end] <= '9' && digits <= kMostDigits; ++end) {
    digits = digits * 10 + (pattern[end] - '0');
  }
  if (end >= pattern.size() || pattern[end] != 'd' || digits > kMostDigits) return std::nullopt;
  return std::pair(digits, end + 1);
}

/// Returns the name of the picture with this number, and how many number formats such as %d the pattern has. Returns
/// nothing if the pattern has another %.
std::optional<std::pair<std::string, int>> filled(const std::string& pattern, std::int64_t number) {
  std::string name;
  int places = 0;
  for (std::size_t i = 0; i < pattern.size();) {
    if (pattern[i] != '%') {
      name += pattern[i++];
    } else if (i + 1 < pattern.size() && pattern[i + 1] == '%') {
      name += '%';
      i += 2;
    } else {
      const auto place = digits_at(pattern, i + 1);
      if (!place) return std::nullopt;
      name += fmt::format("{:0{}}", number, place->first);
      i = place->second;
      ++places;
    }
  }
  return std::pair(std::move(name), places);
}

}  // namespace

bool names_pictures(const std::string& output) {
  const std::string extension = extension_of(output);
  return extension == "png" || extension == "ppm";
}

PictureFiles::PictureFiles(std::string pattern, std::string input, bool single, Durability durability, std::uint64_t max_memory)
    : pattern_(std::move(pattern)), input_(std::move(input)), durability_(durability), max_memory_(max_memory) {
  const auto first = filled(pattern_, 0);
  if (!first || first->second > 1) {
    throw Error(ErrorKind::usage, "C63-OUTPUT-NAME",
                "a name for pictures must have one place for the frame number, as in out_%04d.png (%% stands for %)",
                {.file = pattern_});
  }
  if (first->second == 0 && !single) {
    throw Error(ErrorKind::usage, "C63-OUTPUT-NAME",
                "this name is for one picture: write one frame (-f 1), or number the files as in out_%04d.png",
                {.file = pattern_});
  }
  check_picture_name(pattern_);
}

std::string PictureFiles::name_of(std::int64_t index) const { return filled(pattern_, index)->first; }

void PictureFiles::write(std::int64_t index, int width, int height,
                         const std::array<std::span<const std::uint8_t>, 3>& planes) {
  const std::uint64_t samples = frame_bytes(width, height);
  const std::uint64_t bytes = 3 * samples + memory_to_save(pattern_, 2 * samples);
  if (bytes > max_memory_) {
    throw Error(
        ErrorKind::limit, "C63-MAX-MEMORY",
        fmt::format("writing a picture takes {} bytes; the limit is a quarter of --max-memory, {}", bytes, max_memory_),
        {.frame = index});
  }
  std::vector<std::uint8_t> frame;
  frame.reserve(samples);
  for (const auto& plane : planes) frame.insert(frame.end(), plane.begin(), plane.end());
  const std::string name = name_of(index);
  check_distinct_files({{"the input", input_}}, {{"the picture", name}});
  save_picture(name, to_image(frame, width, height), durability_);
}

}  // namespace c63::tools
