#include "ffmpeg/av_call.h"

extern "C" {
#include <libavutil/error.h>
}

#include "c63/byte_count.h"
#include "io/descriptor.h"

namespace c63 {

void check_av_memory(const AvWatch& watch, int code, int system_code, const ErrorPlace& place) {
  if (watch.exceeded_memory()) {
    throw Error(ErrorKind::limit, "C63-MAX-MEMORY",
                "decoded pictures take more than the limit of " + bytes_text(watch.max_memory()), place);
  }
  const bool no_memory = system_code == ENOMEM || watch.ran_out_of_memory();
  // If the system refused memory, errno is ENOMEM. If FFmpeg itself refused it because of its limit, errno does not
  // change.
  if (const auto most = AvWatch::most_allocated();
      most && !no_memory && (code == AVERROR(ENOMEM) || watch.was_refused_memory())) {
    throw Error(ErrorKind::limit, "C63-MAX-MEMORY",
                "FFmpeg wants more memory at once than the limit of " + bytes_text(*most), place);
  }
  if (no_memory || code == AVERROR(ENOMEM)) {
    throw Error(ErrorKind::memory, "C63-MEMORY", "FFmpeg ran out of memory", place);
  }
}

Error av_fault(const AvWatch& watch, const char* id, const std::string& what, int code, const ErrorPlace& place) {
  for (const int system_code : {EMFILE, ENFILE}) {
    if (code == AVERROR(system_code)) return system_fault(ErrorKind::input, id, what, system_code, place);
  }
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(code, text, sizeof text);
  const std::string logged = watch.last_error();
  return {ErrorKind::input, id, what + ": " + text + (logged.empty() ? "" : " (" + logged + ")"), place};
}

}  // namespace c63
