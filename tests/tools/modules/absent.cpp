// A library that the module of incomplete.cpp needs. The module does not contain its path, so the loader does not find
// it.

extern "C" int c63_absent() { return 0; }
