#include "common/log.h"

#include <fcntl.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "c63/error.h"
#include "files/write_descriptor.h"
#include "io/descriptor.h"

namespace c63::tools {
namespace {

constexpr std::string_view kEraseLine = "\r\x1b[K";

}  // namespace

Console::Console(int fd) : fd_(fd), terminal_(isatty(fd) == 1) {}

Console::~Console() { clear_status(); }

void Console::line(std::string_view text) {
  const std::scoped_lock lock(mutex_);
  std::string out;
  if (!status_.empty()) out += kEraseLine;
  out += text;
  out += '\n';
  out += status_;
  write(out);
}

void Console::status(std::string_view text) {
  if (!terminal_) return;
  const std::scoped_lock lock(mutex_);
  status_ = text;
  write(std::string(kEraseLine) + status_);
}

void Console::clear_status() {
  const std::scoped_lock lock(mutex_);
  if (status_.empty()) return;
  status_.clear();
  write(kEraseLine);
}

void Console::write(std::string_view text) const {
  // An error is ignored: if standard error is closed, there is no other way to tell the user. Data goes to other files,
  // and the code that writes them checks for errors.
  std::uint64_t written = 0;
  static_cast<void>(write_all(fd_, bytes_of(text), written));
}

LogFile::LogFile(const std::string& path) : path_(path) {
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666);
  if (descriptor_ < 0) throw system_fault(ErrorKind::output, "C63-LOG-FILE", "cannot open the log", errno, {.file = path_});
}

LogFile::~LogFile() {
  if (descriptor_ < 0) return;
  write_held();
  ::close(descriptor_);
}

void LogFile::finish() {
  const std::lock_guard lock(mutex_);
  if (descriptor_ >= 0) {
    write_held();
    if (::close(descriptor_) != 0 && fault_ == 0) fault_ = errno;
    descriptor_ = -1;
  }
  if (fault_ == 0) return;
  throw system_fault(ErrorKind::output, "C63-LOG-FILE", "the log is not complete", fault_, {.file = path_});
}

void LogFile::sink_it_(const spdlog::details::log_msg& message) {
  constexpr std::size_t kHeld = 64 << 10;
  if (descriptor_ < 0) return;
  try {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    held_.append(line.data(), line.size());
  } catch (const std::bad_alloc&) {
    if (fault_ == 0) fault_ = ENOMEM;
  }
  if (held_.size() >= kHeld) write_held();
}

void LogFile::flush_() {
  if (descriptor_ >= 0) write_held();
}

void LogFile::write_held() noexcept {
  const int fault = write_all(descriptor_, bytes_of(held_), written_);
  if (fault_ == 0) fault_ = fault;
  held_.clear();
}

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
