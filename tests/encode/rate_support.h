#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "support/coding.h"

namespace c63::test {

inline Encoded encode_video(const Bytes& video, int width, int height, const CodingSettings& coding, int lanes = 1,
                     std::optional<SimdLevel> simd = {}, int threads = 2) {
  EncoderSettings settings{.coding = coding, .execution = {.threads = threads, .lanes = lanes, .simd = simd}};
  settings.coding.width = width;
  settings.coding.height = height;
  settings.measurement.keep_reconstruction = settings.measurement.keep_prediction = settings.measurement.keep_motion = true;
  VideoSource source(video, width, height);
  return encode_source(source, settings);
}

/// Expects that decoding gives the same pictures, predictions, repeats and vectors as the encoder reported.
inline void expect_decodes(const Encoded& encoded, const std::string& what) {
  ASSERT_FALSE(encoded.error) << what << ": " << encoded.error->what();
  const Decoded decoded = decode_stream(encoded.stream(), {.keep_prediction = true, .keep_motion = true});
  ASSERT_FALSE(decoded.error) << what << ": " << decoded.error->what();
  ASSERT_EQ(decoded.frames.size(), encoded.frames.size()) << what;
  for (std::size_t i = 0; i < decoded.frames.size(); ++i) {
    ASSERT_EQ(decoded.frames[i].picture, encoded.frames[i].reconstruction) << what << " frame " << i;
    ASSERT_EQ(decoded.frames[i].prediction, encoded.frames[i].prediction) << what << " frame " << i;
    ASSERT_EQ(decoded.frames[i].repeat, encoded.frames[i].repeat) << what << " frame " << i;
    for (int p = 0; p < 3; ++p) {
      ASSERT_EQ(decoded.frames[i].motion[p].vectors, encoded.frames[i].motion[p].vectors) << what << " frame " << i;
      if (encoded.frames[i].motion[p].inter.empty()) continue;
      ASSERT_EQ(decoded.frames[i].motion[p].inter, encoded.frames[i].motion[p].inter) << what << " frame " << i;
    }
  }
}

}  // namespace c63::test
