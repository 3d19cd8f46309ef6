// Tests what the encoder promises in addition to correct bytes. The result must be the same for any source and any
// number of lanes and threads. Errors, stops and fallbacks must not lose frames.

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "c63/device_choice.h"
#include "backend/backend.h"
#include "encode/backends.h"
#include "encode/rate_support.h"
#include "support/expect_error.h"
#include "support/host_film_device.h"

namespace c63::test::encoder_test {
namespace {

constexpr int kWidth = 48;
constexpr int kHeight = 32;
constexpr int kFrames = 23;

using Kind = VideoSource::Kind;

EncoderSettings small_gops() {
  EncoderSettings settings{.coding = {.width = kWidth, .height = kHeight}};
  settings.coding.key_interval = 4;
  settings.execution.lanes = 3;
  settings.execution.threads = 2;
  return settings;
}

const Bytes& video() {
  static const Bytes frames = moving_video(kWidth, kHeight, kFrames);
  return frames;
}

/// The result that all other encodes must equal. It is made with one lane and one thread, from a file.
const Encoded& expected() {
  static const Encoded encoded = [] {
    EncoderSettings settings = small_gops();
    settings.execution.lanes = settings.execution.threads = 1;
    VideoSource source(video(), kWidth, kHeight);
    return encode_source(source, settings);
  }();
  return encoded;
}

void expect_first_frames(const Encoded& encoded, std::size_t count) {
  expect_first_frames_of(expected(), encoded, count);
  for (std::size_t i = 0; i < encoded.frames.size(); ++i) EXPECT_EQ(encoded.frames[i].key, i % 4 == 0);
}

TEST(Encoder, FramesInPlaceAreReadOnlyByABackendThatCannotTakeThem) {
  const EncoderSettings settings = small_gops();
  const auto offer_every_second = [](VideoSource& source) {
    source.offer([&source](std::int64_t index) {
      return index % 2 == 0 ? source.frame(index) : std::span<const std::uint8_t>{};
    });
  };
  VideoSource read(video(), kWidth, kHeight);
  offer_every_second(read);
  expect_first_frames(encode_source(read, settings), kFrames);
  EXPECT_EQ(read.reads(), kFrames);

  InPlaceBackend::Counter taken = 0;
  Encoder encoder(settings, std::vector<BackendFactory>(2, wrapped_cpu<InPlaceBackend>(taken)));
  VideoSource source(video(), kWidth, kHeight);
  offer_every_second(source);
  const Encoded encoded = without_error(encode_source(source, encoder));
  expect_first_frames(encoded, kFrames);
  EXPECT_EQ(taken, (kFrames + 1) / 2);
  EXPECT_EQ(source.reads(), kFrames / 2);
}

TEST(Encoder, FramesInDeviceMemoryAreReadIfTheCpuNeedsThem) {
  // This memory stands for frames in a device's memory. The CPU cannot read it: an attempt would end the process.
  const std::size_t size = frame_bytes(kWidth, kHeight);
  void* const hidden = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(hidden, MAP_FAILED);
  EncoderSettings settings = small_gops();
  settings.coding.scene_cuts = true;
  settings.measurement.ssim = true;
  VideoSource read(video(), kWidth, kHeight);
  const Encoded expected = encode_source(read, settings);
  ASSERT_FALSE(expected.error);

  auto source = std::make_unique<VideoSource>(video(), kWidth, kHeight);
  source->offer([&](std::int64_t) { return std::span(static_cast<const std::uint8_t*>(hidden), size); }, false);
  const auto clipped = clip_frames(std::move(source), 0);
  EXPECT_EQ(without_error(encode_source(*clipped, settings)).stream(), expected.stream());
  munmap(hidden, size);
}

TEST(Encoder, FramesThatAGpuDecodesAreCopiedFromThereForTheCpu) {
  VideoSource file(video(), kWidth, kHeight);
  const Bytes expected = without_error(encode_source(file, small_gops())).stream();
  DecodedVideo source(video(), kWidth, kHeight, std::make_shared<HostFilmDevice>());
  EXPECT_EQ(without_error(encode_source(source, small_gops())).stream(), expected);
  EXPECT_EQ(source.reads_on_device(), kFrames);
}

TEST(Encoder, ReconstructionPredictionAndStatisticsAreThoseOfTheDecoder) {
  EncoderSettings settings = small_gops();
  settings.measurement.keep_reconstruction = settings.measurement.keep_prediction = settings.measurement.keep_motion = true;
  settings.measurement.ssim = true;
  VideoSource source(video(), kWidth, kHeight, Kind::pipe);
  const Encoded encoded = encode_source(source, settings);
  ASSERT_FALSE(encoded.error);
  expect_first_frames(encoded, kFrames);
  expect_decodes(encoded, "statistics");
  for (std::size_t i = 0; i < encoded.frames.size(); ++i) {
    const EncodedFrame& e = encoded.frames[i];
    std::uint64_t luma_sad = 0;
    for (const std::uint16_t sad : e.motion[0].sads) luma_sad += sad;
    EXPECT_EQ(luma_sad, e.statistics.luma_sad);
    const auto shown = split_planes(std::span(e.reconstruction), kWidth, kHeight);
    const auto original = split_planes(std::span(video()).subspan(i * frame_bytes(kWidth, kHeight)), kWidth, kHeight);
    for (std::size_t p = 0; p < 3; ++p) {
      std::uint64_t sse = 0;
      for (std::size_t k = 0; k < shown[p].size(); ++k) {
        const int difference = shown[p][k] - original[p][k];
        sse += static_cast<std::uint64_t>(difference * difference);
      }
      EXPECT_EQ(sse, e.statistics.sse[p]);
    }
    const BitCounts& bits = e.statistics.bits;
    EXPECT_LE(bits.header + bits.motion + bits.luma + bits.chroma, 8 * e.bytes.size() + 7);
    EXPECT_GE(bits.header + bits.motion + bits.luma + bits.chroma, 8 * e.bytes.size());
    EXPECT_EQ(bits.motion > static_cast<std::uint64_t>(kWidth * kHeight / 64 * 3 / 2), !e.key);
  }
}

TEST(Encoder, AVideoShorterThanItPromisedIsAnError) {
  for (const bool scene_cuts : {false, true}) {
    EncoderSettings settings = small_gops();
    settings.coding.scene_cuts = scene_cuts;
    VideoSource source(video(), kWidth, kHeight);
    source.promise(kFrames + 5);
    const Encoded encoded = encode_source(source, settings);
    expect_failed(encoded, ErrorKind::input, "C63-SOURCE-SHORT");
    EXPECT_EQ(encoded.frames.size(), static_cast<std::size_t>(kFrames));
  }
}

/// The CPU backend, but it returns its first frame again instead of frame `lost`.
class LosingBackend final : public WrappedBackend {
 public:
  LosingBackend(std::unique_ptr<Backend> inner, std::int64_t& lost) : WrappedBackend(std::move(inner)), lost_(lost) {}

