#include "filter/object_snr.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "c63/error.h"
#include "common/values.h"
#include "io/input_file.h"

namespace c63::tools {

std::map<std::int64_t, ObjectTruth> read_star_truth(const std::string& path) {
  InputFile file(path);
  std::vector<std::uint8_t> bytes(std::size_t{64} << 20);
  bytes.resize(file.read(bytes));
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto next_line = [&] {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return line;
  };
  constexpr std::string_view kHeader = "frame,shift_x,shift_y,object_x,object_y,object_peak";
  if (next_line() != kHeader) {
    throw Error(ErrorKind::input, "C63-TRUTH",
                "this is not a file from c63gen --pattern stars --truth: its first line is different", {.file = path});
  }
  std::map<std::int64_t, ObjectTruth> truth;
  for (int number = 2; !text.empty(); ++number) {
    std::string_view line = next_line();
    double values[6] = {};
    bool good = true;
    for (int k = 0; k < 6; ++k) {
      const std::size_t end = std::min(line.find(','), line.size());
      const auto value = parse<double>(line.substr(0, end), -1e9, 1e9);
      values[k] = value.value_or(0);
      good = good && value && (end < line.size()) == (k < 5);
      line.remove_prefix(std::min(end + 1, line.size()));
    }
    if (!good) {
      throw Error(ErrorKind::input, "C63-TRUTH", "line " + std::to_string(number) + " is not six numbers", {.file = path});
    }
    truth[std::llround(values[0])] = {values[3], values[4]};
  }
  return truth;
}

void ObjectSnr::add(BasicPlaneView<const float> picture, const ObjectTruth& object) {
  constexpr int kBorder = 8;
  const auto at_x = static_cast<int>(std::lround(object.x));
  const auto at_y = static_cast<int>(std::lround(object.y));
  if (at_x < kBorder || at_y < kBorder || at_x >= picture.width - kBorder || at_y >= picture.height - kBorder) return;
  const auto near = [&](int x, int y) { return std::abs(x - at_x) <= 6 && std::abs(y - at_y) <= 6; };
  double total = 0;
  double squares = 0;
  std::int64_t count = 0;
  for (int y = 0; y < picture.height; ++y) {
    for (int x = 0; x < picture.width; ++x) {
      if (near(x, y)) continue;
      const double value = picture.at(x, y);
      total += value;
      squares += value * value;
      ++count;
    }
  }
  const double mean = total / static_cast<double>(count);
  double object_mean = 0;
  for (int y = -1; y <= 1; ++y) {
    for (int x = -1; x <= 1; ++x) object_mean += picture.at(at_x + x, at_y + y) / 9;
  }
  signals_.push_back(object_mean - mean);
  noise_ += squares / static_cast<double>(count) - mean * mean;
}

std::optional<double> ObjectSnr::decibels() const {
  if (signals_.empty()) return std::nullopt;
  std::vector<double> sorted = signals_;
  std::ranges::sort(sorted);
  const double signal = sorted[sorted.size() / 2];
  if (signal <= 0) return std::nullopt;
  return 20 * std::log10(signal) - 10 * std::log10(noise_ / static_cast<double>(sorted.size()));
}

}  // namespace c63::tools
