// Any bytes decode to the same frames and the same Error where a device decodes them, which parses as a GPU does.

#include <memory>
#include <string>
#include <vector>

#include "c63/decoder.h"
#include "c63/error.h"
#include "fuzz_support.h"
#include "support/host_decode_backend.h"

namespace {

struct Outcome {
  std::vector<std::uint8_t> samples;
  std::string fault;
  bool operator==(const Outcome&) const = default;
};

Outcome decode_with(std::span<const std::uint8_t> stream, std::shared_ptr<c63::DecodeBackend> device) {
  c63::DecoderSettings settings{.execution = {.threads = 1}, .device = std::move(device)};
  settings.execution.limits.max_pixels = 128 * 128;
  settings.execution.limits.max_memory = 64 << 20;
  Outcome outcome;
  try {
    c63::Decoder(settings).decode_views(stream, [&](const c63::FrameView& view) {
      for (const auto& plane : view.picture) outcome.samples.insert(outcome.samples.end(), plane.begin(), plane.end());
    });
  } catch (const c63::Error& error) {
    outcome.fault = error.what();
  }
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span stream(data, size);
  c63::fuzz::require(decode_with(stream, std::make_shared<c63::test::HostDecodeBackend>(3)) == decode_with(stream, nullptr));
  return 0;
}
