#pragma once

namespace c63::test {

/// Of this test program's operator new, on all threads: call `number` from now on throws std::bad_alloc, with
/// `from_there_on` all after it, too; 0: none.
void fail_allocation(long number, bool from_there_on);

/// No call fails any more.
void stop_failing();

/// Calls since fail_allocation().
[[nodiscard]] long allocations();

}  // namespace c63::test
