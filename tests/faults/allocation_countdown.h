#pragma once

namespace c63::test {

/// From now on, makes call number `number` of this program's operator new throw std::bad_alloc, on any thread. If
/// `from_there_on` is true, all later calls throw, too. With 0, no call throws.
void fail_allocation(long number, bool from_there_on);

/// From now on no call fails.
void stop_failing();

/// The number of calls since fail_allocation().
[[nodiscard]] long allocations();

}  // namespace c63::test
