// Tests the search by SAD and vector cost. For each block it must find the vectors that the CPU finds, in the same
// order: the cheapest first. Vectors of equal cost have a defined order, too.

#include <algorithm>
#include <array>
#include <vector>

#include "backend_test_support.h"
#include "codec/search_window.h"
#include "cpu/search_method.h"
#include "cuda_me/kernels/rate_frame.h"
#include "cuda_me/runtime/memory.h"
#include "cuda_me/runtime/stream.h"
#include "decide/vectors.h"
#include "parity/contents.h"
#include "support/generators.h"

namespace c63::cuda {
namespace {

using test::Bytes;

/// Returns a picture in the layout of device memory. The bytes between its planes are random.
Bytes laid_out(const FrameLayout& layout, const Geometry& geometry, parity::Content content, unsigned seed) {
  Bytes picture(layout.picture_bytes);
  parity::fill(parity::Content::random, picture.data(), static_cast<int>(picture.size()), 1, 0, seed);
  for (int p = 0; p < kPlanes; ++p) {
    const PlaneGeometry plane = geometry.plane(p);
    parity::fill(content, picture.data() + layout.offset[p], plane.width, plane.height, plane.width, seed);
  }
  return picture;
}

struct Found {
  std::vector<MotionVector> vectors;  ///< kMaxFoundVectors per block
  std::vector<std::uint16_t> costs;
};

/// Returns what the CPU's exhaustive search finds.
Found expected(const FrameLayout& layout, const Geometry& geometry, const Bytes& current, const Bytes& reference, int range,
               const RateDecisions& rate) {
  const auto blocks = static_cast<std::size_t>(layout.blocks);
  Found found{std::vector<MotionVector>(blocks * kMaxFoundVectors, {99, 99}), std::vector<std::uint16_t>(blocks)};
  const cpu::SearchCosts costs(VectorCosts(rate.sad_per_bit));
  const cpu::SearchGoal goal{&costs, static_cast<std::size_t>(std::max(1, rate.found_vectors))};
  for (int p = 0; p < kPlanes; ++p) {
    const PlaneGeometry plane = geometry.plane(p);
    const int plane_range = plane_search_range(range, p);
    const auto searcher =
        cpu::make_block_searcher(SearchMethod::full_brute, cpu::kernels(SimdLevel::scalar), plane, plane_range);
    const ConstPlaneView a{current.data() + layout.offset[p], plane.width, plane.height, plane.width};
    const ConstPlaneView b{reference.data() + layout.offset[p], plane.width, plane.height, plane.width};
    searcher->begin(a, b, goal);
    searcher->prepare_rows(0, plane.height);
    searcher->prepare();
    for (int block = 0; block < plane.blocks(); ++block) {
      const int column = block % plane.columns;
      const int row = block / plane.columns;
      std::array<std::uint32_t, kMaxFoundVectors> keys{};
      cpu::BlockSearch search{.window = whole_search_window(column, row, plane.width, plane.height, plane_range),
                              .own = {column * kBlockSize, row * kBlockSize},
                              .current = &a.at(column * kBlockSize, row * kBlockSize),
                              .current_pitch = a.pitch,
                              .reference = b,
                              .keys = keys.data()};
      search.starts.fill({search.window.left, search.window.top});
      searcher->search({&search, 1});
      const auto index = static_cast<std::size_t>(layout.first_block[p] + block);
      found.costs[index] = static_cast<std::uint16_t>(keys[0] >> 16);
      for (std::size_t i = 0, last = 0; i < goal.count; ++i) {
        if (keys[i] != UINT32_MAX) last = i;  // if too few were found, the last one is repeated
        const cpu::Position at = search.candidate_of(keys[last]);
        found.vectors[index * kMaxFoundVectors + i] = {static_cast<std::int8_t>(at.x - search.own.x),
                                                       static_cast<std::int8_t>(at.y - search.own.y)};
      }
    }
  }
  return found;
}

class RateSearchTest : public BackendTest {};

TEST_F(RateSearchTest, FindsWhatTheDefinitionFinds) {
  test::Random random(3);
  const Stream stream;
  for (const auto& [width, height] : {std::array{16, 16}, {72, 40}, {150, 70}}) {
    const Geometry geometry(width, height);
    const FrameLayout layout(geometry);
    const auto blocks = static_cast<std::size_t>(layout.blocks);
    DeviceBuffer<std::uint8_t> current(layout.picture_bytes);
    DeviceBuffer<std::uint8_t> reference(layout.picture_bytes);
    DeviceBuffer<MotionVector> vectors(blocks * kMaxFoundVectors);
    DeviceBuffer<std::uint16_t> costs(blocks);
    DeviceBuffer<RateFrame> on_device(1);
    for (const auto content : {parity::Content::shifted, parity::Content::random, parity::Content::extremes,
                               parity::Content::columns, parity::Content::noise_on_gray}) {
      const Bytes current_samples = laid_out(layout, geometry, content, 1);
      const Bytes reference_samples = laid_out(layout, geometry, content, 2);
      copy_async(current.data(), current_samples.data(), current_samples.size(), stream);
      copy_async(reference.data(), reference_samples.data(), reference_samples.size(), stream);
      for (const int range : {1, 2, 9, 16, 40}) {
        for (const int count : {0, 2, 3, 7}) {
          RateFrame frame;
          frame.job.current = current.data();
          frame.job.reference = reference.data();
          frame.rate.lambda = 1;
          frame.rate.sad_per_bit = static_cast<std::int32_t>(random.below(5000));
          frame.rate.found_vectors = count;
          frame.scratch.found = vectors.data();
          frame.scratch.found_costs = costs.data();
          copy_async(on_device.data(), &frame, 1, stream);
          const RateGroup group{.frames = on_device.data(), .count = 1, .range = range, .inter = true, .found_vectors = count};
          const Found right = expected(layout, geometry, current_samples, reference_samples, range, frame.rate);
          SCOPED_TRACE(testing::Message() << width << "x" << height << ", " << name_of(content)
                                          << ", range " << range << ", " << count << " vectors");
          Found found{std::vector<MotionVector>(right.vectors.size(), {99, 99}), std::vector<std::uint16_t>(blocks, 0xAAAA)};
          copy_async(vectors.data(), found.vectors.data(), found.vectors.size(),
                     stream);  // overwrites the vectors of earlier searches
          copy_async(costs.data(), found.costs.data(), blocks, stream);
          enqueue_search(layout, group, stream);
          copy_async(found.vectors.data(), vectors.data(), found.vectors.size(), stream);
          copy_async(found.costs.data(), costs.data(), blocks, stream);
          stream.synchronize();
          ASSERT_EQ(found.costs, right.costs);
          ASSERT_EQ(found.vectors, right.vectors);
        }
      }
    }
  }
}

}  // namespace
}  // namespace c63::cuda
