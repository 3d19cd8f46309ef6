#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "c63/trace.h"
#include "common/log.h"
#include "files/output_file.h"

namespace c63::tools {

/// Returns lines that say where the time of a run went, such as "loop 352.1 ms: wait 91.2 %, write 4.5 %, read 4.1 %,
/// submit 0.2 %; 100.0 % named". The trace has rows of three kinds (loop, lanes, threads), and each line is about one
/// kind. 100 % is the number of rows of that kind times the length of the run. "named" is the share of this time that
/// has spans. The run begins after the opening, which is the loop's first span.
[[nodiscard]] std::vector<std::string> trace_lines(std::span<const TraceSpan> spans);

/// Records a run and writes the file of --trace. Does nothing if the path is empty.
class TraceFile {
 public:
  /// Uses at most an eighth of `max_memory`, in bytes. When that is full, later spans are dropped. Throws Error
  /// (output) if the file cannot be written.
  TraceFile(const std::string& path, Writing writing, std::uint64_t max_memory);

  [[nodiscard]] TraceSink* sink() { return file_ ? &recorder_ : nullptr; }
  /// Writes the trace, and logs where the time went.
  void commit(spdlog::logger& log);

 private:
  std::string path_;
  std::unique_ptr<OutputFile> file_;
  TraceRecorder recorder_;
};

}  // namespace c63::tools
