#ifdef C63_HAVE_FFMPEG

#include "io/av_fault.h"

extern "C" {
#include <libavutil/error.h>
}

#include <cerrno>

#include "io/av_log.h"
#include "io/descriptor.h"

namespace c63 {

bool is_av_memory_fault(int code, int system_code) {
  return code == AVERROR(ENOMEM) || system_code == ENOMEM || av_ran_out_of_memory();
}

Error av_fault(const char* id, const std::string& what, int code, const ErrorPlace& place) {
  for (const int system_code : {EMFILE, ENFILE}) {
    if (code == AVERROR(system_code)) return system_fault(ErrorKind::input, id, what, system_code, place);
  }
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(code, text, sizeof text);
  const std::string logged = last_av_error();
  return {ErrorKind::input, id, what + ": " + text + (logged.empty() ? "" : " (" + logged + ")"), place};
}

}  // namespace c63

#endif
