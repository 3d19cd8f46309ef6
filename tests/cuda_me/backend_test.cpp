// Encodes whole videos on the GPU. The bytes must be those of the CPU.

#include "backend/backend.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backend_test_support.h"
#include "c63/error.h"
#include "codec/dct.h"
#include "codec/quantization.h"
#include "common/digest.h"
#include "cuda_me/runtime/memory.h"
#include "decide/resolved_encode.h"
#include "support/expect_error.h"
#include "support/golden_videos.h"
#include "support/shared_data.h"

namespace c63::cuda {
namespace {

using test::Bytes;

TEST_F(BackendTest, EncodesTheGoldenVectors) {
  for (const test::GoldenVideo& v : test::kGoldenVideos) {
    const Bytes video = test::frames_of(v);
    for (const auto kind : {test::VideoSource::Kind::file, test::VideoSource::Kind::pipe}) {
      const EncoderSettings settings{.coding = {.width = v.width, .height = v.height}};
      EXPECT_EQ(tools::md5(on_gpu(settings, video, {}, kind).stream()), v.stream_md5) << test::name(v);
    }
  }
}

TEST_F(BackendTest, GraphsOfEveryMotionKernelLongEnoughToChooseAgain) {
  // The automatic search measures again after 256 calls which kernel is faster. In one lane of 300 frames, this happens
  // between frames that run as graphs.
  const Bytes video = test::moving_video(64, 48, 300);
  EncoderSettings settings{.coding = {.width = 64, .height = 48, .key_interval = 40}, .execution = {.lanes = 1}};
  const Bytes expected = on_cpu(settings, video).stream();
  for (const std::string& kernel : motion_kernel_names()) {
    for (const bool graphs : {false, true}) {
      EXPECT_TRUE(same_bytes(expected, on_gpu(settings, video, {.motion_kernel = kernel, .graphs = graphs}).stream()))
          << kernel << ", graphs " << graphs;
    }
  }
  settings.measurement.keep_motion = true;  // with this, kernels are launched one by one instead of as graphs
  EXPECT_TRUE(same_bytes(expected, on_gpu(settings, video).stream()));
}

TEST_F(BackendTest, TakesFramesFromPageLockedMemory) {
  const Bytes video = test::moving_video(80, 48, 600);
  EncoderSettings settings{.coding = {.width = 80, .height = 48, .key_interval = 40}};
  const Bytes expected = on_cpu(settings, video).stream();
  PinnedBuffer<std::uint8_t> locked(video.size());
  std::ranges::copy(video, locked.data());
  const std::size_t size = frame_bytes(80, 48);
  for (const int lanes : {1, 2, 5}) {
    settings.execution.lanes = lanes;
    for (const int every : {1, 3, 7, 600}) {
      test::VideoSource source(video, 80, 48);
      // A source can offer a frame in place instead of being read. Here it offers some frames in page-locked memory,
      // from which a device can copy. It offers others in normal memory, from which a device cannot copy. So all frames
      // that are not in page-locked memory must be read.
      source.offer([&](std::int64_t index) -> std::span<const std::uint8_t> {
        if (index % every == 0) return locked.span().subspan(static_cast<std::size_t>(index) * size, size);
        if (index % 2 == 0) return source.frame(index);
        return {};
      });
      const Bytes stream = encode_with(Encoder(settings, make_backend_factories()), source).stream();
      EXPECT_TRUE(same_bytes(expected, stream)) << lanes << " lanes, every frame of " << every;
      EXPECT_EQ(source.reads(), 600 - (600 + every - 1) / every) << lanes << " lanes, every frame of " << every;
    }
  }
}

TEST_F(BackendTest, FewStagingBuffersAndVideosThatEndEarly) {
  // Frames of 3840x2160 are so large that all lanes together get only four page-locked frames for input. With a key
  // frame at every frame, the seven lanes reach the end of a pipe at about the same time.
  const Bytes large = test::moving_video(3840, 2160, 7);
  EncoderSettings settings{.coding = {.width = 3840, .height = 2160, .key_interval = 1}, .execution = {.lanes = 7}};
  const Bytes expected = on_cpu(settings, large).stream();
  for (const auto kind : {test::VideoSource::Kind::file, test::VideoSource::Kind::pipe}) {
    EXPECT_TRUE(same_bytes(expected, on_gpu(settings, large, {}, kind).stream()));
  }
  const Bytes shortened(large.begin(), large.begin() + static_cast<std::ptrdiff_t>(frame_bytes(3840, 2160)));
  const Encoded one = on_gpu(settings, shortened, {}, test::VideoSource::Kind::pipe);
  EXPECT_TRUE(same_bytes(on_cpu(settings, shortened).stream(), one.stream()));
}

TEST_F(BackendTest, ReportsLoadAndLatency) {
  EncoderSettings settings{.coding = {.width = 352, .height = 288}, .execution = {.lanes = 1}};
  const Encoded run = on_gpu(settings, test::moving_video(352, 288, 20));
  const EncodeLoad& load = run.summary.load;
  for (const double share : {load.reading, load.bus, load.coding, load.writing}) {
    EXPECT_GT(share, 0);
    EXPECT_LE(share, 1);
  }
  for (const EncodedFrame& frame : run.frames) {
    const StageTimes& times = frame.statistics.times;
    EXPECT_GT(frame.statistics.latency_ms, times.motion + times.transform + times.entropy);
    EXPECT_LT(frame.statistics.latency_ms, run.summary.elapsed_ms);
  }
}

TEST_F(BackendTest, ScansThatDoNotFitComeTheSlowWay) {
  const Bytes video = test::random_video(120, 90, 6);
  EncoderSettings settings{.coding = {.width = 120, .height = 90, .key_interval = 2}};
  const Encoded expected = on_cpu(settings, video);
  const std::size_t capacity = expected.frames[1].bytes.size() - 657;
  for (const std::size_t bytes : {std::size_t{1}, capacity - 1, capacity, capacity + 1}) {
    for (const int lanes : {1, 3}) {
      settings.execution.lanes = lanes;
      EXPECT_TRUE(same_bytes(expected.stream(), on_gpu(settings, video, {.coded_capacity = bytes}).stream()))
          << bytes << ", " << lanes << " lanes";
    }
  }
}

/// Allocates nearly all free device memory: pieces of up to 64 GiB, and down to 1 MiB. This includes memory that the
/// driver kept from earlier encodes.
std::vector<DeviceBuffer<std::byte>> occupy_the_device() {
  std::vector<DeviceBuffer<std::byte>> occupied;
  for (std::size_t bytes = std::size_t{64} << 30; bytes >= 1U << 20;) {
    try {
      occupied.emplace_back(bytes);
    } catch (const Error&) {
      bytes /= 2;
    }
  }
  return occupied;
}

TEST_F(BackendTest, HalvesItsLanesUntilTheyFit) {
  EncoderSettings settings{.coding = {.width = 1280, .height = 720, .key_interval = 1}};
  settings.execution.lanes = 8;
  const Bytes video = test::moving_video(1280, 720, 8);
  static_cast<void>(on_gpu(settings, test::moving_video(1280, 720, 1)));  // creates the device's context and its memory
  std::optional<DeviceBuffer<std::byte>> spare(5 * device_bytes_per_chain(settings) + (8U << 20));
  const std::vector<DeviceBuffer<std::byte>> occupied = occupy_the_device();
  spare.reset();
  const Encoded run = on_gpu(settings, video);
  EXPECT_EQ(run.summary.lanes, 4);
  EXPECT_TRUE(same_bytes(on_cpu(settings, video).stream(), run.stream()));
}

TEST_F(BackendTest, SaysWhyItCannot) {
  const auto id_of = [](const EncoderSettings& settings, const CudaBackendOptions& options) {
    return test::error_id([&] { static_cast<void>(on_gpu(settings, test::moving_video(16, 16, 1), options)); });
  };
  const EncoderSettings settings{.coding = {.width = 16, .height = 16}};
  EncoderSettings no_search = settings;
  no_search.coding.method = SearchMethod::zero;
  EXPECT_EQ(id_of(settings, {.devices = {1000}}), "C63-CUDA-NO-DEVICE");
  EXPECT_EQ(id_of(settings, {.motion_kernel = "no-such"}), "C63-CUDA-KERNEL");
  EXPECT_EQ(id_of(no_search, {}), "C63-CUDA-METHOD");
}

TEST_F(BackendTest, TakesTheMemoryItSays) {
  struct Case {
    int width;
    int height;
    int lanes;
    bool graphs = true;
  };
  for (const auto& [width, height, lanes, graphs] :
       {Case{1920, 1080, 17}, Case{1280, 720, 9}, Case{1920, 1080, 1}, Case{1920, 1080, 1, false}}) {
    const CudaBackendOptions options{.graphs = graphs};
    EncoderSettings settings{.coding = {.width = width, .height = height, .key_interval = 1}};
    settings.execution.lanes = lanes;
    // The first encode creates the device's context, which also needs memory. It is made before the measurement, so
    // this memory is not counted.
    static_cast<void>(on_gpu(settings, test::moving_video(width, height, 2), options));
    std::size_t before = 0;
    std::size_t after = 0;
    std::size_t total = 0;
    const std::size_t pinned_before = pinned_bytes();
    check(cudaMemGetInfo(&before, &total), "cudaMemGetInfo");
    const auto backend = make_backend_factories(options).front()(resolve(settings), lanes);
    check(cudaMemGetInfo(&after, &total), "cudaMemGetInfo");
    ASSERT_EQ(backend->info().chains, lanes);
    const auto device = static_cast<double>(lanes * device_bytes_per_chain(settings, options));
    EXPECT_NEAR(static_cast<double>(before - after), device, device * 0.05) << width << "x" << height << ", " << lanes;
    const auto host = static_cast<double>(host_bytes_per_device(settings, lanes, options));
    EXPECT_NEAR(static_cast<double>(pinned_bytes() - pinned_before), host, host * 0.05) << width << "x" << height;
  }
}

/// The formulas are those of c63/cuda/backend.h.
TEST(Backend, TakesTheDocumentedMemory) {
  const double picture = 1920.0 * 1088 * 3 / 2;
  const double blocks = picture / 64;
  const double segments = blocks / 6 / 8;
  const double frame = 1920.0 * 1080 * 3 / 2;
  const double device = 8 * picture + 8 * blocks + 3 * (segments * (10176 + 16) + frame / 2 + (64 << 10)) + (18 << 10);
  const double host =
      std::floor((48 << 20) / frame) * frame + 17 * (blocks + (18 << 10)) + 3 * 17 * (frame / 2 + (64 << 10));
  const double filtered = 6 * picture;
  const double looked_at = 19 * (frame + picture + blocks * 40 / 3) + 6 * frame + 32 * blocks;
  EncoderSettings settings{.coding = {.width = 1920, .height = 1080}};
  EXPECT_NEAR(static_cast<double>(device_bytes_per_chain(settings)), device, device * 0.001);
  EXPECT_NEAR(static_cast<double>(host_bytes_per_device(settings, 17)), host, host * 0.001);
  settings.coding.preset = Preset::best;
  EXPECT_NEAR(static_cast<double>(device_bytes_per_chain(settings)), device + filtered + looked_at, device * 0.001);
  EXPECT_NEAR(static_cast<double>(host_bytes_per_device(settings, 17)), host + 17 * (frame + blocks / 6), host * 0.001);
}

TEST_F(BackendTest, RealVideoGivesTheCourseEncodersBytes) {
  struct Sequence {
    const char* name;
    int width;
    int height;
  };
  for (const auto& [name, width, height] : {Sequence{"foreman_352x288", 352, 288}, {"mobile_352x288", 352, 288},
                                            {"people_320x192", 320, 192}, {"static_152x100", 152, 100}}) {
    SCOPED_TRACE(name);
    const std::string yuv = "sequences/" + std::string(name) + ".yuv";
    const std::string golden = "golden/" + std::string(name) + ".c63";
    C63_NEEDS_SHARED(yuv);
    C63_NEEDS_SHARED(golden);
    const EncoderSettings settings{.coding = {.width = width, .height = height}};
    EXPECT_TRUE(same_bytes(test::read_bytes(test::shared_path(golden)),
                           on_gpu(settings, test::read_bytes(test::shared_path(yuv))).stream()));
  }
}

// A scan can end in three ways (docs/bitstream.md, "The end of the scan"). In each case the GPU must write the same end
// as the CPU.
enum class Ending { nothing_written, extra_byte, filled_byte };

/// Returns in which way the only scan of a stream ended. This follows from the number of coded bits and of written
/// bytes.
Ending ending_of(const EncodedFrame& frame) {
  const BitCounts& bits = frame.statistics.bits;
  const std::uint64_t coded = bits.motion + bits.luma + bits.chroma;
  std::size_t scan = 0;  // bytes of the scan without stuffing
  for (std::size_t i = 655; i + 2 < frame.bytes.size(); ++i) {
    ++scan;
    if (frame.bytes[i] == 0xFF) ++i;
  }
  if (scan * 8 <= coded) return Ending::nothing_written;
  return scan * 8 == coded + 8 ? Ending::extra_byte : Ending::filled_byte;
}

/// Returns a picture of one MCU. Its last Y block aims at level `base` at zig-zag index 0 and at level -1 from index 56
/// on. Each unit of `jitter` makes the coefficients of the -1 levels 2 % larger. Samples are whole numbers from 0 to
/// 255, so the block only comes near these levels. All other blocks are flat.
Bytes picture_with_long_tail(int base, int jitter) {
  const QuantizationTable steps = make_quantization_tables(25)[0];
  float coefficients[64] = {};
  coefficients[0] = static_cast<float>(dequantize(base, steps[0]));
  for (int k = 56; k < 64; ++k) {
    coefficients[kZigZag[k]] =
        static_cast<float>(dequantize(-1, steps[k])) * (1.0F + 0.02F * static_cast<float>(jitter));
  }
  std::int16_t block[64];
  inverse_dct(coefficients, block, kDctCosines);
  Bytes frame(frame_bytes(16, 16), 0);
  for (int y = 0; y < 8; ++y) {
    for (int x = 0; x < 8; ++x) {
      const int sample = block[y * 8 + x];
      frame[static_cast<std::size_t>((y + 8) * 16 + x + 8)] = static_cast<std::uint8_t>(sample < 0     ? 0
                                                                                        : sample > 255 ? 255
                                                                                                       : sample);
    }
  }
  return frame;
}

TEST_F(BackendTest, EndsEveryScanAsTheCpuDoes) {
  const EncoderSettings settings{.coding = {.width = 16, .height = 16}};
  std::array<int, 3> seen{};
  const auto compare = [&](const Bytes& picture) {
    const Encoded cpu = on_cpu(settings, picture);
    ++seen[static_cast<std::size_t>(ending_of(cpu.frames[0]))];
    EXPECT_TRUE(same_bytes(cpu.stream(), on_gpu(settings, picture).stream()));
  };
  for (int base = 8; base < 64; base += 2) {
    for (int jitter = 0; jitter < 10; ++jitter) {
      const Bytes picture = picture_with_long_tail(base, jitter);
      if (jitter == 0 || ending_of(on_cpu(settings, picture).frames[0]) == Ending::nothing_written) compare(picture);
    }
  }
  for (std::uint64_t seed = 1; seed <= 40; ++seed) compare(test::random_video(16, 16, 1, seed));
  EXPECT_GT(seen[static_cast<std::size_t>(Ending::nothing_written)], 0);
  EXPECT_GT(seen[static_cast<std::size_t>(Ending::extra_byte)], 0);
  EXPECT_GT(seen[static_cast<std::size_t>(Ending::filled_byte)], 0);
}

}  // namespace
}  // namespace c63::cuda
