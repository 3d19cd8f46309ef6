#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "c63/trace.h"
#include "common/log.h"
#include "io/output_file.h"

namespace c63::tools {

/// Where the time of a run went, a line for each kind of row that does something all the time:
/// "loop 352.1 ms: wait 91.2 %, write 4.5 %, read 4.1 %, submit 0.2 %; 100.0 % named". Shares are of the run, which is
/// what the loop's row shows behind its first span (opening), times the number of rows.
[[nodiscard]] std::vector<std::string> trace_lines(std::span<const TraceSpan> spans);

/// What --trace names: records a run and writes what was recorded. Does nothing where no file is named.
class TraceFile {
 public:
  /// Takes an eighth of `max_memory` at most; spans after that are dropped. Throws Error (output) where the file cannot be
  /// written.
  TraceFile(const std::string& path, Durability durability, std::uint64_t max_memory);

  [[nodiscard]] TraceSink* sink() { return file_ ? &recorder_ : nullptr; }
  /// Writes the trace and tells where the time went.
  void commit(spdlog::logger& log);

 private:
  std::string path_;
  std::unique_ptr<OutputFile> file_;
  TraceRecorder recorder_;
};

}  // namespace c63::tools
