// A search that begins on the CPU and goes on with a device that becomes ready later.

#include "common/joining_search.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "c63/error.h"

namespace c63::tools {
namespace {

using std::chrono::milliseconds;

/// Counts the calls of a search.
struct Counted {
  std::shared_ptr<int> calls = std::make_shared<int>(0);
  void operator()(std::span<const MotionPair>, const MotionResults&) const { ++*calls; }
};

struct JoiningSearch : ::testing::Test {
  Counted cpu;
  Counted device;
  std::promise<void> driver;  ///< set: the driver has started
  std::vector<std::string> notes;

  std::shared_ptr<LateDevice<PairSearch>> late() {
    return std::make_shared<LateDevice<PairSearch>>([&]() -> PairSearch {
      driver.get_future().get();
      return device;
    });
  }
  PairSearch joining(const std::shared_ptr<LateDevice<PairSearch>>& late, milliseconds start) {
    return joining_search(cpu, late, "cuda:0", [&](const std::string& note) { notes.push_back(note); }, start);
  }
};

TEST_F(JoiningSearch, GoesOnWithTheDeviceFromWhenItIsReady) {
  const auto device_of = late();
  const PairSearch search = joining(device_of, milliseconds(0));
  search({}, {});
  search({}, {});
  EXPECT_EQ(*cpu.calls, 2);
  EXPECT_TRUE(device_of->is_starting());
  driver.set_value();
  ASSERT_TRUE(device_of->wait({}));
  for (int i = 0; i < 3; ++i) search({}, {});
  EXPECT_EQ(*cpu.calls, 2);
  EXPECT_EQ(*device.calls, 3);
  EXPECT_EQ(notes, std::vector<std::string>{"searching on cuda:0"});
}

TEST_F(JoiningSearch, ShortWorkDoesNotStartTheDevice) {
  const auto device_of = late();
  const PairSearch search = joining(device_of, milliseconds(1'000'000));
  for (int i = 0; i < 100; ++i) search({}, {});
  EXPECT_FALSE(device_of->is_starting());
  EXPECT_EQ(*cpu.calls, 100);
  EXPECT_TRUE(notes.empty());
}

TEST_F(JoiningSearch, StaysOnTheCpuIfTheDeviceFails) {
  const auto device_of = late();
  const PairSearch search = joining(device_of, milliseconds(0));
  search({}, {});
  driver.set_exception(std::make_exception_ptr(Error(ErrorKind::device, "C63-NO-GPU", "out of order")));
  EXPECT_THROW(static_cast<void>(device_of->wait({})), Error);
  search({}, {});
  search({}, {});
  EXPECT_EQ(*cpu.calls, 3);
  EXPECT_EQ(notes, std::vector<std::string>{"the search stays on the CPU: out of order"});
}

TEST_F(JoiningSearch, ADeviceThatWasStartedEarlierSearchesAtOnce) {
  const auto device_of = late();
  const PairSearch search = joining(device_of, milliseconds(1'000'000));
  device_of->begin();
  search({}, {});
  driver.set_value();
  ASSERT_TRUE(device_of->wait({}));
  search({}, {});
  EXPECT_EQ(*cpu.calls, 1);
  EXPECT_EQ(*device.calls, 1);
}

TEST_F(JoiningSearch, StaysOnTheCpuIfTheDevicesFirstSearchFails) {
  const auto failing = std::make_shared<LateDevice<PairSearch>>([]() -> PairSearch {
    return [](std::span<const MotionPair>, const MotionResults&) { throw Error(ErrorKind::memory, "C63-MEMORY", "full"); };
  });
  const PairSearch search = joining(failing, milliseconds(0));
  failing->begin();
  ASSERT_TRUE(failing->wait({}));
  search({}, {});
  search({}, {});
  EXPECT_EQ(*cpu.calls, 2);
  EXPECT_EQ(notes, std::vector<std::string>{"the search stays on the CPU: full"});
}

}  // namespace
}  // namespace c63::tools
