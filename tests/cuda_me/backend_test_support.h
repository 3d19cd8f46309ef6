#pragma once

#include <gtest/gtest.h>

#include <string>

#include "c63/cuda/backend.h"
#include "c63/cuda/devices.h"
#include "c63/encoder.h"
#include "support/sources.h"

namespace c63::cuda {

/// Skips, with the reason, where there is no GPU.
class BackendTest : public testing::Test {
 protected:
  void SetUp() override {
    const DeviceList& list = devices();
    if (list.state != DeviceState::usable) GTEST_SKIP() << name(list.state) << ": " << list.reason;
  }
};

/// All that an encoder handed out.
struct Encoded {
  std::vector<EncodedFrame> frames;
  EncodeSummary summary;

  [[nodiscard]] test::Bytes stream() const {
    test::Bytes all;
    for (const EncodedFrame& frame : frames) all.insert(all.end(), frame.bytes.begin(), frame.bytes.end());
    return all;
  }
};

inline Encoded encode_with(Encoder&& encoder, const test::Bytes& video, test::VideoSource::Kind kind) {
  test::VideoSource source(video, encoder.settings().coding.width, encoder.settings().coding.height, kind);
  Encoded run;
  run.summary = encoder.encode(source, [&](EncodedFrame&& frame) { run.frames.push_back(std::move(frame)); });
  return run;
}

inline Encoded on_cpu(const EncoderSettings& settings, const test::Bytes& video) {
  return encode_with(Encoder(settings), video, test::VideoSource::Kind::file);
}

inline Encoded on_gpu(const EncoderSettings& settings, const test::Bytes& video, const CudaBackendOptions& options = {},
                      test::VideoSource::Kind kind = test::VideoSource::Kind::file) {
  return encode_with(Encoder(settings, make_backend_factories(options)), video, kind);
}

/// Where two streams part, for messages; they are compared whole.
inline testing::AssertionResult same_bytes(const test::Bytes& a, const test::Bytes& b) {
  const auto [x, y] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (x == a.end() && y == b.end()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "sizes " << a.size() << " and " << b.size() << ", first difference at byte "
                                     << (x - a.begin());
}

}  // namespace c63::cuda
