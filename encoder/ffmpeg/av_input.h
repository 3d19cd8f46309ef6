#pragma once

extern "C" {
#include <libavformat/avformat.h>
}

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

#include "c63/decoder.h"
#include "ffmpeg/av_watch.h"

namespace c63 {

/// Lets FFmpeg read one ByteSource, and nothing else: other files or hosts that a container refers to are not opened.
/// FFmpeg is C code, through which exceptions must not pass. So an exception of the input is kept until FFmpeg's call
/// has returned.
class AvInput {
 public:
  /// Begins at the start of `bytes`, unless it is a pipe. `name` is for messages. `bytes` and `watch` must outlive this
  /// object.
  AvInput(ByteSource& bytes, std::string name, AvWatch& watch);
  ~AvInput();
  AvInput(const AvInput&) = delete;
  AvInput& operator=(const AvInput&) = delete;

  /// Makes a context that reads only this input, only in the given format. Free it with
  /// avformat_close_input(). If opening the context fails, the call that failed has already freed it. Throws
  /// std::bad_alloc.
  [[nodiscard]] AVFormatContext* make_format_context(const AVInputFormat& format);
  [[nodiscard]] AVIOContext* context() const { return context_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool seekable() const { return bytes_.size().has_value(); }
  [[nodiscard]] AvWatch& watch() const { return watch_; }
  /// If reading the input threw an exception, throws it again.
  void rethrow() const {
    if (fault_) std::rethrow_exception(fault_);
  }
  /// Returns what is missing at the end of the input, or nullptr. Only for formats that FFmpeg ends without an error wherever
  /// they are cut. `format` is FFmpeg's name of the format. Call it at the end of the container.
  [[nodiscard]] const char* missing_end(std::string_view format) const;
  /// The last file or host that the container wanted to open, which was refused; empty if there was none.
  [[nodiscard]] const std::string& refused() const { return refused_; }

 private:
  static int read(void* opaque, std::uint8_t* data, int size) noexcept;
  static std::int64_t seek(void* opaque, std::int64_t offset, int whence) noexcept;
  static int refuse(AVFormatContext* format, AVIOContext** context, const char* url, int flags,
                    AVDictionary** options) noexcept;

  ByteSource& bytes_;
  std::string name_;
  AvWatch& watch_;
  AVIOContext* context_ = nullptr;
  std::int64_t position_ = 0;
  std::string tail_;  ///< what was read last from a pipe
  std::exception_ptr fault_;
  std::string refused_;
};

/// Returns a name for the input, without a folder. FFmpeg guesses some formats from the end of this name. It contains
/// no character that makes FFmpeg take it for a pattern of several files.
[[nodiscard]] std::string plain_name(const std::string& path);

/// Returns the format of `input`. Throws Error (input, C63-AV-OPEN, C63-AV-REFERENCES, C63-AV-FORMAT) for lists of
/// other files, scripts, session descriptions, devices, and everything that is not a usual video container, such as
/// subtitles. Also throws what reading throws.
[[nodiscard]] const AVInputFormat* find_av_format(const AvInput& input, const std::string& path);

}  // namespace c63
