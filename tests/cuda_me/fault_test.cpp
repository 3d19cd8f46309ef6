// Tests what happens if a device fails during an encode or a decode. Each test runs in a new process, because a device
// cannot be used after it has failed.

#include <algorithm>
#include <mutex>

#include "backend_test_support.h"
#include "c63/cuda/decoder.h"
#include "c63/error.h"
#include "backend/backend.h"

namespace c63::cuda {

/// Runs a kernel that writes to an invalid address. After that, this process can no longer use the current device.
void break_device();  // in break_device.cu

namespace {

constexpr std::int64_t kFaultAt = 7;

const EncoderSettings kSettings{.coding = {.width = 64, .height = 48, .key_interval = 5}, .execution = {.lanes = 1}};

/// Encodes a video on a device that fails. Exits with 0 if the encode ends with a device error that names the frame,
/// or, with the CPU as a fallback, with the right bytes.
[[noreturn]] void encode_on_a_breaking_device(bool with_fallback) {
  const test::Bytes video = test::moving_video(64, 48, 12);
  const test::Bytes expected = on_cpu(kSettings, video).stream();
  test::VideoSource source(video, 64, 48);
  source.offer([](std::int64_t index) -> std::span<const std::uint8_t> {  // called before a frame is read
    static std::once_flag broken;
    if (index == kFaultAt) std::call_once(broken, break_device);
    return {};
  });
  Encoded run;
  {
    Encoder encoder(kSettings, make_backend_factories());
    if (with_fallback) encoder.set_fallback(open_cpu_backend, [](const std::string&) {});
    run = test::encode_source(source, encoder);
  }
  const bool failed = run.error && run.error->kind() == ErrorKind::device && run.error->place().frame &&
                      *run.error->place().frame <= kFaultAt && run.stream().size() < expected.size();
  std::_Exit((with_fallback ? !run.error && run.stream() == expected : failed) ? 0 : 1);
}

class FaultTest : public BackendTest {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    BackendTest::SetUp();
  }
};

TEST_F(FaultTest, AFailingDeviceIsAnErrorWithTheFrame) {
  EXPECT_EXIT(encode_on_a_breaking_device(false), testing::ExitedWithCode(0), "");
}

TEST_F(FaultTest, WithAFallbackTheCpuFinishesWithTheSameBytes) {
  EXPECT_EXIT(encode_on_a_breaking_device(true), testing::ExitedWithCode(0), "");
}

/// Decodes on a device that fails. Exits with 0 if decoding ends with a device error and all frames before it are
/// right.
[[noreturn]] void decode_on_a_breaking_device() {
  const test::Bytes stream = on_cpu(kSettings, test::moving_video(64, 48, 400)).stream();
  const test::Bytes expected = decode(stream);
  DecoderSettings settings;
  settings.device = open_decoder();
  test::Bytes pictures;
  std::optional<Error> error;
  try {
    std::int64_t frames = 0;
    Decoder(settings).decode_views(stream, [&](const FrameView& view) {
      for (const auto& plane : view.picture) pictures.insert(pictures.end(), plane.begin(), plane.end());
      if (++frames == kFaultAt) break_device();
    });
  } catch (const Error& caught) {
    error = caught;
  }
  const bool told = error && error->kind() == ErrorKind::device && error->place().frame && *error->place().frame >= kFaultAt;
  const bool right = pictures.size() < expected.size() && std::equal(pictures.begin(), pictures.end(), expected.begin());
  std::_Exit(told && right ? 0 : 1);
}

TEST_F(FaultTest, ADeviceThatFailsToDecodeIsAnErrorWithTheFrame) {
  EXPECT_EXIT(decode_on_a_breaking_device(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace c63::cuda
