#pragma once

#include <spdlog/logger.h>

#include <string>

namespace c63::tools {

/// Completes an output that a signal has cut short, and returns the name of its file. If `replaces`, the output
/// replaces any older file at `path`. Otherwise an older file at `path` stays, and the new file gets another name,
/// which is logged. `Output` has commit() and commit_part().
template <typename Output>
std::string commit_stopped(Output& output, const std::string& path, bool replaces, spdlog::logger& log) {
  if (replaces) {
    output.commit();
    return path;
  }
  std::string part = output.commit_part();
  if (part.empty()) return path;
  log.warn("{} is still the older file; the incomplete new one is {} (--keep-partial replaces the older file)", path,
           part);
  return part;
}

}  // namespace c63::tools
