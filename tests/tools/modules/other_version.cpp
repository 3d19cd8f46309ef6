// A module that looks like libc63_ffmpeg.so, but says that it belongs to another version of c63. So c63 must refuse it.

extern "C" const void* c63_media_module(const char* /*wanted*/, const char** has) {
  *has = "0.9.0, interface 0";
  return nullptr;
}
