#pragma once

namespace c63::test {

/// Makes call `number` of operator new fail with std::bad_alloc. Calls of all threads of the program are counted, from
/// now on. If `from_there_on` is true, all later calls fail, too. If `number` is 0, no call fails.
void fail_allocation(long number, bool from_there_on);

/// Ends what fail_allocation() began: no call fails any more.
void stop_failing();

/// The number of calls of operator new since fail_allocation().
[[nodiscard]] long allocations();

}  // namespace c63::test
