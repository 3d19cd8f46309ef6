#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>

#include "c63/error.h"

namespace c63::test {

/// Returns the Error that `action` throws; nothing if it throws none.
template <typename Action>
[[nodiscard]] std::optional<Error> error_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

/// Returns the id of the Error that `action` throws; "" if it throws none.
template <typename Action>
[[nodiscard]] std::string error_id(const Action& action) {
  const auto error = error_of(action);
  return error ? error->id() : "";
}

/// Runs `action`, expects that it throws an Error of this kind and id, and returns the error. `check` may check more of it.
inline std::optional<Error> expect_error(ErrorKind kind, const std::string& id, const std::function<void()>& action,
                                         const std::function<void(const Error&)>& check = {}) {
  const auto error = error_of(action);
  if (!error) {
    ADD_FAILURE() << "no error, " << id << " was expected";
    return error;
  }
  EXPECT_EQ(error->kind(), kind) << error->what();
  EXPECT_EQ(error->id(), id) << error->what();
  EXPECT_EQ(std::string(error->what()).find('\n'), std::string::npos) << error->what();
  if (check) check(*error);
  return error;
}

}  // namespace c63::test
