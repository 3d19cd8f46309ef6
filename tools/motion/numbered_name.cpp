#include "motion/numbered_name.h"

#include <fmt/format.h>

#include "c63/error.h"

namespace c63::tools {

NumberedName::NumberedName(const std::string& name) {
  for (std::size_t at = 0; at < name.size(); ++at) {
    std::string& part = is_numbered_ ? tail_ : head_;
    if (name[at] != '%' || name.substr(at, 2) == "%%") {
      part += name[at];
      if (name[at] == '%') ++at;
      continue;
    }
    ++at;
    if (at < name.size() && name[at] == '0') ++at;
    if (at < name.size() && name[at] >= '1' && name[at] <= '9') digits_ = name[at++] - '0';
    if (at >= name.size() || name[at] != 'd' || is_numbered_) {
      throw Error(ErrorKind::usage, "C63-OUTPUT-NAME",
                  "'" + name + "': the place of the frame's number is one %d, or %06d for six digits; %% is a %");
    }
    is_numbered_ = true;
  }
}

std::string NumberedName::of(std::int64_t number) const {
  return is_numbered_ ? fmt::format("{}{:0{}}{}", head_, number, digits_, tail_) : head_;
}

}  // namespace c63::tools
