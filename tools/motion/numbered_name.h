#pragma once

#include <cstdint>
#include <string>

namespace c63::tools {

/// A file name, or a pattern that gives a name for each number. A pattern has one number format such as %d or %06d. %% is
/// a percent sign.
class NumberedName {
 public:
  /// Throws Error (usage, C63-OUTPUT-NAME) if the name has another %.
  explicit NumberedName(const std::string& name);

  [[nodiscard]] bool is_numbered() const { return is_numbered_; }
  [[nodiscard]] std::string of(std::int64_t number) const;

 private:
  bool is_numbered_ = false;
  std::string head_;
  std::string tail_;
  int digits_ = 0;
};

}  // namespace c63::tools
