#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>

#include "c63/settings.h"
#include "support/generators.h"

namespace c63::test {

/// A test video from one of the generators, with the sizes and MD5 sums of what the course codec makes of it.
struct GoldenVideo {
  char generator = 'A';
  std::uint32_t seed = 0;  ///< for generator D
  int width = 0;
  int height = 0;
  int frames = 0;
  std::size_t stream_bytes = 0;
  const char* stream_md5 = "";
  const char* decoded_md5 = "";
};

inline constexpr GoldenVideo kGoldenVideos[] = {
    {'A', 0, 16, 16, 3, 2441, "b9dde34e2b7bcfe235d1c258c9d79246", "996d65294437f2e683eb1d918551cf0e"},
    {'A', 0, 48, 32, 3, 3859, "acf4e349d30796da90ba76f55d36fc7c", "57b0ca31754d20b0a86a22471f3f19ea"},
    {'B', 0, 64, 64, 6, 9140, "2a04e47273177ca65447b89a2f5b1ae3", "38eac626a485530f90c20426acffc410"},
    {'B', 0, 32, 32, 103, 95165, "5124609d12fc3a11d6366b14f581dcef", "26943ee4c60bd9bd41600e6313ec10a5"},
    {'B', 0, 40, 24, 4, 4549, "73b4e4f0d2f6de50f1e58703784007e7", "f69b71f1030007c011e51a2257c0236d"},
    {'A', 0, 20, 6, 5, 4130, "8a7bba43d4fca8e1c6bbb5d486a2bf82", "f1ccc6570a0d0e8c99cd7a02af7557ed"},
    {'B', 0, 2, 2, 3, 2051, "64961bcb8de4817d720aeffab84edf20", "078a7d6959653b74a2b831d13c11d5e8"},
    {'A', 0, 4, 1, 2, 1459, "eebc392f4feadcbeb4a76b1a3194673d", "6c7aac054324e30d056c3de04948e892"},
    {'B', 0, 16, 18, 3, 2224, "0fdbe7e48d1a56ffec3762247b961ea5", "111152bb26044f1b8b34d69fd29856ec"},
    {'B', 0, 176, 144, 4, 23852, "3f8a2444eec3930e125223b343ebfa2f", "18fd55a312d7865bc4a2c31bfc19117e"},
    // The compiler must not fuse multiplications and additions. It would change the streams of the first two videos
    // below, and the decoded pictures of the third.
    {'D', 17, 64, 64, 3, 8807, "201eb33a476da958f1e9bc00f36522fb", "a99262493240e9b3d4dac8607425c19b"},
    {'D', 12, 64, 64, 3, 11148, "bb322017e62320263501868b39e9683c", "db46f087f44ef486bc6071e5d9e78f40"},
    {'D', 3, 64, 64, 3, 5650, "5e6dce8d050026ae2d1735df6aa66408", "e8ffbd527ed89e27127dad273ec5aa3f"},
};

/// Returns a name for the test, such as D17_64x64.
inline std::string name(const GoldenVideo& v) {
  return v.generator + (v.generator == 'D' ? std::to_string(v.seed) : "") + "_" + std::to_string(v.width) + "x" +
         std::to_string(v.height);
}

/// Prints the name for GoogleTest.
inline void PrintTo(const GoldenVideo& v, std::ostream* out) { *out << name(v); }

/// Returns the frames of a golden video, in linear layout.
inline Bytes frames_of(const GoldenVideo& v) {
  switch (v.generator) {
    case 'A': return generate_a(v.width, v.height, v.frames);
    case 'B': return generate_b(v.width, v.height, v.frames);
    default: return generate_d(v.seed, v.width, v.height, v.frames);
  }
}

/// Settings with which c63 encodes mixed_video(), and the MD5 sum of the stream. Whoever changes the bytes of a preset
/// on purpose changes the sum.
struct GoldenSettings {
  const char* name;
  CodingSettings coding;
  const char* md5;
};

inline const GoldenSettings kGoldenSettings[] = {
    {"reference", {.qp = 40, .search_range = 127}, "044811996d5f0b30638ca3b296f0b99f"},
    {"no_search", {.scene_cuts = true, .method = SearchMethod::zero}, "673b0636d84f82ddccc47fdfe6e3c559"},
    {"fast", {.preset = Preset::fast, .qp = 12.5, .scene_cuts = true}, "377dab58392efb708b777c9ee2db66ae"},
    {"fast_coarse", {.preset = Preset::fast, .qp = 1, .search_range = 5}, "600ec8d8d9730e3c4da4ca1074102ddd"},
    {"fast_with_look_ahead",
     {.preset = Preset::fast,
      .rate = {.adaptive_reference = true, .temporal_filter = true, .propagated_weights = true}},
     "217c3e85f72967d6ee7a2b7b34720139"},
    {"fast_wide",
     {.preset = Preset::fast, .qp = 50, .rate = {.candidates = 7, .beam = 8, .lambda_scale = 4}},
     "ad1bcce6200b7fc8a95283afe2f29018"},
    {"fast_rounded",
     {.preset = Preset::fast,
      .rate = {.choose_levels = false, .candidates = 3, .unpredicted = false, .repeats = false}},
     "e4718c27a832bf830e9b9ffe644544a6"},
    {"good", {.preset = Preset::good}, "f389d74fc3c9922289439c81b7242f18"},
    {"good_for_ssim",
     {.preset = Preset::good, .qp = 8, .rate = {.tune = Tune::ssim}},
     "d945942f98ee230aa5695f5f78c89d88"},
    {"good_by_hand",
     {.preset = Preset::good, .rate = {.tables = TableShape::course, .headers = HeaderSet::full, .chroma_lambda = 4}},
     "e335e3080b06755162498bf27be43657"},
    {"best", {.preset = Preset::best, .search_range = 32}, "c1068a928a6832c63e063eb88bead5d5"},
    {"best_in_scenes", {.preset = Preset::best, .qp = 10, .scene_cuts = true}, "1db765d36330df565adbe66ca0068980"},
    {"best_at_intervals",
     {.preset = Preset::best, .key_interval = 7, .frame_interval = 3},
     "ca2c5fe36d6527fff47256e06d74dd6b"},
};

/// A video of 96x64 with all that presets decide by: motion with noise, a still picture, two pictures that alternate, a
/// fade, and cuts.
inline Bytes mixed_video() {
  Bytes video = noisy_video(96, 64, 12, 3);
  const auto add = [&](const Bytes& picture) { video.insert(video.end(), picture.begin(), picture.end()); };
  const Bytes one = moving_video(96, 64, 1, 5);
  const Bytes other = random_video(96, 64, 1, 6);
  for (int i = 0; i < 5; ++i) add(one);
  for (int i = 0; i < 18; ++i) add(i % 2 == 0 ? other : one);
  add(scene_video(96, 64, {60, 62, 65, 69, 160, 161}));
  return video;
}

}  // namespace c63::test
