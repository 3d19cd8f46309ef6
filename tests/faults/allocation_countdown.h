#pragma once

namespace c63::test {

/// The calls that can be made to fail: operator new throws std::bad_alloc, pthread_create() returns EAGAIN.
enum class Call { allocation, thread };

/// Makes call `number` of this kind fail. Calls of all threads of the program are counted, from now on. If
/// `from_there_on` is true, all later calls fail, too. If `number` is 0, no call fails.
void fail_call(Call call, long number, bool from_there_on);

/// Ends what fail_call() began: no call fails any more.
void stop_failing();

/// The number of calls of that kind since fail_call().
[[nodiscard]] long calls();

}  // namespace c63::test
