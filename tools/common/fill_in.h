#pragma once

#include <map>
#include <string>
#include <string_view>

namespace c63::tools {

/// Text with `open`NAME`close` replaced by its value for every name of `values`; other marks stay, and values are not
/// looked into.
[[nodiscard]] std::string fill_in(std::string_view text, char open, char close,
                                  const std::map<std::string, std::string>& values);

}  // namespace c63::tools
