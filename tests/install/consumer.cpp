// Somebody else's program: encodes a few frames in memory, decodes them, and looks at all public headers on the way.

#include <c63/decoder.h>
#include <c63/encoder.h>
#include <c63/error.h>
#include <c63/motion.h>
#include <c63/picture.h>
#include <c63/quality.h>
#include <c63/settings.h>
#include <c63/version.h>

#include <cstdio>
#include <vector>

int main() {
  constexpr int kWidth = 64;
  constexpr int kHeight = 48;
  constexpr int kFrames = 3;
  std::vector<std::uint8_t> video(kFrames * c63::frame_bytes(kWidth, kHeight));
  for (std::size_t i = 0; i < video.size(); ++i) video[i] = static_cast<std::uint8_t>(i * i >> 5);

  const std::vector<std::uint8_t> stream = c63::encode(video, {.coding = {.width = kWidth, .height = kHeight}});
  const std::vector<std::uint8_t> decoded = c63::decode(stream);
  std::printf("%zu bytes, coded to %zu\n", video.size(), stream.size());
  if (decoded.size() != video.size() || stream.empty()) return 1;
  try {
    (void)c63::decode(video);
    return 1;
  } catch (const c63::Error& error) {
    return error.id() == "C63-NO-FRAME" ? 0 : 1;
  }
}
