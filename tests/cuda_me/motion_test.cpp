// Compares every search kernel with the scalar search, for many sizes, pitches, alignments, contents and ranges. Kernels
// with several forms are compared in the form that each card would run. Before each search, outputs are filled with the
// byte 0xCD, so that a missing result shows.
#include "cuda_me/kernels/motion.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "c63/cuda/devices.h"
#include "c63/error.h"
#include "cuda_me/runtime/memory.h"
#include "cuda_me/runtime/needs.h"
#include "cuda_me/runtime/stream.h"
#include "support/expect_error.h"
#include "support/motion_definition.h"

namespace c63::cuda {

/// Prints the name for GoogleTest.
inline void PrintTo(const MotionKernelInfo& kernel, std::ostream* out) { *out << kernel.name; }

namespace {

constexpr std::uint8_t kPoison = 0xCD;

/// A plane in memory with its own pitch. The bytes between rows have the value 0xA5.
struct TestPlane {
  int width;
  int height;
  int pitch;
  std::vector<std::uint8_t> samples;

  TestPlane(int w, int h, int p) : width(w), height(h), pitch(p), samples(static_cast<std::size_t>(p) * h, 0xA5) {}
  std::uint8_t& at(int x, int y) { return samples[static_cast<std::size_t>(y) * pitch + x]; }
  [[nodiscard]] ConstPlaneView view() const { return {samples.data(), width, height, pitch}; }
};

enum class Content { random, zero, full, opposite, alternating, smooth, flat_steps };
constexpr Content kContents[] = {Content::random,      Content::zero,   Content::full,      Content::opposite,
                                        Content::alternating, Content::smooth, Content::flat_steps};

/// Returns the value of sample (x, y) in a plane with this content. `which` is 0 for the current plane, 1 for the
/// reference.
std::uint8_t sample(Content content, int which, int x, int y, std::mt19937& random) {
  switch (content) {
    case Content::random:
      return static_cast<std::uint8_t>(random());
    case Content::zero:
      return 0;
    case Content::full:
      return 255;
    case Content::opposite:  // the largest possible SAD, 16320, everywhere
      return which == 0 ? 255 : 0;
    case Content::alternating:  // ties everywhere, and sums that change with every step
      return ((x ^ y) & 1) != 0 ? 255 : 0;
    case Content::smooth: {  // a shifted picture with a little noise, like video
      const int u = x + (which == 0 ? 3 : 0);
      const int v = y - (which == 0 ? 2 : 0);
      return static_cast<std::uint8_t>((u * u / 7 + v * 5 + u * v / 11 + static_cast<int>(random() % 4)) & 0xFF);
    }
    case Content::flat_steps:  // large flat areas: of many equal candidates, the first must win
      return static_cast<std::uint8_t>((x / 24 + y / 16) * 40);
  }
  return 0;
}

void fill(TestPlane& plane, Content content, int which, std::uint32_t seed) {
  std::mt19937 random(seed);
  for (int y = 0; y < plane.height; ++y) {
    for (int x = 0; x < plane.width; ++x) plane.at(x, y) = sample(content, which, x, y, random);
  }
}

/// The results of the definition.
test::FoundMotion search(const TestPlane& current, const TestPlane& reference, int range) {
  const MotionPair pair{current.view(), reference.view()};
  return test::defined_motion({&pair, 1}, {.range = range}, nullptr);
}

/// A plane in device memory. It begins `misalignment` bytes after an aligned address.
class DevicePlane {
 public:
  DevicePlane(const TestPlane& plane, int misalignment, cudaStream_t stream)
      : buffer_(plane.samples.size() + static_cast<std::size_t>(misalignment)), misalignment_(misalignment) {
    // The buffer ends with the last row and the gap after it, if rows have gaps. memcheck then finds reads past that.
    copy_async(buffer_.data() + misalignment, plane.samples.data(), plane.samples.size(), stream);
  }
  [[nodiscard]] const std::uint8_t* data() const { return buffer_.data() + misalignment_; }

 private:
  DeviceBuffer<std::uint8_t> buffer_;
  int misalignment_;
};

/// A motion search: its planes and results in device memory, and the results that are expected.
struct Case {
  /// The scalar search gives the expected results, or `simplest` if it is not null.
  Case(int width, int height, int pitch_gap, int misalignment, int range, Content content, std::uint32_t seed,
       cudaStream_t stream, MotionSearch* simplest = nullptr)
      : label(std::to_string(width) + "x" + std::to_string(height) + " gap " + std::to_string(pitch_gap) +
              " misaligned " + std::to_string(misalignment) + " range " + std::to_string(range) + " content " +
              std::to_string(static_cast<int>(content))),
        current(width, height, width + pitch_gap),
        reference(width, height, width + pitch_gap + (pitch_gap != 0 ? 2 : 0)),
        blocks(static_cast<std::size_t>(width / 8) * (height / 8)),
        vectors(blocks + 1),
        sads(blocks + 1) {
    fill(current, content, 0, seed);
    fill(reference, content, 1, seed + 1);
    current_on_device.emplace(current, misalignment, stream);
    reference_on_device.emplace(reference, misalignment, stream);
    poison(stream);
    job = {current_on_device->data(),
           reference_on_device->data(),
           current.pitch,
           reference.pitch,
           width,
           height,
           range,
           vectors.data(),
           sads.data()};
    if (simplest == nullptr) {
      expected = search(current, reference, range);
    } else {
      simplest->enqueue({&job, 1}, stream);
      expected = found(stream);
    }
  }

