#include "tools_test_support.h"

// Tests how programs start.

namespace c63::test {
namespace {

TEST(Start, NoProgramIsLinkedWithFfmpeg) {
  for (const std::string& program : {kGen, kDec, kPred, kEnc, kCmp, kFilter, kMv}) {
    const ProcessResult loaded = run({"/usr/bin/env", "LD_TRACE_LOADED_OBJECTS=1", program});
    if (loaded.out.find("libstdc++") == std::string::npos) GTEST_SKIP() << "the loader does not tell what it loads";
    EXPECT_EQ(loaded.out.find("libav"), std::string::npos) << program;
  }
}

}  // namespace
}  // namespace c63::test
