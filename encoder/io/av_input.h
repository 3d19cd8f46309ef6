#pragma once

#ifdef C63_HAVE_FFMPEG

extern "C" {
#include <libavformat/avformat.h>
}

#include <cstdint>
#include <exception>
#include <memory>
#include <string>

#include "io/input_file.h"

namespace c63 {

/// FFmpeg's view of an InputFile, and of nothing else: what a container wants to open beside it is refused.
/// FFmpeg is C: what is thrown here waits until its call has returned.
class AvInput {
 public:
  explicit AvInput(std::unique_ptr<InputFile> file);
  ~AvInput();
  AvInput(const AvInput&) = delete;
  AvInput& operator=(const AvInput&) = delete;

  /// A context that reads from here alone. Throws std::bad_alloc. To be freed by avformat_close_input(), or by the call
  /// that fails to open it.
  [[nodiscard]] AVFormatContext* make_format_context();
  [[nodiscard]] AVIOContext* context() const { return context_; }
  [[nodiscard]] const std::string& name() const { return file_->name(); }
  [[nodiscard]] bool seekable() const { return file_->seekable(); }
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

  std::unique_ptr<InputFile> file_;
  AVIOContext* context_ = nullptr;
  std::int64_t position_ = 0;
  std::exception_ptr fault_;
  std::string refused_;
};

/// The name of a file as FFmpeg may see it, which takes formats without a mark of their own from its end: without its
/// folder, and without the signs that make a name stand for several files.
[[nodiscard]] std::string plain_name(const std::string& path);

/// Finds out the format of `input`. Formats that are lists of other files, scripts or session descriptions are refused,
/// as are devices. Throws Error (input, C63-AV-OPEN, C63-AV-REFERENCES), and what reading throws.
[[nodiscard]] const AVInputFormat* find_av_format(const AvInput& input, const std::string& path);

}  // namespace c63

#endif
