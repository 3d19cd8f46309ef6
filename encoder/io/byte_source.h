#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "c63/decoder.h"

namespace c63 {

/// Opens a coded stream: a file, a pipe or, as "-", stdin. Throws Error (input).
/// A stop request ends the waiting for a pipe, as if it had ended.
[[nodiscard]] std::unique_ptr<ByteSource> open_byte_source(const std::string& path, std::stop_token stop = {});

}  // namespace c63
