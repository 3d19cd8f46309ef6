// With --sync, a program puts its output on the disk in this order: the bytes of the file, its final name, the folder.
// Only then does it report success.

#include <algorithm>
#include <string>
#include <vector>

#include "tools_test_support.h"

namespace c63::test {
namespace {

class Sync : public ToolsTest {
 protected:
  /// Runs c63gen with these options and returns its calls that concern files, in order.
  [[nodiscard]] std::vector<std::string> calls_of(const std::vector<std::string>& options) const {
    const std::string trace = path("trace");
    const ProcessResult result = run(joined({"/usr/bin/env", "LD_PRELOAD=" C63_FAULT_SHIM, "C63_FAULT_TRACE=" + trace,
                                        kGen, "-w", "32", "-h", "32", "-f", "2"}, options));
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::ifstream file(trace);
    std::vector<std::string> calls;
    for (std::string line; std::getline(file, line);) calls.push_back(line);
    return calls;
  }
};

TEST_F(Sync, BytesThenNameThenFolderThenMessage) {
  const std::string target = path("out.yuv");
  const auto calls = calls_of({"--sync", "-o", target});
  const std::string folder = std::filesystem::path(target).parent_path().string();
  // These calls must occur in this order.
  const std::vector<std::string> order = {"open " + target + ".part-", "write " + target + ".part-", "fsync " + target + ".part-",
                                          "close " + target + ".part-", "rename " + target, "open " + folder,
                                          "fsync " + folder, "write pipe:"};
  auto at = calls.begin();
  for (const std::string& step : order) {
    at = std::find_if(at, calls.end(), [&](const std::string& call) { return call.starts_with(step); });
    ASSERT_NE(at, calls.end()) << "no \"" << step << "\" in its place";
    ++at;
  }
  // After fsync(), no more bytes are written to the file.
  const auto synced = std::find_if(calls.begin(), calls.end(), [](const std::string& c) { return c.starts_with("fsync "); });
  EXPECT_TRUE(std::none_of(synced, calls.end(), [&](const std::string& c) { return c.starts_with("write " + target); }));
}

TEST_F(Sync, IsLeftOutUnlessAskedFor) {
  const auto calls = calls_of({"-o", path("out.yuv")});
  EXPECT_FALSE(calls.empty());
  EXPECT_TRUE(std::none_of(calls.begin(), calls.end(), [](const std::string& c) { return c.starts_with("fsync "); }));
}

}  // namespace
}  // namespace c63::test
