#pragma once

#include <system_error>
#include <thread>
#include <utility>

#include "c63/error.h"

namespace c63 {

/// Starts a thread. Throws Error (limit, C63-THREADS) if the system cannot start more threads.
template <typename Work>
[[nodiscard]] std::jthread start_thread(Work&& work) {
  try {
    return std::jthread(std::forward<Work>(work));
  } catch (const std::system_error& error) {
    throw Error(ErrorKind::limit, "C63-THREADS", "cannot start a thread: " + error.code().message());
  }
}

}  // namespace c63
