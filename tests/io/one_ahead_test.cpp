// A thread that does one piece of work ahead of its caller.

#include "io/one_ahead.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <stdexcept>

namespace c63 {
namespace {

TEST(OneAhead, WorksOnceForEachBegin) {
  int calls = 0;  // not atomic: end() must make it visible
  OneAhead ahead([&] { ++calls; });
  ahead.end();
  EXPECT_EQ(calls, 0);
  for (int i = 1; i <= 1000; ++i) {
    ahead.begin();
    ahead.end();
    ASSERT_EQ(calls, i);
    ahead.end();
  }
}

TEST(OneAhead, TheCallerGoesOnWhileItWorks) {
  std::promise<void> may_end;
  std::atomic<bool> is_done = false;
  OneAhead ahead([&] {
    may_end.get_future().get();
    is_done = true;
  });
  ahead.begin();
  EXPECT_FALSE(is_done);
  may_end.set_value();
  ahead.end();
  EXPECT_TRUE(is_done);
}

TEST(OneAhead, AnExceptionComesFromTheNextEndOnly) {
  bool throws = true;
  OneAhead ahead([&] {
    if (throws) throw std::runtime_error("broken");
  });
  ahead.begin();
  EXPECT_THROW(ahead.end(), std::runtime_error);
  throws = false;
  ahead.begin();
  EXPECT_NO_THROW(ahead.end());
}

TEST(OneAhead, TheDestructorWaitsForTheWork) {
  for (int i = 0; i < 100; ++i) {
    std::atomic<bool> is_done = false;
    {
      OneAhead ahead([&] { is_done = true; });
      ahead.begin();
    }
    EXPECT_TRUE(is_done);
  }
}

}  // namespace
}  // namespace c63
