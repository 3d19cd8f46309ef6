// Runs the look-ahead on a device. Motion, references, filtered frames and weights must be those of the host, bit for
// bit.

#include <algorithm>
#include <array>
#include <memory>

#include "backend_test_support.h"
#include "cpu/kernels.h"
#include "cuda_me/lookahead/source_frames.h"
#include "cuda_me/runtime/memory.h"
#include "encode/host_source_frames.h"
#include "support/generators.h"

namespace c63::cuda {
namespace {

using test::Bytes;

constexpr int kKept = 3;

/// A CudaSourceFrames object together with its memory. Device memory is filled with zeros, which CudaSourceFrames
/// requires. Host memory is filled with 0xA5, so that a value which was not written shows.
class DeviceSource {
 public:
  DeviceSource(const Geometry& geometry, const LookaheadDecisions& decisions) {
    Carver sizes;
    static_cast<void>(SourceMemory::carve(sizes, geometry, decisions, kKept));
    memory_ = DeviceBuffer<std::byte>(sizes.used());
    const Stream stream;
    fill_async(memory_.data(), 0, memory_.bytes(), stream);
    stream.synchronize();
    Carver host_sizes;
    static_cast<void>(SourceStaging::carve(host_sizes, geometry, decisions));
    host_ = PinnedBuffer<std::byte>(host_sizes.used());
    std::ranges::fill(host_.span(), std::byte{0xA5});
    Carver device(memory_.data());
    Carver host(host_.data());
    frames_ = std::make_unique<CudaSourceFrames>(geometry, decisions, SourceMemory::carve(device, geometry, decisions, kKept),
                                                 SourceStaging::carve(host, geometry, decisions));
  }
  [[nodiscard]] SourceFrames& frames() { return *frames_; }

