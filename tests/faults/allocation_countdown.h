#pragma once

namespace c63::test {

/// Makes call `number` from now of this program's operator new throw std::bad_alloc, on any thread. With
/// `from_there_on` all later calls throw, too. 0: no call throws.
void fail_allocation(long number, bool from_there_on);

/// From now on no call fails.
void stop_failing();

/// Number of calls since fail_allocation().
[[nodiscard]] long allocations();

}  // namespace c63::test