  /// Downloads the results, and the entry after them, which must still be poison.
  [[nodiscard]] test::FoundMotion found(cudaStream_t stream) const {
    test::FoundMotion all(1, blocks + 1);
    copy_async(all.vectors.data(), vectors.data(), blocks + 1, stream);
    copy_async(all.sads.data(), sads.data(), blocks + 1, stream);
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    return all;
  }

  void poison(cudaStream_t stream) const {
    fill_async(vectors.data(), kPoison, vectors.bytes(), stream);
    fill_async(sads.data(), kPoison, sads.bytes(), stream);
  }

  void expect_right(const std::string& kernel, cudaStream_t stream) const {
    const test::FoundMotion got = found(stream);
    for (std::size_t i = 0; i < blocks; ++i) {
      ASSERT_EQ(got.vectors[i], expected.vectors[i]) << kernel << ", " << label << ", block " << i;
      ASSERT_EQ(got.sads[i], expected.sads[i]) << kernel << ", " << label << ", block " << i;
    }
    EXPECT_EQ(static_cast<std::uint8_t>(got.vectors[blocks].x), kPoison) << "written past the end: " << label;
    EXPECT_EQ(got.sads[blocks], kPoison << 8 | kPoison) << "written past the end: " << label;
  }

  std::string label;
  TestPlane current;
  TestPlane reference;
  std::size_t blocks;
  test::FoundMotion expected{0, 0};
  std::optional<DevicePlane> current_on_device;
  std::optional<DevicePlane> reference_on_device;
  DeviceBuffer<MotionVector> vectors;
  DeviceBuffer<std::uint16_t> sads;
  MotionJob job;
};

/// A search, and the card whose form of it was chosen.
struct Form {
  std::string label;
  std::unique_ptr<MotionSearch> search;
};

class MotionParity : public testing::TestWithParam<MotionKernelInfo> {
 protected:
  void SetUp() override {
    if (devices().state != DeviceState::usable) GTEST_SKIP() << "no usable GPU: " << devices().reason;
    stream_.emplace();
    const std::string kernel(GetParam().name);
    forms_.push_back({kernel, make_motion_search(kernel)});
    for (const DeviceLimits& card : known_cards()) {
      if (kernel != "fast" && kernel != "eliminate") continue;
      const PretendedCard pretended(card.architecture);
      forms_.push_back({kernel + " as on sm_" + std::to_string(card.architecture), make_motion_search(kernel)});
    }
  }

  /// Searches all cases in one call of each form.
  template <typename Cases>
  void run(const Cases& cases) {
    std::vector<MotionJob> jobs;
    for (const Case& one : cases) jobs.push_back(one.job);
    for (const Form& form : forms_) {
      for (const Case& one : cases) one.poison(*stream_);
      form.search->enqueue(jobs, *stream_);
      for (const Case& one : cases) one.expect_right(form.label, *stream_);
    }
  }
  void run(int width, int height, int pitch_gap, int misalignment, int range, Content content) {
    const Case one(width, height, pitch_gap, misalignment, range, content, ++seed_, *stream_);
    run(std::span(&one, 1));
  }

