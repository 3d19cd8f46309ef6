#include "c63/error.h"
#include "io/source_parts.h"
namespace c63 {
std::unique_ptr<FrameSource> open_y4m_source(std::unique_ptr<InputFile> file, const SourceOptions& options) {
  return open_av_source(std::move(file), options);
}
}  // namespace c63
