// Tests the pool: which thread does what, and that loops end in every order of events.

#include "c63/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <stdexcept>
#include <thread>
#include <vector>

namespace c63::test::thread_pool_test {
namespace {

struct Numbered : ThreadPool::Task {
  std::vector<int>* order = nullptr;
  std::latch* left = nullptr;
  int number = 0;
};

TEST(ThreadPool, RunsTasksInTheOrderInWhichTheyWerePosted) {
  constexpr int kTasks = 100;
  std::vector<int> order;
  std::latch left(kTasks);
  std::vector<Numbered> tasks(kTasks);
  ThreadPool pool(1);
  for (int i = 0; i < kTasks; ++i) {
    tasks[static_cast<std::size_t>(i)].order = &order;
    tasks[static_cast<std::size_t>(i)].left = &left;
    tasks[static_cast<std::size_t>(i)].number = i;
    tasks[static_cast<std::size_t>(i)].run = [](ThreadPool::Task& task) noexcept {
      const auto& self = static_cast<Numbered&>(task);
      self.order->push_back(self.number);
      self.left->count_down();
    };
    pool.post(tasks[static_cast<std::size_t>(i)]);
  }
  left.wait();
  for (int i = 0; i < kTasks; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

// Each body waits until all have begun, so the loop ends only if that many threads take part.
TEST(ThreadPool, AllThreadsTakePartInALoop) {
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    for (int i = 0; i < 20; ++i) {
      std::latch begun(threads);
      pool.execute([&] { parallel_for(threads, [&](int) { begun.arrive_and_wait(); }); });
    }
  }
}

TEST(ThreadPool, NoMoreThreadsThanItHasTakePart) {
  ThreadPool pool(3);
  std::atomic<int> now = 0;
  std::atomic<int> most = 0;
  pool.execute([&] {
    EXPECT_EQ(&ThreadPool::current(), &pool);
    parallel_for(200, [&](int) {
      EXPECT_EQ(&ThreadPool::current(), &pool);
      const int inside = ++now;
      for (int seen = most; seen < inside && !most.compare_exchange_weak(seen, inside);) {
      }
      std::this_thread::sleep_for(std::chrono::microseconds(50));
      --now;
    });
  });
  EXPECT_LE(most, 3);
  EXPECT_NE(&ThreadPool::current(), &pool);
}

TEST(ThreadPool, LoopsInLoopsDoEachCallOnce) {
  ThreadPool pool(4);
  std::vector<std::atomic<int>> calls(30 * 40);
  pool.execute([&] {
    for (int round = 0; round < 50; ++round) {
      parallel_for(30, [&](int outer) {
        parallel_for(40, [&](int inner) { ++calls[static_cast<std::size_t>(outer * 40 + inner)]; });
      });
    }
    std::vector<std::atomic<int>> covered(1001);
    parallel_ranges(covered.size(), 10, [&](std::size_t begin, std::size_t end) {
      EXPECT_GE(end - begin, 10U);
      for (std::size_t i = begin; i < end; ++i) ++covered[i];
    });
    for (const auto& count : covered) EXPECT_EQ(count, 1);
  });
  for (const auto& count : calls) EXPECT_EQ(count, 50);
}

TEST(ThreadPool, AnExceptionEndsTheLoopAndReachesItsCaller) {
  ThreadPool pool(3);
  for (const int thrower : {0, 7, 99}) {
    std::atomic<int> calls = 0;
    EXPECT_THROW(pool.execute([&] {
      parallel_for(100, [&](int i) {
        ++calls;
        if (i == thrower) throw std::runtime_error("");
      });
    }),
                 std::runtime_error);
    EXPECT_GT(calls, thrower == 0 ? 0 : thrower);
  }
}

}  // namespace
}  // namespace c63::test::thread_pool_test
