#pragma once

#include <spdlog/logger.h>

#include <string>

namespace c63::tools {

/// Completes an output that a signal has cut short. Returns true if an older file keeps its name; then it prints the
/// name of the new one. `Output` has commit() and commit_part().
template <typename Output>
bool commit_stopped(Output& output, const std::string& path, bool replaces, spdlog::logger& log) {
  if (replaces) {
    output.commit();
    return false;
  }
  const std::string part = output.commit_part();
  if (!part.empty()) log.warn("{} is the older file; what was written now is {} (--keep-partial replaces)", path, part);
  return !part.empty();
}

}  // namespace c63::tools