  void collect(std::vector<CodedFrame>& finished) override {
    WrappedBackend::collect(finished);
    for (CodedFrame& frame : finished) {
      if (frame.frame.index == lost_) frame.frame.index = 0;
    }
  }

 private:
  const std::int64_t lost_;
};

// Segments and ranks of a cluster run encode with Encoder, too.
TEST(Encoder, AFrameThatADeviceLosesIsAnError) {
  for (std::int64_t lost : {1, 4, kFrames - 1}) {
    Encoder encoder(small_gops(), wrapped_cpu<LosingBackend>(lost));
    VideoSource source(video(), kWidth, kHeight);
    const Encoded encoded = encode_source(source, encoder);
    expect_failed(encoded, ErrorKind::internal, "C63-FRAMES-LOST");
    EXPECT_EQ(encoded.frames.size(), static_cast<std::size_t>(lost)) << "the frames before it are delivered";
  }
}

TEST(DeviceChoice, AGpuIsChosenOnlyForWorkThatTakesLongerThanItsStart) {
  EXPECT_FALSE(choose_device({}).gpu) << "the length is unknown";
  EXPECT_FALSE(choose_device(799).gpu);
  EXPECT_TRUE(choose_device(801).gpu);
  const CodingSettings foreman{.width = 352, .height = 288};
  EXPECT_FALSE(cpu_ms_to_encode(foreman, {}, 1));
  EXPECT_FALSE(choose_device(cpu_ms_to_encode(foreman, 300, 16)).gpu);
  EXPECT_TRUE(choose_device(cpu_ms_to_encode(foreman, 30'000, 16)).gpu);
  CodingSettings best = foreman;
  best.preset = Preset::best;
  EXPECT_NEAR(*cpu_ms_to_encode(foreman, 3000, 16), 3000.0 * 2376 / (2200.0 * 16), 1e-6);
  EXPECT_GT(*cpu_ms_to_encode(best, 3000, 16), 10 * *cpu_ms_to_encode(foreman, 3000, 16));
  EXPECT_DOUBLE_EQ(*cpu_ms_to_decode(2'000'000, 2), 2 * *cpu_ms_to_decode(2'000'000, 4));
  EXPECT_DOUBLE_EQ(*cpu_ms_to_search(64, 64, 1000, 4), 16);
}

TEST(Encoder, NoFramesAreAnEmptyStream) {
  for (const Kind kind : {Kind::file, Kind::pipe}) {
    VideoSource source({}, kWidth, kHeight, kind);
    const Encoded encoded = encode_source(source, small_gops());
    EXPECT_FALSE(encoded.error);
    EXPECT_EQ(encoded.summary.frames, 0);
  }
  EXPECT_TRUE(encode({}, small_gops()).empty());
}

TEST(Encoder, PartialFrameInMemoryIsRefused) {
  const auto partial = std::span(video()).first(frame_bytes(kWidth, kHeight) + 1);
  expect_error(ErrorKind::input, "C63-PARTIAL-FRAME", [&] { (void)encode(partial, small_gops()); });
}

TEST(Encoder, SourceOfAnotherSizeIsRefused) {
  VideoSource source(video(), kHeight, kWidth);
  const Encoded encoded = encode_source(source, small_gops());
  expect_failed(encoded, ErrorKind::usage, "C63-SIZE-MISMATCH");
}

TEST(Encoder, SettingsOutOfRangeAreRefused) {
  const auto refuses = [](auto change, ErrorKind kind, const std::string& id) {
    EncoderSettings settings = small_gops();
    change(settings);
    expect_error(kind, id, [&] { Encoder encoder(settings); });
  };
  refuses([](auto& s) { s.coding.width = s.coding.height = 0; }, ErrorKind::usage, "C63-SIZE-ZERO");
  refuses([](auto& s) { s.coding.width = 0; }, ErrorKind::usage, "C63-SIZE-ZERO");
  refuses([](auto& s) { s.coding.height = -16; }, ErrorKind::usage, "C63-SIZE-ZERO");
  refuses([](auto& s) { s.coding.width = 65536; }, ErrorKind::limit, "C63-SIZE-RANGE");
  refuses([](auto& s) { s.coding.width = s.coding.height = 33; }, ErrorKind::usage, "C63-SIZE-AREA");
  refuses([](auto& s) { s.coding.width = 2, s.coding.height = 17; }, ErrorKind::usage, "C63-SIZE-AREA");
  refuses([](auto& s) { s.execution.limits.max_pixels = kWidth * kHeight - 1; }, ErrorKind::limit, "C63-MAX-PIXELS");
  for (const int qp : {-1, 0, 4, 51, 100}) {
    refuses([qp](auto& s) { s.coding.qp = qp; }, ErrorKind::usage, "C63-QP-RANGE");
  }
  for (const int interval : {-5, 0}) {
    refuses([interval](auto& s) { s.coding.key_interval = interval; }, ErrorKind::usage, "C63-KEYINT-RANGE");
  }
  for (const int range : {-1, 0, 128}) {
    refuses([range](auto& s) { s.coding.search_range = range; }, ErrorKind::usage, "C63-MERANGE-RANGE");
  }
  refuses([](auto& s) { s.execution.threads = -1; }, ErrorKind::usage, "C63-COUNT-RANGE");
  refuses([](auto& s) { s.execution.lanes = -1; }, ErrorKind::usage, "C63-COUNT-RANGE");
}

TEST(Encoder, ExtremeSettingsRoundTrip) {
  for (const int range : {1, 2, 127}) {
    for (const int interval : {1, 2, 1'000'000'000}) {
      EncoderSettings settings = small_gops();
      settings.coding.search_range = range;
      settings.coding.key_interval = interval;
      settings.measurement.keep_reconstruction = true;
      for (const Kind kind : {Kind::file, Kind::pipe}) {
        VideoSource source(extreme_video(kWidth, kHeight, 4), kWidth, kHeight, kind);
        const Encoded encoded = without_error(encode_source(source, settings));
        EXPECT_EQ(decode(encoded.stream()), encoded.reconstructions()) << range << " " << interval;
      }
    }
  }
}

TEST(Encoder, MemoryLimitBoundsTheLanes) {
  EncoderSettings settings = small_gops();
  settings.execution.lanes = 6;
  const std::uint64_t lane = 12 * kWidth * kHeight * 3 / 2;
  settings.execution.limits.max_memory = 4 * lane;  // half of the limit is for lanes
  VideoSource file(video(), kWidth, kHeight);
  const Encoded two = encode_source(file, settings);
  EXPECT_EQ(two.summary.lanes, 2);
  expect_first_frames(two, kFrames);

  // Frames that are read ahead from a pipe need memory, too. The 64 frames of a GOP take more than there is, so the
  // encoder uses only one lane.
  VideoSource pipe(video(), kWidth, kHeight, Kind::pipe);
  settings.coding.key_interval = 64;
  EXPECT_EQ(encode_source(pipe, settings).summary.lanes, 1);

  // Pictures on their way to the sink need memory, too.
  for (const bool keeps : {false, true}) {
    settings.measurement.keep_reconstruction = keeps;
    settings.execution.limits.max_memory = keeps ? lane + kWidth * kHeight : lane - 1;
    VideoSource none(video(), kWidth, kHeight);
    expect_failed(encode_source(none, settings), ErrorKind::limit, "C63-MAX-MEMORY");
  }
}

TEST(Encoder, AStopOfAFileReadsNothingMore) {
  // The video has more frames than the lanes and the output queue can hold. So some frames are not read yet when the run
  // stops.
  for (const int lanes : {1, 4}) {
    EncoderSettings settings = small_gops();
    settings.execution.lanes = lanes;
    Encoder encoder(settings);
    VideoSource source(video(), kWidth, kHeight);
    source.loop(20 * kFrames);
    const Encoded encoded = encode_and_stop_after(3, source, encoder);
    EXPECT_TRUE(encoded.summary.stopped);
    EXPECT_GE(encoded.frames.size(), 3U);
    EXPECT_LT(encoded.frames.size(), std::size_t{20 * kFrames});
  }
}

TEST(Encoder, StopBeforeTheStart) {
  Encoder encoder(small_gops());
  VideoSource source(video(), kWidth, kHeight);
  std::stop_source stop;
  stop.request_stop();
  const EncodeSummary summary = encoder.encode(
      source, [](EncodedFrame&&) { FAIL(); }, stop.get_token());
  EXPECT_TRUE(summary.stopped);
  EXPECT_EQ(summary.frames, 0);
}

TEST(Encoder, SinkThatThrowsEndsTheRun) {
  Encoder encoder(small_gops());
  VideoSource source(video(), kWidth, kHeight);
  int frames = 0;
  const auto error = expect_error(ErrorKind::output, "TEST-FULL", [&] {
    encoder.encode(source, [&](EncodedFrame&&) {
      if (++frames == 6) throw Error(ErrorKind::output, "TEST-FULL", "no space left");
    });
  });
  EXPECT_EQ(frames, 6);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->place().frame, 5);
}

TEST(Fallback, OfOneDeviceOfSeveralLosesNothing) {
  int all_fallbacks = 0;  // the other devices may have taken all frames before this one fails
  for (const Kind kind : {Kind::file, Kind::pipe}) {
    for (const std::size_t which : {0U, 1U, 2U}) {
      for (int frames = 0; frames < 8; ++frames) {
        std::vector<BackendFactory> devices(3, open_cpu_backend);
        devices[which] = failing_after(frames);
        EncoderSettings settings = small_gops();
        settings.execution.lanes = 3;
        Encoder encoder(settings, devices);
        int fallbacks = 0;
        encoder.set_fallback(open_cpu_backend, [&](const std::string&) { ++fallbacks; });
        VideoSource source(video(), kWidth, kHeight, kind);
        const Encoded encoded = without_error(encode_source(source, encoder));
        expect_first_frames(encoded, kFrames);
        EXPECT_LE(fallbacks, 1);
        all_fallbacks += fallbacks;
      }
    }
  }
  EXPECT_GT(all_fallbacks, 0);
}

TEST(Fallback, SourceThatBrokeStaysBroken) {
  for (const Kind kind : {Kind::file, Kind::pipe}) {
    for (int frames = 0; frames < 10; ++frames) {
      Encoder encoder(small_gops(), failing_after(frames));
      encoder.set_fallback(open_cpu_backend, nullptr);
      VideoSource source(video(), kWidth, kHeight, kind);
      source.break_at(10);
      const Encoded encoded = encode_source(source, encoder);
      expect_failed(encoded, ErrorKind::input, "TEST-BROKEN");
      expect_first_frames(encoded, 10);
    }
  }
}

TEST(Fallback, HappensOnce) {
  Encoder encoder(small_gops(), failing_after(5));
  encoder.set_fallback(failing_after(7), nullptr);
  VideoSource source(video(), kWidth, kHeight);
  const Encoded encoded = encode_source(source, encoder);
  expect_failed(encoded, ErrorKind::device, "TEST-DEVICE-LOST");
  expect_first_frames(encoded, encoded.frames.size());
}

TEST(Fallback, OnlyForDeviceErrors) {
  Encoder encoder(small_gops(), failing_after(5, ErrorKind::memory));
  encoder.set_fallback(open_cpu_backend, [](const std::string&) { FAIL(); });
  VideoSource source(video(), kWidth, kHeight);
  const Encoded encoded = encode_source(source, encoder);
  ASSERT_TRUE(encoded.error);
  EXPECT_EQ(encoded.error->kind(), ErrorKind::memory);
}

TEST(Fallback, WithoutOneTheDeviceErrorIsThrown) {
  Encoder encoder(small_gops(), failing_after(5));
  VideoSource source(video(), kWidth, kHeight);
  const Encoded encoded = encode_source(source, encoder);
  expect_failed(encoded, ErrorKind::device, "TEST-DEVICE-LOST");
  EXPECT_TRUE(encoded.error->place().frame);
}

}  // namespace
}  // namespace c63::test::encoder_test
