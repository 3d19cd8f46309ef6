// A library that is gone when the module that needs it is loaded.

extern "C" int c63_absent() { return 0; }
