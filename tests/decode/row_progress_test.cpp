#include "decode/row_progress.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace c63::test::row_progress_test {
namespace {

using Clock = std::chrono::steady_clock;

struct CountingWaiter final : RowProgress::Waiter {
  void resume() noexcept override { ++resumed; }
  std::atomic<int> resumed = 0;
};

TEST(RowProgress, NoThreadSpinsForRowsThatNoTaskDecodes) {
  RowProgress progress;
  progress.begin();
  const auto start = Clock::now();
  for (int i = 0; i < 10000; ++i) EXPECT_FALSE(progress.spin_for(1));
  EXPECT_LT(Clock::now() - start, std::chrono::milliseconds(500));  // 10,000 spins of full length would take a second
}

TEST(RowProgress, SpinningEndsWhenNoRowComes) {
  RowProgress progress;
  progress.begin();
  progress.set_advancing(true);
  EXPECT_FALSE(progress.spin_for(1));
  progress.reach(1);
  EXPECT_TRUE(progress.spin_for(1));
  EXPECT_FALSE(progress.spin_for(2));
  progress.set_advancing(false);
  progress.begin();
  EXPECT_FALSE(progress.spin_for(1));
}

TEST(RowProgress, FinishedRowsAreSeenOrReported) {
  for (int round = 0; round < 50; ++round) {
    RowProgress progress;
    progress.begin();
    progress.set_advancing(true);
    CountingWaiter waiter;
    std::jthread decoder([&] {
      for (int row = 1; row <= 8; ++row) progress.reach(row);
    });
    int told = 0;
    for (int row = 1; row <= 8; ++row) {
      if (progress.spin_for(row) || progress.wait_for(row, row, waiter)) continue;
      ++told;
      while (waiter.resumed < told) std::this_thread::yield();
      EXPECT_TRUE(progress.has(row));
    }
    EXPECT_EQ(waiter.resumed, told);
  }
}

TEST(RowProgress, AFailureEndsEveryWait) {
  RowProgress progress;
  progress.begin();
  CountingWaiter waiter;
  EXPECT_FALSE(progress.wait_for(3, 5, waiter));
  progress.reach(4);
  EXPECT_EQ(waiter.resumed, 0);
  progress.fail();
  EXPECT_EQ(waiter.resumed, 1);
  EXPECT_TRUE(progress.failed());
  EXPECT_TRUE(progress.spin_for(1000));
}

}  // namespace
}  // namespace c63::test::row_progress_test
