#pragma once

#include <map>
#include <string>
#include <string_view>

namespace c63::tools {

/// Replaces each `open`NAME`close` in a text by the value of NAME in `values`. Unknown names stay as they are. The
/// values themselves are not searched for names.
[[nodiscard]] std::string fill_in(std::string_view text, char open, char close,
                                  const std::map<std::string, std::string>& values);

}  // namespace c63::tools
