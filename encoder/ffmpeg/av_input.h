#pragma once

extern "C" {
#include <libavformat/avformat.h>
}

#include <cstdint>
#include <exception>
#include <memory>
#include <string>

#include "ffmpeg/av_watch.h"
#include "io/media_module.h"

namespace c63 {

/// FFmpeg's view of a MediaInput, and of nothing else: what a container wants to open beside it is refused.
/// FFmpeg is C: what is thrown here waits until its call has returned.
class AvInput {
 public:
  /// `watch` has to outlive it.
  AvInput(std::unique_ptr<MediaInput> file, AvWatch& watch);
  ~AvInput();
  AvInput(const AvInput&) = delete;
  AvInput& operator=(const AvInput&) = delete;

  /// A context that reads from here alone, as that format, and decodes video alone. Throws std::bad_alloc. To be freed
  /// by avformat_close_input(), or by the call that fails to open it.
  [[nodiscard]] AVFormatContext* make_format_context(const AVInputFormat& format);
  [[nodiscard]] AVIOContext* context() const { return context_; }
  [[nodiscard]] const std::string& name() const { return file_->name(); }
  [[nodiscard]] bool seekable() const { return file_->size().has_value(); }
  /// As MediaInput::check_picture_size().
  void check_picture_size(int width, int height) const { file_->check_picture_size(width, height); }
  [[nodiscard]] AvWatch& watch() const { return watch_; }
  /// Throws what reading threw.
  void rethrow() const {
    if (fault_) std::rethrow_exception(fault_);
  }
  /// What the input wanted to open last; empty for nothing.
  [[nodiscard]] const std::string& refused() const { return refused_; }

 private:
  static int read(void* opaque, std::uint8_t* data, int size) noexcept;
  static std::int64_t seek(void* opaque, std::int64_t offset, int whence) noexcept;
  static int refuse(AVFormatContext* format, AVIOContext** context, const char* url, int flags,
                    AVDictionary** options) noexcept;

  std::unique_ptr<MediaInput> file_;
  AvWatch& watch_;
  AVIOContext* context_ = nullptr;
  std::int64_t position_ = 0;
  std::exception_ptr fault_;
  std::string refused_;
};

/// The name of a file as FFmpeg may see it, which takes formats without a mark of their own from its end: without its
/// folder, and without the signs that make a name stand for several files.
[[nodiscard]] std::string plain_name(const std::string& path);

/// Finds out the format of `input`. Formats that are lists of other files, scripts or session descriptions are refused,
/// as are devices and all that are no usual containers of video, such as subtitles. Throws Error (input, C63-AV-OPEN,
/// C63-AV-REFERENCES, C63-AV-FORMAT), and what reading throws.
[[nodiscard]] const AVInputFormat* find_av_format(const AvInput& input, const std::string& path);

}  // namespace c63
