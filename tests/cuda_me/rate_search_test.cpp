// Tests the search by SAD and vector cost. For each block it must find the vectors of the definition (every candidate,
// in plain loops), in the same order: the cheapest first. Vectors of equal cost have a defined order, too.

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

#include "backend_test_support.h"
#include "codec/search_window.h"
#include "cuda_me/kernels/rate_frame.h"
#include "cuda_me/runtime/memory.h"
#include "cuda_me/runtime/stream.h"
#include "decide/vectors.h"
#include "support/generators.h"

namespace c63::cuda {
namespace {

using test::Bytes;

/// Returns a picture in the layout of device memory. Its samples are a smooth slope (`kind` 0), random (1), or 0 and
/// 255 at random (2). The bytes between its planes are random.
Bytes laid_out(const FrameLayout& layout, const Geometry& geometry, test::Random& random, int kind) {
  Bytes picture(layout.picture_bytes);
  for (std::uint8_t& sample : picture) sample = static_cast<std::uint8_t>(random.next());
  for (int p = 0; p < kPlanes; ++p) {
    const PlaneGeometry plane = geometry.plane(p);
    for (std::size_t i = 0; i < plane.samples(); ++i) {
      const auto x = static_cast<unsigned>(i % static_cast<std::size_t>(plane.width));
      const auto y = static_cast<unsigned>(i / static_cast<std::size_t>(plane.width));
      const unsigned smooth = 3 * x + 5 * y + (x * y >> 4) + random.below(6);
      picture[layout.offset[static_cast<std::size_t>(p)] + i] =
          static_cast<std::uint8_t>(kind == 0 ? smooth : kind == 1 ? random.below(256) : 255 * random.below(2));
    }
  }
  return picture;
}

struct Found {
  std::vector<MotionVector> vectors;  ///< kMaxFoundVectors per block
  std::vector<std::uint16_t> costs;
};

Found expected(const FrameLayout& layout, const Geometry& geometry, const Bytes& current, const Bytes& reference, int range,
               const RateDecisions& rate) {
  const auto blocks = static_cast<std::size_t>(layout.blocks);
  Found found{std::vector<MotionVector>(blocks * kMaxFoundVectors, {99, 99}), std::vector<std::uint16_t>(blocks)};
  const VectorCosts costs(rate.sad_per_bit);
  for (int p = 0; p < kPlanes; ++p) {
    const PlaneGeometry plane = geometry.plane(p);
    const auto plane_index = static_cast<std::size_t>(p);
    const std::uint8_t* const a = current.data() + layout.offset[plane_index];
    const std::uint8_t* const b = reference.data() + layout.offset[plane_index];
    for (int block = 0; block < plane.blocks(); ++block) {
      const int column = block % plane.columns;
      const int row = block / plane.columns;
      const SearchWindow window = whole_search_window(column, row, plane.width, plane.height, plane_search_range(range, p));
      struct Candidate {
        std::uint32_t cost;
        MotionVector vector;
      };
      std::vector<Candidate> candidates;
      for (int y = window.top; y < window.bottom; ++y) {
        for (int x = window.left; x < window.right; ++x) {
          const int mv_x = x - column * kBlockSize;
          const int mv_y = y - row * kBlockSize;
          std::uint32_t cost = costs.of(mv_x, mv_y);
          for (int i = 0; i < kBlockSamples; ++i) {
            const int sample_a = a[(row * kBlockSize + i / 8) * plane.width + column * kBlockSize + i % 8];
            cost += static_cast<std::uint32_t>(std::abs(sample_a - b[(y + i / 8) * plane.width + x + i % 8]));
          }
          candidates.push_back({cost, {static_cast<std::int8_t>(mv_x), static_cast<std::int8_t>(mv_y)}});
        }
      }
      std::ranges::stable_sort(candidates, {}, &Candidate::cost);
      const std::size_t index = static_cast<std::size_t>(layout.first_block[plane_index] + block);
      found.costs[index] = static_cast<std::uint16_t>(candidates.front().cost);
      for (int i = 0; i < std::max(1, rate.found_vectors); ++i) {
        const std::size_t at = std::min(static_cast<std::size_t>(i), candidates.size() - 1);
        found.vectors[index * kMaxFoundVectors + static_cast<std::size_t>(i)] = candidates[at].vector;
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
    for (const int kind : {0, 1, 2}) {
      const Bytes current_samples = laid_out(layout, geometry, random, kind);
      const Bytes reference_samples = laid_out(layout, geometry, random, kind);
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
          SCOPED_TRACE(testing::Message() << width << "x" << height << ", content " << kind
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
