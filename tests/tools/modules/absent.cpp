// A library that is removed before the module that needs it is loaded.

extern "C" int c63_absent() { return 0; }
