// Tests which thread runs a posted task. If one of the library's own threads waits, that thread must run it.

#include "threads/work_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace c63::test::work_threads_test {
namespace {

struct Question {
  WorkThreads& threads;
  std::atomic<bool> hands_on = true;
  std::atomic<bool> answered = false;
};

TEST(WorkThreads, TasksAreHandedToAWaitingOwnThread) {
  ThreadArena arena(2);
  WorkThreads threads(arena, 1);
  while (!threads.should_yield()) std::this_thread::yield();  // until the library's own thread waits

  Question question{threads};
  threads.post({[](void* object, std::size_t) noexcept {
                  auto& asked = *static_cast<Question*>(object);
                  asked.hands_on = asked.threads.should_yield();
                  asked.answered = true;
                  asked.answered.notify_one();
                },
                &question, 0});
  question.answered.wait(false);
  EXPECT_FALSE(question.hands_on) << "an own thread was woken for it";
}

}  // namespace
}  // namespace c63::test::work_threads_test
