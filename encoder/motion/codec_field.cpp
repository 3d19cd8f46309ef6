#include "motion/codec_field.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace c63 {
namespace {

std::int16_t in_units(int motion, int scale) {
  const long units = std::lround(static_cast<double>(motion) * CodecField::kUnits / scale);
  return static_cast<std::int16_t>(std::clamp(units, -32767L, 32767L));
}

int whole_samples(std::int16_t units) {
  return static_cast<int>(std::lround(static_cast<double>(units) / CodecField::kUnits));
}

std::uint32_t sad_of(const ConstPlaneView& current, const ConstPlaneView& reference, int x, int y,
                     CodecField::Vector vector) {
  const int from_x = x + whole_samples(vector.x);
  const int from_y = y + whole_samples(vector.y);
  const bool inside = from_x >= 0 && from_y >= 0 && from_x + 8 <= reference.width && from_y + 8 <= reference.height;
  std::uint32_t sad = 0;
  for (int i = 0; i < 8; ++i) {
    const std::uint8_t* const a = current.row(y + i) + x;
    const std::uint8_t* const b = reference.row(std::clamp(from_y + i, 0, reference.height - 1));
    for (int j = 0; j < 8; ++j) {
      const int at = inside ? from_x + j : std::clamp(from_x + j, 0, reference.width - 1);
      sad += static_cast<std::uint32_t>(std::abs(a[j] - b[at]));
    }
  }
  return sad;
}

/// Calls `take` with the column, the row and the vector of each luma block, or only of every `step`-th one in each direction.
/// A block may come several times.
template <typename Take>
void for_each_block(std::span<const CodecVector> vectors, const ConstPlaneView& current, int step, const Take& take) {
  for (const CodecVector& v : vectors) {
    if (v.source >= 0) continue;
    const CodecField::Vector vector{in_units(v.motion_x, v.scale), in_units(v.motion_y, v.scale)};
    // The luma blocks whose middle sample (4, 4) lies in the codec's block.
    const auto first = [](int low) { return std::max(0, (low + 3) / 8); };
    const auto end = [](int high, int side) { return std::clamp((high + 3) / 8, 0, side / 8); };
    const int left = v.to_x - v.width / 2;
    const int top = v.to_y - v.height / 2;
    for (int row = first(top); row < end(top + v.height, current.height); ++row) {
      for (int column = first(left); column < end(left + v.width, current.width); ++column) {
        if (row % step == 0 && column % step == 0) take(column, row, vector);
      }
    }
  }
}

}  // namespace

std::array<float, 2> CodecField::in_samples(std::size_t block) const {
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  if (inter[block] == 0) return {kNone, kNone};
  return {static_cast<float>(vectors[block].x) / kUnits, static_cast<float>(vectors[block].y) / kUnits};
}

std::uint16_t CodecField::sad_or_none(std::size_t block) const {
  return inter[block] == 0 ? MotionResults::kNoSecond : static_cast<std::uint16_t>(sads[block]);
}

CodecField codec_field(std::span<const CodecVector> vectors, const ConstPlaneView& current,
                       const ConstPlaneView& reference) {
  const auto columns = static_cast<std::size_t>(current.width / 8);
  const std::size_t blocks = columns * static_cast<std::size_t>(current.height / 8);
  CodecField field{std::vector<CodecField::Vector>(blocks), std::vector<std::uint8_t>(blocks),
                   std::vector<std::uint32_t>(blocks)};
  for_each_block(vectors, current, 1, [&](int column, int row, CodecField::Vector vector) {
    const std::size_t block = static_cast<std::size_t>(row) * columns + static_cast<std::size_t>(column);
    field.vectors[block] = vector;
    field.inter[block] = 1;
  });
  for (std::size_t block = 0; block < blocks; ++block) {
    if (field.inter[block] == 0) continue;
    field.sads[block] = sad_of(current, reference, 8 * static_cast<int>(block % columns),
                               8 * static_cast<int>(block / columns), field.vectors[block]);
  }
  return field;
}

std::uint64_t codec_cost(std::span<const CodecVector> vectors, const ConstPlaneView& current,
                         const ConstPlaneView& reference) {
  constexpr int kLargeWidth = 640;
  std::uint64_t sum = 0;
  for_each_block(vectors, current, current.width > kLargeWidth ? 4 : 1,
                 [&](int column, int row, CodecField::Vector vector) {
                   sum += sad_of(current, reference, 8 * column, 8 * row, vector);
                 });
  return sum;
}

}  // namespace c63
