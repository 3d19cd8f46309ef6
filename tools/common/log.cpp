#include "common/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "c63/error.h"
#include "common/log_file.h"

namespace c63::tools {
namespace {

class ConsoleSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit ConsoleSink(std::shared_ptr<Console> console) : console_(std::move(console)) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    std::string line;
    if (message.logger_name.size() > 0)
      line = std::string(message.logger_name.data(), message.logger_name.size()) + ": ";
    if (message.level == spdlog::level::warn) line += "warning: ";
    line.append(message.payload.data(), message.payload.size());
    console_->line(one_line(std::move(line)));
  }
  void flush_() override {}

 private:
  std::shared_ptr<Console> console_;
};

/// spdlog calls this if it cannot log a line, for example for lack of memory. Its default would print a second line, but an
/// error must be one line.
void drop_line(const std::string&) {}

}  // namespace

std::shared_ptr<spdlog::logger> make_log(const std::string& program, const std::shared_ptr<Console>& console,
                                         const LogSettings& settings) {
  std::vector<spdlog::sink_ptr> sinks;
  sinks.push_back(std::make_shared<ConsoleSink>(console));
  const auto level = spdlog::level::from_str(settings.level);
  sinks.back()->set_level(level);
  if (!settings.file.empty()) {
    sinks.push_back(std::make_shared<LogFile>(settings.file));
    sinks.back()->set_level(spdlog::level::debug);
  }
  auto log = std::make_shared<spdlog::logger>(program, sinks.begin(), sinks.end());
  log->set_level(settings.file.empty() ? level : std::min(level, spdlog::level::debug));
  log->flush_on(spdlog::level::warn);
  log->set_error_handler(drop_line);
  return log;
}

std::shared_ptr<spdlog::logger> make_plain_log(const spdlog::logger& log) {
  auto plain = std::make_shared<spdlog::logger>("", log.sinks().begin(), log.sinks().end());
  plain->set_level(log.level());
  plain->set_error_handler(drop_line);
  return plain;
}

void finish_log(const spdlog::logger& log) {
  for (const spdlog::sink_ptr& sink : log.sinks()) {
    if (auto* file = dynamic_cast<LogFile*>(sink.get())) file->finish();
  }
}

}  // namespace c63::tools
