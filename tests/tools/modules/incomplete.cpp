// A module that needs a library which is missing.

extern "C" int c63_absent();

extern "C" const void* c63_media_module(const char* /*wanted*/, const char** /*has*/) {
  c63_absent();
  return nullptr;
}
