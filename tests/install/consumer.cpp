// A program of a user. It includes the public headers, encodes a few frames in memory and decodes them. Then it opens a
// picture that needs FFmpeg. Its argument is ON if c63 was built with FFmpeg, else OFF. C63_MODULES is the folder of
// modules that pkg-config names.

#include <c63/decoder.h>
#include <c63/encoder.h>
#include <c63/error.h>
#include <c63/frame_source.h>
#include <c63/media.h>
#include <c63/motion.h>
#include <c63/picture.h>
#include <c63/quality.h>
#include <c63/settings.h>
#include <c63/version.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#ifndef C63_MODULES
#define C63_MODULES ""
#endif

// Opens a picture that only FFmpeg can read. Returns true if the result is as expected: the picture is read if
// `expected` is true, and is refused for lack of FFmpeg otherwise.
static bool reads_picture(bool expected) {
  std::FILE* file = std::fopen("picture.ppm", "wb");
  if (file == nullptr) return false;
  std::fputs(("P6\n16 16\n255\n" + std::string(16 * 16 * 3, 'x')).c_str(), file);
  std::fclose(file);
  c63::keep_media_messages();
  try {
    const auto source = c63::open_frame_source({.path = "picture.ppm", .module_folder = C63_MODULES});
    return expected && source->format().width == 16;
  } catch (const c63::Error& error) {
    std::printf("%s\n", error.what());
    return !expected && error.id() == "C63-NO-FFMPEG";
  }
}

int main(int count, char** arguments) {
  if (count != 2 || !reads_picture(std::strcmp(arguments[1], "ON") == 0)) return 1;
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
