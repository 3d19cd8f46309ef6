#include "motion/numbered_name.h"

#include <fmt/format.h>

#include "c63/error.h"

namespace c63::tools {

NumberedName::NumberedName(const std::string& name) : head_(name) {
  const auto percent = name.find('%');
  if (percent == std::string::npos) return;
  std::size_t at = percent + 1;
  if (at < name.size() && name[at] == '0') ++at;
  if (at < name.size() && name[at] >= '1' && name[at] <= '9') digits_ = name[at++] - '0';
  if (at >= name.size() || name[at] != 'd' || name.find('%', at) != std::string::npos) {
    throw Error(ErrorKind::usage, "C63-OUTPUT-NAME",
                "'" + name + "': the place of the frame's number is one %d, or %06d for six digits");
  }
  is_numbered_ = true;
  head_ = name.substr(0, percent);
  tail_ = name.substr(at + 1);
}

std::string NumberedName::of(std::int64_t number) const {
  return is_numbered_ ? fmt::format("{}{:0{}}{}", head_, number, digits_, tail_) : head_;
}

}  // namespace c63::tools
