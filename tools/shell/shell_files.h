#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace c63::tools {

/// Returns the manual page (troff, section 1) of a program. `program` is its option tree as `--describe-options` prints
/// it.
[[nodiscard]] std::string man_page(const nlohmann::ordered_json& program, const std::string& version,
                                   const std::vector<std::string>& others);

/// Returns the bash completion script of a program from its option tree. zsh can read it through bashcompinit.
[[nodiscard]] std::string bash_completion(const nlohmann::ordered_json& program);

}  // namespace c63::tools
