#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "c63/decoder.h"
#include "c63/error.h"

namespace c63::fuzz {

inline void require(bool condition) {
  if (!condition) std::abort();
}

/// Returns the settings with limits that let an input take only milliseconds.
inline DecoderSettings limited(DecoderSettings settings) {
  settings.execution.limits.max_pixels = 128 * 128;
  settings.execution.limits.max_memory = 64 << 20;
  return settings;
}

/// What a decode gives.
struct Outcome {
  std::vector<std::uint8_t> samples;
  std::string fault;  ///< the error's text; empty: none
  bool operator==(const Outcome&) const = default;

  void add(std::span<const std::uint8_t> more) { samples.insert(samples.end(), more.begin(), more.end()); }
};

/// Calls decode(outcome), and returns the outcome with the error, if any.
template <typename Decode>
Outcome outcome_of(const Decode& decode) {
  Outcome outcome;
  try {
    decode(outcome);
  } catch (const Error& error) {
    outcome.fault = error.what();
  }
  return outcome;
}

/// Bytes under a name that programs can open, as long as the object exists. The name is that of a regular file in
/// memory or of a pipe.
class NamedBytes {
 public:
  enum class Kind { file, pipe };

  /// For a pipe, there may be at most 64 KiB of bytes: they are written before anyone reads.
  NamedBytes(std::span<const std::uint8_t> bytes, Kind kind) {
    int writer = -1;
    if (kind == Kind::file) {
      writer = descriptor_ = ::memfd_create("fuzz", MFD_CLOEXEC);
    } else {
      int ends[2];
      require(::pipe2(ends, O_CLOEXEC) == 0);
      descriptor_ = ends[0];
      writer = ends[1];
    }
    require(descriptor_ >= 0);
    require(::write(writer, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    if (kind == Kind::pipe) ::close(writer);
  }
  ~NamedBytes() { ::close(descriptor_); }
  NamedBytes(const NamedBytes&) = delete;
  NamedBytes& operator=(const NamedBytes&) = delete;

  [[nodiscard]] std::string name() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_ = -1;
};

}  // namespace c63::fuzz
