#pragma once

#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "c63/error.h"

namespace c63 {

/// Starts a thread. Throws Error (memory, C63-THREADS) where the system has none left.
template <typename Work>
[[nodiscard]] std::jthread start_thread(Work&& work) {
  try {
    return std::jthread(std::forward<Work>(work));
  } catch (const std::system_error& error) {
    throw Error(ErrorKind::memory, "C63-THREADS",
                "a thread cannot be started: " + error.code().message() + "; allow more threads, or ask for fewer (--threads)");
  }
}

}  // namespace c63
