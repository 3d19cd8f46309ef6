// Tests how a program sets environment variables for the CUDA driver. Needs neither a driver nor a GPU.

#include "common/backends.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <string>

namespace c63::tools {
namespace {

/// Gives an environment variable its value back at the end of a test.
class Variable {
 public:
  explicit Variable(const char* name) : name_(name), before_(value()) { unsetenv(name); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { before_ ? set(*before_) : static_cast<void>(unsetenv(name_)); }
  void set(const std::string& value) const { setenv(name_, value.c_str(), 1); }
  [[nodiscard]] std::optional<std::string> value() const {
    const char* const value = std::getenv(name_);
    return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
  }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST(CudaEnvironment, ShowsOnlyTheDevicesAskedFor) {
  const Variable visible("CUDA_VISIBLE_DEVICES");
  EXPECT_TRUE(show_only_devices(std::array{1, 3}));
  EXPECT_EQ(visible.value(), "1,3");
  visible.set("4,GPU-5d5b,7");  // numbers count visible GPUs, however they are named
  EXPECT_TRUE(show_only_devices(std::array{2, 1}));
  EXPECT_EQ(visible.value(), "7,GPU-5d5b");
}

TEST(CudaEnvironment, HidesNothingIfADeviceIsMissing) {
  const Variable visible("CUDA_VISIBLE_DEVICES");
  visible.set("2,3");
  EXPECT_FALSE(show_only_devices(std::array{0, 2}));
  EXPECT_EQ(visible.value(), "2,3");
  visible.set("");  // the user hides all GPUs
  EXPECT_FALSE(show_only_devices(std::array{0}));
  EXPECT_EQ(visible.value(), "");
}

TEST(CudaEnvironment, QueuesThatTheUserChoseStay) {
  const Variable queues("CUDA_DEVICE_MAX_CONNECTIONS");
  ask_for_queues(2);
  EXPECT_EQ(queues.value(), "2");
  queues.set("5");
  ask_for_queues(1);
  EXPECT_EQ(queues.value(), "5");
}

}  // namespace
}  // namespace c63::tools
