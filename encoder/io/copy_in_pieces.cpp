#include "io/copy_in_pieces.h"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <cstddef>

namespace c63 {

void copy_in_pieces(std::span<const std::uint8_t> from, std::span<std::uint8_t> to) {
  constexpr std::size_t kPiece = 64 << 10;
  if (from.size() < 8 * kPiece) {
    std::ranges::copy(from, to.begin());
    return;
  }
  oneapi::tbb::parallel_for(std::size_t{0}, (from.size() + kPiece - 1) / kPiece, [&](std::size_t i) {
    const std::size_t first = i * kPiece;
    std::ranges::copy(from.subspan(first, std::min(kPiece, from.size() - first)), to.begin() + static_cast<std::ptrdiff_t>(first));
  });
}

}  // namespace c63
