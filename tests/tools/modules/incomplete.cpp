// A module that cannot be loaded, because the loader does not find the library that it needs (absent.cpp).

extern "C" int c63_absent();

extern "C" const void* c63_media_module(const char* /*wanted*/, const char** /*has*/) {
  c63_absent();
  return nullptr;
}
