#pragma once

#include <memory>
#include <string>

#include "c63/decoder.h"

namespace c63 {

/// Opens a coded stream: a file, a pipe or, as "-", stdin. Throws Error (input).
[[nodiscard]] std::unique_ptr<ByteSource> open_byte_source(const std::string& path);

}  // namespace c63
