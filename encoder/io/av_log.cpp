#ifdef C63_HAVE_FFMPEG

#include "io/av_log.h"

extern "C" {
#include <libavutil/log.h>
}

#include <cstdarg>
#include <cstdio>
#include <mutex>

namespace c63 {
namespace {

struct Captured {
  std::mutex mutex;
  std::string line;
};

Captured& captured() {
  static auto* instance = new Captured;  // decoder threads may log until the process ends
  return *instance;
}

void keep_errors(void* context, int level, const char* format, std::va_list arguments) {
  if (level > AV_LOG_ERROR) return;
  char text[512];
  int prefix = 0;  // it holds an address
  av_log_format_line2(context, level, format, arguments, text, sizeof text, &prefix);
  std::string line = text;
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  if (line.empty()) return;
  const std::scoped_lock lock(captured().mutex);
  captured().line = line;
}

}  // namespace

void capture_av_log() {
  {
    const std::scoped_lock lock(captured().mutex);
    captured().line.clear();
  }
  av_log_set_callback(keep_errors);
}

std::string last_av_error() {
  const std::scoped_lock lock(captured().mutex);
  return captured().line;
}

}  // namespace c63

#endif
