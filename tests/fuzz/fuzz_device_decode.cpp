// Tests the entropy decoder of GPUs on the host. Any bytes are taken as a scan: the decoder of the CPU and that of GPUs
// must read the same from it. If the bytes begin like a frame, they are also taken as a stream. Decoding it on a device
// must give the same frames and the same Error as on the CPU.

#include <algorithm>
#include <memory>
#include <vector>

#include "bitstream/entropy_decoder.h"
#include "fuzz_support.h"
#include "support/host_decode_backend.h"

namespace {

using c63::fuzz::Outcome;

Outcome decode_with(std::span<const std::uint8_t> stream, std::shared_ptr<c63::DecodeBackend> device) {
  const auto settings = c63::fuzz::limited({.execution = {.threads = 1}, .device = std::move(device)});
  return c63::fuzz::outcome_of([&](Outcome& outcome) {
    c63::Decoder(settings).decode_views(stream, [&](const c63::FrameView& view) {
      for (const auto& plane : view.picture) outcome.add(plane);
    });
  });
}

/// Decodes a scan with the CPU's decoder and the GPU's, and compares. The first byte gives the size of the picture and
/// says whether it is a key frame. The scan follows.
void parse_both_ways(std::span<const std::uint8_t> bytes) {
  const c63::Geometry geometry(16 * (1 + (bytes[0] & 3)), 16 * (1 + (bytes[0] >> 2 & 3)));
  const bool key = (bytes[0] & 16) != 0;
  const std::span<const std::uint8_t> scan = bytes.subspan(1);
  c63::FrameSyntax expected(geometry);
  bool fine = true;
  try {
    std::vector<std::uint8_t> scratch;
    c63::decode_scan({.key = key, .geometry = geometry, .scan = scan}, expected, scratch);
  } catch (const c63::Error&) {
    fine = false;
  }
  c63::FrameSyntax syntax;
  c63::fuzz::require(c63::test::parse_on_host(geometry, key, scan, syntax) == fine);
  if (!fine) return;
  for (int p = 0; p < c63::kPlanes; ++p) {
    c63::fuzz::require(syntax.planes[p].levels == expected.planes[p].levels);
    c63::fuzz::require(syntax.planes[p].vectors == expected.planes[p].vectors);
    c63::fuzz::require(syntax.planes[p].uses_vector == expected.planes[p].uses_vector);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span bytes(data, size);
  if (bytes.empty()) return 0;
  parse_both_ways(bytes);
  constexpr std::uint8_t kStart[] = {0xFF, 0xD8};
  if (size > 2 && std::equal(std::begin(kStart), std::end(kStart), data)) {
    c63::fuzz::require(decode_with(bytes, std::make_shared<c63::test::HostDecodeBackend>(3)) == decode_with(bytes, nullptr));
  }
  return 0;
}
