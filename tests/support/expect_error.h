#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>

#include "c63/error.h"

namespace c63::test {

/// Runs `action`, expects that it throws an Error of this kind and id, and returns the error. `check` may check more of it.
inline std::optional<Error> expect_error(ErrorKind kind, const std::string& id, const std::function<void()>& action,
                                         const std::function<void(const Error&)>& check = {}) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_EQ(error.id(), id) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    if (check) check(error);
    return error;
  }
  ADD_FAILURE() << "no error, " << id << " was expected";
  return std::nullopt;
}

}  // namespace c63::test
