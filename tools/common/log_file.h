#pragma once

#include <spdlog/sinks/base_sink.h>

#include <cstdint>
#include <mutex>
#include <string>

namespace c63::tools {

/// The file of --log-file. Lines are appended, with time stamps. Unlike spdlog's own file class it remembers a failed
/// write.
class LogFile : public spdlog::sinks::base_sink<std::mutex> {
 public:
  /// Opens the file. Throws Error (output, C63-LOG-FILE).
  explicit LogFile(const std::string& path);
  ~LogFile() override;

  /// Writes what is still buffered and closes the file. Later lines are dropped. Throws Error (output, C63-LOG-FILE) if
  /// anything could not be written.
  void finish();

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override;
  void flush_() override;

 private:
  void write_held() noexcept;

  std::string path_;
  int descriptor_ = -1;
  std::string held_;
  std::uint64_t written_ = 0;
  int fault_ = 0;  ///< errno of the first failed write; 0: none
};

}  // namespace c63::tools
