// The entry function of the module for FFmpeg. The library calls it as io/media_module.h describes.

#include "ffmpeg/module.h"

#include <string>

#include "ffmpeg/av_watch.h"

extern "C" __attribute__((visibility("default"))) const c63::MediaModule* c63_media_module(const char* wanted,
                                                                                           const char** has) {
  static const std::string version = c63::media_version();
  static const c63::MediaModule module = {&c63::open_av_source, &c63::encode_picture, &c63::AvWatch::keep_messages,
                                          &c63::AvWatch::limit_allocations};
  *has = version.c_str();
  return version == wanted ? &module : nullptr;
}
