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

/// Lets FFmpeg read one MediaInput. If a container wants to open anything else, that is refused.
/// FFmpeg is C, so an exception thrown here waits until FFmpeg's call has returned.
class AvInput {
 public:
  /// `watch` must outlive it.
  AvInput(std::unique_ptr<MediaInput> file, AvWatch& watch);
  ~AvInput();
  AvInput(const AvInput&) = delete;
  AvInput& operator=(const AvInput&) = delete;

  /// Makes a context that reads only from here, as that format, and decodes only video. Free it with avformat_close_input(),
  /// or by the call that fails to open it. Throws std::bad_alloc.
  [[nodiscard]] AVFormatContext* make_format_context(const AVInputFormat& format);
  [[nodiscard]] AVIOContext* context() const { return context_; }
  [[nodiscard]] const std::string& name() const { return file_->name(); }
  [[nodiscard]] bool seekable() const { return file_->size().has_value(); }
  /// As MediaInput::check_picture_size().
  void check_picture_size(int width, int height) const { file_->check_picture_size(width, height); }
  [[nodiscard]] AvWatch& watch() const { return watch_; }
  /// Throws the exception that reading threw, if any.
  void rethrow() const {
    if (fault_) std::rethrow_exception(fault_);
  }
  /// The last name that the input wanted to open; empty if none.
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

/// The name of a file for FFmpeg, which guesses some formats by the end of the name. It has no folder, and no character that
/// makes a name stand for several files.
[[nodiscard]] std::string plain_name(const std::string& path);

/// Returns the format of `input`. Refuses lists of other files, scripts, session descriptions, devices, and everything that is
/// not a usual video container, such as subtitles. Throws Error (input, C63-AV-OPEN, C63-AV-REFERENCES, C63-AV-FORMAT), and
/// what reading throws.
[[nodiscard]] const AVInputFormat* find_av_format(const AvInput& input, const std::string& path);

}  // namespace c63
