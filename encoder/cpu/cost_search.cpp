#include "cpu/cost_search.h"

#include <algorithm>

#include "codec/search_window.h"

namespace c63::cpu {
namespace {

constexpr std::size_t kMaxStarts = 4;

Position candidate_at(const SearchWindow& window, int x, int y) {
  return {std::clamp(x, window.left, window.right - 1), std::clamp(y, window.top, window.bottom - 1)};
}

}  // namespace

CostSearch::CostSearch(const Kernels& kernels, const PlaneGeometry& geometry, int rows_per_mcu, int range)
    : kernels_(kernels),
      geometry_(geometry),
      rows_per_mcu_(rows_per_mcu),
      range_(range),
      costs_(VectorCosts(sad_per_bit_), range),
      sums_(geometry.samples() + 4 * kPlaneGuard),
      found_(static_cast<std::size_t>(geometry.blocks()) * kMaxFoundVectors),
      chosen_(static_cast<std::size_t>(geometry.blocks())) {}

void CostSearch::begin(ConstPlaneView current, ConstPlaneView reference, const RateDecisions& rate) {
  current_ = current;
  reference_ = reference;
  if (sad_per_bit_ != rate.sad_per_bit) costs_ = CostTable(VectorCosts(rate.sad_per_bit), range_);
  sad_per_bit_ = rate.sad_per_bit;
  count_ = std::max(1, rate.found_vectors);
}

void CostSearch::prepare_rows(int first, int end) {
  for (int y = first; y < std::min(end, geometry_.height - 3); ++y) {
    std::uint8_t* const row = sums_.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(geometry_.width);
    std::array<std::uint16_t, 256> sums;
    const int count = geometry_.width - 3;
    for (int x = 0; x < count; x += static_cast<int>(sums.size())) {
      const int some = std::min(static_cast<int>(sums.size()), count - x);
      kernels_.sums_of_row(reference_.row(y) + x, reference_.pitch, some, sums.data());
      for (int i = 0; i < some; ++i) row[x + i] = quarter_sum(sums[static_cast<std::size_t>(i)]);
    }
  }
}

CostSearch::Found CostSearch::search(int column, int row) {
  const int x = column * kBlockSize;
  const int y = row * kBlockSize;
  const int block = row * geometry_.columns + column;
  const SearchWindow window = whole_search_window(column, row, geometry_.width, geometry_.height, range_);
  CostedSearch search;
  search.current = &current_.at(x, y);
  search.current_pitch = current_.pitch;
  search.reference = reference_;
  search.window = window;
  search.costs = costs_.costs(window.left - x, window.top - y);
  search.quarters = costs_.quarters(window.left - x, window.top - y);
  search.cost_pitch = costs_.pitch();

  // What was found around, and last time here, is often good here too. The row above is known in the same MCU row alone:
  // others are searched at the same time.
  std::array<Position, kMaxStarts> starts;
  std::size_t start_count = 0;
  const auto start_at = [&](MotionVector vector) {
    starts[start_count++] = candidate_at(window, x + vector.x, y + vector.y);
  };
  start_at({});
  if (column > 0) start_at(chosen_[static_cast<std::size_t>(block - 1)]);
  start_at(chosen_[static_cast<std::size_t>(block)]);
  if (row % rows_per_mcu_ != 0) start_at(chosen_[static_cast<std::size_t>(block - geometry_.columns)]);

  std::array<std::uint32_t, kMaxFoundVectors> keys;
  kernels_.decisions().search_best(search, {sums_.data(), geometry_.width}, std::span(starts).first(start_count),
                                   std::span(keys).first(static_cast<std::size_t>(count_)));
  MotionVector* const found = found_.data() + static_cast<std::size_t>(block) * kMaxFoundVectors;
  for (int i = 0; i < count_; ++i) {
    const std::uint32_t key = keys[static_cast<std::size_t>(i)];
    if (key == UINT32_MAX) {
      found[i] = found[i - 1];
      continue;
    }
    const auto index = static_cast<int>(key & 0xFFFF);
    const int width = window.right - window.left;
    found[i] = {static_cast<std::int8_t>(window.left + index % width - x),
                static_cast<std::int8_t>(window.top + index / width - y)};
  }
  const std::uint32_t cost = keys[0] >> 16;
  return {cost, cost - *costs_.costs(found[0].x, found[0].y)};
}

std::uint64_t CostSearch::search_block_row(int row) {
  std::uint64_t sads = 0;
  for (int column = 0; column < geometry_.columns; ++column) {
    const int block = row * geometry_.columns + column;
    Found best = search(column, row);
    MotionVector chosen = *found(block);
    if (column > 0) {
      const MotionVector left = chosen_[static_cast<std::size_t>(block - 1)];
      if (left != chosen && vector_is_legal(column, row, geometry_.width, geometry_.height, left.x, left.y)) {
        const int x = column * kBlockSize;
        const int y = row * kBlockSize;
        const std::uint32_t sad = kernels_.sad(&current_.at(x, y), current_.pitch,
                                               &reference_.at(x + left.x, y + left.y), reference_.pitch);
        if (sad < best.cost) {  // the flags cost the same for both
          chosen = left;
          best.sad = sad;
        }
      }
    }
    chosen_[static_cast<std::size_t>(block)] = chosen;
    sads += best.sad;
  }
  return sads;
}

}  // namespace c63::cpu
