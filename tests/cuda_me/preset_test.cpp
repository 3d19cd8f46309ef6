// Encodes with every preset on the GPU. The results must be those of the CPU, bit for bit.

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "backend_test_support.h"
#include "cuda_me/runtime/needs.h"
#include "support/generators.h"
#include "support/shared_data.h"

namespace c63::cuda {
namespace {

using test::Bytes;

EncoderSettings settings_for(int width, int height, const CodingSettings& coding) {
  EncoderSettings settings{.coding = coding};
  settings.coding.width = width;
  settings.coding.height = height;
  settings.measurement.keep_reconstruction = true;
  settings.measurement.keep_prediction = true;
  settings.measurement.keep_motion = true;
  return settings;
}

void expect_what_the_cpu_gives(const EncoderSettings& settings, const Bytes& video, const CudaBackendOptions& options = {}) {
  const Encoded gpu = on_gpu(settings, video, options);
  expect_same_frames(on_cpu(settings, video), gpu);
  if (settings.measurement.keep_reconstruction) expect_decodes(gpu);
}

/// Returns a video of six equal frames, except that a part of frame 3 is changed.
Bytes still_video(int width, int height) {
  const Bytes still = test::moving_video(width, height, 1);
  Bytes video;
  for (int i = 0; i < 6; ++i) video.insert(video.end(), still.begin(), still.end());
  for (std::size_t i = 0; i < still.size() / 3; ++i) video[3 * still.size() + i] ^= 0x1F;
  return video;
}

/// Returns settings for each preset. Those that decide by rate are tuned for squared error or for structural
/// similarity.
std::vector<CodingSettings> codings() {
  std::vector<CodingSettings> all = {{.preset = Preset::reference}};
  for (const Preset preset : {Preset::fast, Preset::good, Preset::best}) {
    for (const Tune tune : {Tune::psnr, Tune::ssim}) all.push_back({.preset = preset, .rate = {.tune = tune}});
  }
  return all;
}
std::string name_of(const CodingSettings& coding) {
  return std::string(name(coding.preset)) + ", tuned for " + std::string(name(coding.rate.tune));
}

class PresetTest : public BackendTest {};

TEST_F(PresetTest, GivesWhatTheCpuGives) {
  constexpr std::array<std::array<int, 2>, 11> kSizes = {
      {{1, 4}, {2, 2}, {7, 4}, {16, 16}, {17, 4}, {8, 66}, {66, 8}, {50, 40}, {112, 18}, {130, 34}, {200, 120}}};
  for (CodingSettings coding : codings()) {
    coding.key_interval = 6;
    for (const auto& [width, height] : kSizes) {
      for (const double qp : {5.0, 18.0, 50.0}) {
        coding.qp = qp;
        const EncoderSettings settings = settings_for(width, height, coding);
        for (const Bytes& video : {test::moving_video(width, height, 8), test::random_video(width, height, 3),
                                   test::extreme_video(width, height, 3), still_video(width, height)}) {
          SCOPED_TRACE(testing::Message() << name_of(coding) << " " << width << "x" << height << " qp " << qp);
          expect_what_the_cpu_gives(settings, video);
          if (HasFailure()) return;
        }
      }
    }
  }
}

TEST_F(PresetTest, FramesBetweenAreRepeats) {
  for (const Preset preset : values_of<Preset>()) {
    SCOPED_TRACE(name(preset));
    expect_what_the_cpu_gives(settings_for(80, 48, {.preset = preset, .qp = 20, .key_interval = 8, .frame_interval = 3}),
                              test::moving_video(80, 48, 18));
  }
}

TEST_F(PresetTest, EveryToolAlone) {
  constexpr int kWidth = 80;
  constexpr int kHeight = 48;
  const std::vector<std::pair<std::string, RateSettings>> tools = {
      {"flat tables", {.tables = TableShape::flat}},
      {"compact headers", {.headers = HeaderSet::compact}},
      {"chosen levels", {.choose_levels = true}},
      {"rounded levels", {.choose_levels = false}},
      {"one vector found", {.candidates = 1}},
      {"seven vectors found", {.candidates = 7}},
      {"widest beam", {.beam = 8}},
      {"odd beam", {.beam = 3}},
      {"narrowest beam", {.beam = 1}},
      {"unpredicted blocks", {.unpredicted = true}},
      {"all predicted", {.unpredicted = false}},
      {"repeats", {.repeats = true}},
      {"no repeats", {.repeats = false}},
      {"large lambda", {.lambda_scale = 4}},
      {"small lambda", {.lambda_scale = 0.05}},
      // The tools from here on need a preset that decides by rate.
      {"small lambda of chroma", {.chroma_lambda = 0.3}},
      {"large lambda of chroma", {.chroma_lambda = 4}},
      {"adaptive reference", {.adaptive_reference = true}},
      {"temporal filter", {.temporal_filter = true}},
      {"propagated weights", {.propagated_weights = true}},
      {"all that looks ahead", {.adaptive_reference = true, .temporal_filter = true, .propagated_weights = true}},
      {"propagated weights, for SSIM", {.propagated_weights = true, .tune = Tune::ssim}},
  };
  constexpr std::size_t kOfReference = 15;
  for (const Preset preset : {Preset::reference, Preset::fast, Preset::good}) {
    for (const auto& [what, rate] : std::span(tools).first(preset == Preset::reference ? kOfReference : tools.size())) {
      SCOPED_TRACE(std::string(name(preset)) + ", " + what);
      const EncoderSettings settings =
          settings_for(kWidth, kHeight, {.preset = preset, .qp = 14, .key_interval = 9, .rate = rate});
      expect_what_the_cpu_gives(settings, test::noisy_video(kWidth, kHeight, 12, 6));
      expect_what_the_cpu_gives(settings, still_video(kWidth, kHeight));
    }
  }
}

/// With the temporal filter, filtered frames are coded. Their errors are measured against the unfiltered ones.
TEST_F(PresetTest, FilteredFramesAreMeasuredAgainstTheirOriginals) {
  for (const auto& [width, height] : {std::array{96, 64}, {50, 26}}) {
    EncoderSettings settings = settings_for(width, height, {.preset = Preset::fast, .qp = 15, .rate = {.temporal_filter = true}});
    for (const bool psnr : {true, false}) {
      for (const bool ssim : {true, false}) {
        SCOPED_TRACE(testing::Message() << width << "x" << height << ", psnr " << psnr << ", ssim " << ssim);
        settings.measurement.psnr = psnr;
        settings.measurement.ssim = ssim;
        settings.measurement.keep_reconstruction = settings.measurement.keep_prediction =
            settings.measurement.keep_motion = psnr;
        expect_what_the_cpu_gives(settings, test::noisy_video(width, height, 7, 6));
      }
    }
  }
}

TEST_F(PresetTest, EverySearchRangeWithEveryKernel) {
  const Bytes video = test::moving_video(96, 80, 12);
  for (const int range : {1, 2, 7, 8, 15, 16, 17, 33, 40, 127}) {
    CodingSettings coding{.preset = Preset::good, .qp = 25, .key_interval = 5, .search_range = range};
    SCOPED_TRACE(range);
    expect_what_the_cpu_gives(settings_for(96, 80, coding), video);
    coding.preset = Preset::reference;
    for (const std::string& kernel : motion_kernel_names()) {
      SCOPED_TRACE(kernel);
      expect_what_the_cpu_gives(settings_for(96, 80, coding), video, {.motion_kernel = kernel});
    }
  }
}

TEST_F(PresetTest, LanesBatchesDevicesAndSourcesDoNotChangeBytes) {
  const Bytes video = test::noisy_video(80, 48, 80, 6);
  for (const CodingSettings& coding : codings()) {
    EncoderSettings settings{.coding = coding};
    settings.coding.width = 80;
    settings.coding.height = 48;
    settings.coding.key_interval = coding.preset == Preset::best ? 37 : 4;
    const int gops = coding.preset == Preset::best ? 3 : 20;
    const Encoded expected = on_cpu(settings, video);
    for (const int lanes : {1, 2, 3, 6, 16, 64}) {
      settings.execution.lanes = lanes;
      for (const CudaBackendOptions& options : ways_to_encode()) {
        for (const auto kind : {test::VideoSource::Kind::file, test::VideoSource::Kind::pipe}) {
          const bool is_file = kind == test::VideoSource::Kind::file;
          SCOPED_TRACE(testing::Message() << name_of(coding) << ", " << lanes << " lanes, file " << is_file);
          const Encoded run = on_gpu(settings, video, options, kind);
          EXPECT_TRUE(same_bytes(expected.stream(), run.stream()));
          // The encoder counts the frames of a file in advance, so it opens no more lanes than the file has GOPs.
          EXPECT_EQ(run.summary.lanes, is_file ? std::min(lanes, gops) : lanes);
        }
      }
    }
  }
}

/// Cards choose kernels by what they offer. Whatever they choose, the stream is the same.
TEST_F(PresetTest, EveryCardsKernelsGiveTheCpusBytes) {
  const auto expect_the_cpus_bytes = [](int width, int height, const Bytes& video, int range) {
    for (const Preset preset : values_of<Preset>()) {
      const EncoderSettings settings{.coding = {.width = width, .height = height, .preset = preset, .qp = 20,
                                                .key_interval = 6, .search_range = range}};
      const Encoded expected = on_cpu(settings, video);
      for (const DeviceLimits& card : known_cards()) {
        const PretendedCard pretended(card.architecture);
        for (const std::string_view kernel : {"fast", "eliminate", "automatic"}) {
          if (kernel != "fast" && preset != Preset::reference) continue;  // other presets have one search
          SCOPED_TRACE(testing::Message() << "sm_" << card.architecture << ", " << name(preset) << ", " << kernel);
          EXPECT_TRUE(same_bytes(expected.stream(), on_gpu(settings, video, {.motion_kernel = std::string(kernel)}).stream()));
        }
      }
    }
  };
  const Bytes noisy = test::noisy_video(144, 80, 12, 6);
  for (const int range : {16, 20}) expect_the_cpus_bytes(144, 80, noisy, range);
  C63_NEEDS_SHARED("sequences/people_320x192.yuv");
  expect_the_cpus_bytes(320, 192, test::read_bytes(test::shared_path("sequences/people_320x192.yuv")), 16);
}

/// A run with two devices, the GPU and the CPU. Whichever is free takes the next GOP. The stream must not depend on
/// that.
TEST_F(PresetTest, GpuAndCpuTogether) {
  const Bytes video = test::noisy_video(112, 64, 60, 6);
  for (const Preset preset : {Preset::fast, Preset::good, Preset::best}) {
    EncoderSettings settings{.coding = {.width = 112, .height = 64, .preset = preset, .qp = 20, .key_interval = 6}};
    const Encoded expected = on_cpu(settings, video);
    std::vector<BackendFactory> both = make_backend_factories();
    both.emplace_back(open_cpu_backend);
    EXPECT_TRUE(same_bytes(expected.stream(), encode_with(Encoder(settings, both), video).stream()));
  }
}

/// Runs the GPU at full load for a long time. Such a run once found an error in the queue of the elimination kernel: a
/// warp waited for a barrier too early, and one frame in ten thousand was wrong.
TEST_F(PresetTest, ADeviceThatNeverRunsDryGivesTheCpusBytes) {
  struct Load {
    int lanes;  ///< with one lane, frames of preset `reference` run as graphs
    std::int64_t groups;
    const char* kernel = "automatic";
  };
  const auto run = [](Preset preset, int key_interval, const std::vector<Load>& loads) {
    EncoderSettings settings{.coding = {.width = 1920, .height = 1080, .preset = preset, .key_interval = key_interval}};
    const Bytes group = test::moving_video(settings.coding.width, settings.coding.height, key_interval);
    const Encoded expected = on_cpu(settings, group);
    for (const Load& load : loads) {
      settings.execution.lanes = load.lanes;
      expect_the_same_for_long(settings, {.motion_kernel = load.kernel}, group, expected, load.groups);
    }
  };
  run(Preset::reference, 10, {{9, 4000, "eliminate"}, {9, 2000, "fast"}, {16, 500}, {1, 500}});
  run(Preset::fast, 4, {{1, 200}, {9, 2000}, {32, 2000}});
  run(Preset::good, 4, {{1, 200}, {9, 2000}, {32, 2000}});
}

/// Real video, if it is available.
TEST_F(PresetTest, RealVideo) {
  C63_NEEDS_SHARED("sequences/people_320x192.yuv");
  C63_NEEDS_SHARED("sequences/static_152x100.yuv");
  const Bytes people = test::read_bytes(test::shared_path("sequences/people_320x192.yuv"));
  const Bytes still = test::read_bytes(test::shared_path("sequences/static_152x100.yuv"));
  for (CodingSettings coding : codings()) {
    for (const double qp : {5.0, 10.0, 25.0, 50.0}) {
      SCOPED_TRACE(testing::Message() << name_of(coding) << " qp " << qp);
      coding.qp = qp;
      expect_what_the_cpu_gives(settings_for(320, 192, coding), people);
      expect_what_the_cpu_gives(settings_for(152, 100, coding), still);
    }
  }
}

TEST_F(PresetTest, SmallForSanitizers) {
  for (CodingSettings coding : codings()) {
    coding.qp = 12;
    coding.key_interval = 5;
    EncoderSettings settings = settings_for(50, 40, coding);
    // A chain has six slots for frames, which are used in turn. So some are used twice.
    const Bytes video = test::moving_video(50, 40, 9);
    for (const int lanes : {1, 2}) {
      settings.execution.lanes = lanes;
      expect_what_the_cpu_gives(settings, video);
    }
    expect_what_the_cpu_gives(settings, still_video(50, 40));
    if (coding.preset != Preset::reference) continue;
    expect_what_the_cpu_gives(settings, video, {.upload = UploadMode::pair, .coded_capacity = 100});
    settings.measurement = {};
    settings.execution.lanes = 1;  // frames run as graphs
    expect_what_the_cpu_gives(settings, video);
  }
}

}  // namespace
}  // namespace c63::cuda
