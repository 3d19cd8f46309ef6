#pragma once

#include <map>
#include <string>
#include <string_view>

namespace c63::tools {

/// Replaces `open`NAME`close` in a text by the value of NAME, for every name in `values`. Other marks stay, and marks
/// within values are not replaced.
[[nodiscard]] std::string fill_in(std::string_view text, char open, char close,
                                  const std::map<std::string, std::string>& values);

}  // namespace c63::tools
