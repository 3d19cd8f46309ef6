#include "io/descriptor.h"

#include <cerrno>
#include <cstring>

namespace c63 {

Error system_fault(ErrorKind kind, const char* id, const std::string& what, int code, const ErrorPlace& place) {
  const std::string message = what + ": " + std::strerror(code);
  if (code == EMFILE || code == ENFILE) return {ErrorKind::limit, "C63-OPEN-FILES", message, place};
  if (code == EAGAIN) return {ErrorKind::limit, "C63-THREADS", message, place};
  if (code == ENOMEM) return {ErrorKind::memory, "C63-MEMORY", message, place};
  return {kind, id, message, place};
}

}  // namespace c63
