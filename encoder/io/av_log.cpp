#ifdef C63_HAVE_FFMPEG

#include "io/av_log.h"

extern "C" {
#include <libavutil/log.h>
}

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <mutex>
#include <new>
#include <string_view>

#include "c63/error.h"

namespace c63 {
namespace {

struct Captured {
  std::mutex mutex;
  std::string line;
  std::atomic<bool> wants_other_files = false;
  std::atomic<bool> ran_out_of_memory = false;
};

Captured& captured() {
  static auto* instance = new Captured;  // decoder threads may log until the process ends
  return *instance;
}

void keep_line(const char* text) {
  std::string line = one_line(text);
  while (!line.empty() && line.back() == ' ') line.pop_back();
  if (line.empty()) return;
  const std::scoped_lock lock(captured().mutex);
  captured().line = line;
}

void keep_errors(void* context, int level, const char* format, std::va_list arguments) noexcept {
  // The C library leaves the code of the allocation that failed last on this thread.
  if (errno == ENOMEM) {
    captured().ran_out_of_memory = true;
    errno = 0;
  }
  if (level > AV_LOG_WARNING) return;
  char text[512];
  int prefix = 0;  // it holds an address
  av_log_format_line2(context, level, format, arguments, text, sizeof text, &prefix);
  const std::string_view line = text;
  if (line.find("external track") != std::string_view::npos) captured().wants_other_files = true;
  if (line.find("insufficient memory") != std::string_view::npos) captured().ran_out_of_memory = true;
  if (level > AV_LOG_ERROR) return;
  try {
    keep_line(text);
  } catch (const std::bad_alloc&) {
    // A line less to explain an error with.
  }
}

}  // namespace

void capture_av_log() {
  {
    const std::scoped_lock lock(captured().mutex);
    captured().line.clear();
  }
  captured().wants_other_files = captured().ran_out_of_memory = false;
  av_log_set_callback(keep_errors);
}

std::string last_av_error() {
  const std::scoped_lock lock(captured().mutex);
  return captured().line;
}

bool av_wants_other_files() { return captured().wants_other_files; }
bool av_ran_out_of_memory() { return captured().ran_out_of_memory; }

}  // namespace c63

#endif