 private:
  DeviceBuffer<std::byte> memory_;
  PinnedBuffer<std::byte> host_;
  std::unique_ptr<CudaSourceFrames> frames_;
};

Bytes downloaded(std::span<const std::uint8_t> on_device) {
  Bytes bytes(on_device.size());
  const Stream stream;
  copy_async(bytes.data(), on_device.data(), bytes.size(), stream);
  stream.synchronize();
  return bytes;
}

void expect_same_totals(const MotionTotals& expected, const MotionTotals& actual) {
  EXPECT_EQ(expected.logarithms, actual.logarithms);
  EXPECT_EQ(expected.squared_error, actual.squared_error);
  EXPECT_EQ(expected.blocks, actual.blocks);
}

void expect_same_frame(const PreparedFrame& expected, const Bytes& coded, const PreparedFrame& actual) {
  EXPECT_TRUE(same_bytes(coded, downloaded(actual.in_place)));
  EXPECT_EQ(expected.original == nullptr, actual.original_in_place.empty());
  if (expected.original != nullptr) {
    EXPECT_TRUE(same_bytes(*expected.original, downloaded(actual.original_in_place)));
  }
  ASSERT_EQ(expected.weights == nullptr, actual.weights == nullptr);
  if (expected.weights != nullptr) {
    EXPECT_EQ(*expected.weights, *actual.weights);
  }
}

/// Codes a video as a GOP, twice, and looks ahead by `ahead` frames at each frame. Expects the same results from the
/// device as from the host. The reference of each frame is chosen at random, up to kMostFramesBack frames back.
void expect_what_the_host_finds(int width, int height, const LookaheadDecisions& decisions, const Bytes& video, std::size_t ahead) {
  const Geometry geometry(width, height);
  const std::size_t bytes = geometry.frame_bytes();
  const std::size_t count = video.size() / bytes;
  HostSourceFrames host(geometry, cpu::kernels({}), decisions);
  DeviceSource device(geometry, decisions);
  test::Random random(5);
  for (int gop = 0; gop < 2; ++gop) {
    host.begin_gop(decisions.lambda << gop);
    device.frames().begin_gop(decisions.lambda << gop);
    std::size_t first = 0;
    int back = 0;
    for (std::size_t read = 0, coded = 0; coded < count; ++coded) {
      const bool plain = coded % 4 == 3;
      if (read > coded + kFilterReach && !plain) device.frames().begin_look(coded - first);
      for (; read < std::min(count, coded + ahead + 1); ++read) {
        SCOPED_TRACE(testing::Message() << width << "x" << height << ", frame " << read);
        const auto samples = std::span(video).subspan(read * bytes, bytes);
        std::ranges::copy(samples, host.input().begin());
        std::ranges::copy(samples, device.frames().input().begin());
        const auto expected = host.push();
        const auto actual = device.frames().push();
        for (std::size_t i = 0; i < 2; ++i) expect_same_totals(expected[i], actual[i]);
        const bool stays = back > 0 && back < kMostFramesBack && read >= first + 2 && random.below(3) != 0;
        back = read == 0 ? 0 : stays ? back + 1 : 1;
        if (back > 2) expect_same_totals(host.find_motion(back), device.frames().find_motion(back));
        host.predict_from(back);
        device.frames().predict_from(back);
      }
      SCOPED_TRACE(testing::Message() << width << "x" << height << ", look at " << coded);
      Bytes input(bytes, 0x5A);
      const PreparedFrame expected = host.look_at(coded - first, plain, input);
      expect_same_frame(expected, input, device.frames().look_at(coded - first, plain, {}));
      if (testing::Test::HasFailure()) return;
      for (; first + kFramesKeptBehind <= coded; ++first) {
        host.pop_front();
        device.frames().pop_front();
      }
    }
  }
}

class LookaheadTest : public BackendTest {};

constexpr LookaheadDecisions kAll{.filter = true, .propagate = true, .choose_reference = true, .lambda = 12800};

TEST_F(LookaheadTest, FindsWhatTheHostFinds) {
  constexpr std::array<std::array<int, 2>, 6> kSizes = {{{1, 4}, {16, 16}, {8, 66}, {50, 26}, {152, 100}, {336, 272}}};
  for (const auto& [width, height] : kSizes) {
    for (const Cost lambda : {1, 900, 12800, kMaxLambda}) {
      LookaheadDecisions decisions = kAll;
      decisions.lambda = lambda;
      expect_what_the_host_finds(width, height, decisions, test::noisy_video(width, height, 12, 4), 5);
      expect_what_the_host_finds(width, height, decisions, test::random_video(width, height, 6), 5);
      expect_what_the_host_finds(width, height, decisions, test::extreme_video(width, height, 6), 5);
      if (HasFailure()) return;
    }
  }
}

TEST_F(LookaheadTest, OverAllFramesThatErrorsAreFollowed) {
  expect_what_the_host_finds(96, 64, kAll, test::noisy_video(96, 64, 45, 5), kPropagationFrames);
  // In a still video, predictions are exact. So a block inherits the whole error of its reference: PassedError::share has
  // its highest value in all blocks.
  const Bytes still = test::moving_video(96, 64, 1);
  Bytes frozen;
  for (int i = 0; i < 40; ++i) frozen.insert(frozen.end(), still.begin(), still.end());
  expect_what_the_host_finds(96, 64, kAll, frozen, kPropagationFrames);
}

TEST_F(LookaheadTest, EachByItself) {
  for (const LookaheadDecisions& decisions :
       {LookaheadDecisions{.filter = true, .lambda = 5000}, LookaheadDecisions{.propagate = true, .lambda = 5000},
        LookaheadDecisions{.choose_reference = true, .lambda = 5000}}) {
    const auto ahead = static_cast<std::size_t>(decisions.frames());
    expect_what_the_host_finds(80, 48, decisions, test::noisy_video(80, 48, 9, 4), ahead);
  }
}

TEST_F(LookaheadTest, LargePictures) {
  expect_what_the_host_finds(1920, 1080, kAll, test::noisy_video(1920, 1080, 6, 6), 4);
}

TEST_F(LookaheadTest, SmallForSanitizers) {
  expect_what_the_host_finds(50, 40, kAll, test::noisy_video(50, 40, 6, 5), 4);
}

}  // namespace
}  // namespace c63::cuda
