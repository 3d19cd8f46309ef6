#include "common/notices.h"

#include <spdlog/logger.h>

namespace c63::tools {

void Notices::begin() {
  const std::scoped_lock lock(mutex_);
  begun_ = true;
  for (const auto& [line, warning] : std::exchange(held_, {})) say(line, warning);
}

std::string Notices::held_warning() {
  const std::scoped_lock lock(mutex_);
  for (const auto& [line, warning] : held_) {
    if (warning) return line;
  }
  return {};
}

void Notices::add(const std::string& line, bool warning) {
  const std::scoped_lock lock(mutex_);
  if (!known_.insert(line).second) return;
  if (begun_) {
    say(line, warning);
  } else {
    held_.emplace_back(line, warning);
  }
}

void Notices::say(const std::string& line, bool warning) const {
  warning ? log_->warn("{}", line) : log_->info("{}", line);
}

}  // namespace c63::tools
