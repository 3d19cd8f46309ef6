// Looks to c63 like a libc63_ffmpeg.so of another version.

extern "C" const void* c63_media_module(const char* /*wanted*/, const char** has) {
  *has = "0.9.0, interface 0";
  return nullptr;
}
