#pragma once

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include <cstddef>

namespace c63 {

/// Calls body(begin, end) for ranges that together cover 0..count-1, on all threads. Ranges of more than `grain` items
/// are halved. Shorter ones are not, because handing them to another thread would take longer than processing them.
template <typename Body>
void parallel_ranges(std::size_t count, std::size_t grain, const Body& body) {
  if (count == 0) return;
  if (count <= grain) {
    body(std::size_t{0}, count);
    return;
  }
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, grain),
                    [&](const tbb::blocked_range<std::size_t>& range) { body(range.begin(), range.end()); });
}

}  // namespace c63
