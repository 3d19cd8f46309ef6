#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "c63/error.h"
#include "c63/frame_source.h"
#include "fuzz_support.h"

namespace c63::fuzz {

/// The frames that were read from a video file, and how the reading ended.
struct SourceOutcome {
  VideoFormat format;
  std::vector<std::vector<std::uint8_t>> frames;
  std::string fault;  ///< id of the error that ended the reading; empty at a normal end
};

/// Reads a video, up to its end or up to `most` frames. Catches only errors that bad input may cause. Any other error
/// ends the program, so that libFuzzer reports it.
inline SourceOutcome read_source(const SourceOptions& options, std::size_t most = 64) {
  SourceOutcome outcome;
  try {
    const auto source = open_frame_source(options);
    outcome.format = source->format();
    require(outcome.format.width > 0 && outcome.format.height > 0);
    require(outcome.format.rate.numerator > 0 && outcome.format.rate.denominator > 0);
    std::vector<std::uint8_t> frame(frame_bytes(outcome.format.width, outcome.format.height));
    while (outcome.frames.size() < most && source->read(static_cast<std::int64_t>(outcome.frames.size()), frame)) {
      outcome.frames.push_back(frame);
    }
    const auto count = source->frame_count();
    require(!count || outcome.frames.size() == most || static_cast<std::size_t>(*count) == outcome.frames.size());
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::input || error.kind() == ErrorKind::limit || error.kind() == ErrorKind::usage ||
            error.kind() == ErrorKind::memory);
    require(std::string(error.what()).find('\n') == std::string::npos);
    outcome.fault = error.id();
  }
  return outcome;
}

}  // namespace c63::fuzz