  std::optional<Stream> stream_;
  std::vector<Form> forms_;
  std::uint32_t seed_ = 1;
};

TEST_P(MotionParity, SmallForSanitizers) {
  for (const Content content : {Content::random, Content::flat_steps}) {
    run(8, 8, 0, 0, 16, content);
    run(40, 24, 0, 0, 16, content);
    run(48, 32, 0, 0, 8, content);
    run(64, 48, 0, 0, 16, content);
    run(72, 48, 5, 1, 16, content);
    run(80, 64, 0, 0, 20, content);
  }
}

TEST_P(MotionParity, Sizes) {
  const std::pair<int, int> sizes[] = {{8, 8},   {16, 8},  {8, 16},   {16, 16},  {24, 40},  {32, 32},  {40, 24},
                                       {64, 64}, {72, 56}, {88, 104}, {128, 48}, {136, 96}, {176, 72}, {200, 120}};
  for (const auto& [width, height] : sizes) {
    for (const int range : {8, 16}) {
      run(width, height, 0, 0, range, Content::random);
      run(width, height, 0, 0, range, Content::smooth);
    }
  }
}

TEST_P(MotionParity, PitchesAndAddresses) {
  for (const int gap : {0, 1, 3, 8, 13, 24}) {
    for (const int misalignment : {0, 1, 2, 4, 7, 8}) {
      run(104, 72, gap, misalignment, 16, Content::smooth);
      run(56, 40, gap, misalignment, 8, Content::random);
    }
  }
}

TEST_P(MotionParity, Contents) {
  for (const Content content : kContents) {
    for (const int range : {7, 8, 16, 24}) {
      run(112, 88, 0, 0, range, content);
      run(200, 120, 0, 0, range, content);
    }
  }
}

TEST_P(MotionParity, Ranges) {
  for (int range = 0; range <= 64; ++range) {
    run(120, 88, 0, 0, range, range % 2 == 0 ? Content::smooth : Content::random);
  }
  for (const int range : {65, 96, 127}) run(200, 120, 0, 0, range, Content::smooth);
  for (int range = 1; range <= 40; ++range) run(96, 64, 0, 0, range, Content::flat_steps);  // ties
}

TEST_P(MotionParity, ManyPlanesInOneCall) {
  std::deque<Case> cases;
  for (int lane = 0; lane < 11; ++lane) {
    const int w = 16 * (3 + lane % 4);
    const int h = 16 * (2 + lane % 3);
    cases.emplace_back(w, h, 0, 0, 16, Content::smooth, ++seed_, *stream_);
    cases.emplace_back(w / 2, h / 2, 0, 0, 8, Content::smooth, ++seed_, *stream_);
    cases.emplace_back(w / 2, h / 2, 1, 3, 8, Content::random, ++seed_, *stream_);
  }
  run(cases);
}

// Planes with more tiles than the multiprocessors can hold at the same time. A tile is the blocks that a thread block
// searches together. The scalar search is too slow for these planes, so the expected result comes from the simplest
// kernel, which the other tests compare with the scalar search.
TEST_P(MotionParity, LargePlanesAsTheSimplestKernel) {
  if (GetParam().name == "textbook") GTEST_SKIP() << "this is the simplest kernel";
  const auto simplest = make_motion_search("textbook");
  for (const Content content : {Content::smooth, Content::random}) {
    std::deque<Case> cases;
    for (const auto& [width, height, range] :
         {std::tuple{1920, 1088, 16}, {960, 544, 8}, {1000, 544, 8}, {640, 368, 16}}) {
      cases.emplace_back(width, height, 0, 0, range, content, ++seed_, *stream_, simplest.get());
    }
    run(cases);
  }
}

TEST_P(MotionParity, SadsAreOptionalAndGraphsReplay) {
  const Case one(96, 64, 0, 0, 16, Content::smooth, 7, *stream_);
  MotionJob job = one.job;
  job.sads = nullptr;
  for (const Form& form : forms_) {
    form.search->enqueue({&job, 1}, *stream_);
    const auto graph = GraphExec::capture(*stream_, [&] { form.search->enqueue({&one.job, 1}, *stream_); });
    for (int replay = 0; replay < 2; ++replay) {
      one.poison(*stream_);
      graph.launch(*stream_);
      one.expect_right(form.label, *stream_);
    }
  }
}

TEST_P(MotionParity, RefusesImpossibleJobs) {
  const Case one(16, 16, 0, 0, 8, Content::random, 3, *stream_);
  const auto refused = [&](auto change) {
    MotionJob job = one.job;
    change(job);
    EXPECT_THROW(forms_[0].search->enqueue({&job, 1}, *stream_), Error);
  };
  refused([](MotionJob& job) { job.width = 12; });
  refused([](MotionJob& job) { job.height = 0; });
  refused([](MotionJob& job) { job.range = 128; });
  refused([](MotionJob& job) { job.range = -1; });
  refused([](MotionJob& job) { job.reference_pitch = 15; });
  refused([](MotionJob& job) { job.vectors = nullptr; });
}

TEST_P(MotionParity, SaysWhatItTakesAndFitsInEveryCardsSharedMemory) {
  for (const DeviceLimits& card : known_cards()) {
    const PretendedCard pretended(card.architecture);
    const auto search = make_motion_search(GetParam().name);
    const MotionKernelResources resources = search->resources();
    EXPECT_GT(resources.registers, 0);
    EXPECT_GT(resources.threads, 0);
    EXPECT_GT(resources.occupancy, 0.0);
    EXPECT_LE(resources.occupancy, 1.0);
    EXPECT_LE(resources.shared_bytes, card.shared_bytes) << card.architecture;
    for (const int range : {16, 127}) {
      const Case one(64, 48, 0, 0, range, Content::smooth, ++seed_, *stream_);
      search->enqueue({&one.job, 1}, *stream_);
      one.expect_right(std::to_string(card.architecture), *stream_);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, MotionParity, testing::ValuesIn(motion_kernels().begin(), motion_kernels().end()),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

TEST(MotionKernels, UnknownOnesAreErrors) {
  EXPECT_EQ(test::error_id([] { static_cast<void>(make_motion_search("no-such-kernel")); }), "C63-CUDA-KERNEL");
}

}  // namespace
}  // namespace c63::cuda
