#include "ffmpeg/av_input.h"

extern "C" {
#include <libavutil/mem.h>
}

#include <algorithm>
#include <cstdio>
#include <new>
#include <span>
#include <string_view>
#include <utility>

#include "c63/error.h"

namespace c63 {
namespace {

/// FFmpeg's names of the formats that refer to other files or hosts.
constexpr std::string_view kReferring[] = {"avisynth",
                                           "concat",
                                           "dash",
                                           "hls",
                                           "imf",
                                           "rtp",
                                           "rtsp",
                                           "sap",
                                           "sdp",
                                           "svg_pipe",
                                           "vapoursynth",
                                           "vobsub",
                                           "webm_dash_manifest"};

/// FFmpeg's names of the containers and coded streams that c63 opens. Formats for single pictures have names that end
/// with "_pipe". FFmpeg knows many more formats, but hardly anybody wants to open them as video: subtitles, sound
/// without video, formats of old games.
constexpr std::string_view kVideo[] = {
    "apng",     "asf",     "asf_o",      "av1",  "avi",          "avs2",       "avs3",      "cavsvideo", "cine",
    "dhav",     "dirac",   "dnxhd",      "dv",   "evc",          "flic",       "flv",       "gif",       "gxf",
    "h261",     "h263",    "h264",       "hevc", "ipu",          "ivf",        "kux",       "live_flv",  "m4v",
    "matroska", "mjpeg",   "mjpeg_2000", "mov",  "mpeg",         "mpegts",     "mpegvideo", "mpjpeg",    "mxf",
    "nsv",      "nut",     "nuv",        "obu",  "ogg",          "rm",         "smjpeg",    "swf",       "ty",
    "vc1",      "vc1test", "vvc",        "wtv",  "yuv4mpegpipe", "jpegxl_anim"};

/// Returns true if one of a format's names, which are separated by commas, is in the list.
bool is_one_of(std::string_view names, std::span<const std::string_view> list) {
  while (!names.empty()) {
    const std::string_view one = names.substr(0, names.find(','));
    if (std::ranges::find(list, one) != list.end()) return true;
    names.remove_prefix(std::min(one.size() + 1, names.size()));
  }
  return false;
}

constexpr std::size_t kTail = std::size_t{128} << 10;  // more than a page of Ogg

/// Returns true if an Ogg file ends with a whole page that is marked as the last one of its stream.
bool ends_with_last_page(std::string_view tail) {
  constexpr std::size_t kHeader = 27, kFlags = 5, kLastPage = 4;
  const std::size_t page = tail.rfind(std::string_view("OggS\0", 5));
  if (page == std::string_view::npos || tail.size() < page + kHeader) return false;
  const auto byte = [&](std::size_t at) { return static_cast<std::size_t>(static_cast<std::uint8_t>(tail[at])); };
  const std::size_t segments = byte(page + kHeader - 1);
  std::size_t end = page + kHeader + segments;
  for (std::size_t i = 0; i < segments && end <= tail.size(); ++i) end += byte(page + kHeader + i);
  return end <= tail.size() && (byte(page + kFlags) & kLastPage) != 0;
}

/// Returns true if the last partition of an MXF file is its footer, or the index of partitions behind it.
bool ends_with_footer(std::string_view tail) {
  constexpr std::string_view kPartition("\x06\x0E\x2B\x34\x02\x05\x01\x01\x0D\x01\x02\x01\x01", 13);
  const std::size_t last = tail.rfind(kPartition);
  if (last == std::string_view::npos || last + kPartition.size() == tail.size()) return false;
  const char kind = tail[last + kPartition.size()];
  return kind == 0x04 || kind == 0x11;
}

char* copy_of(const char* text) {
  char* copy = av_strdup(text);
  if (copy == nullptr) throw std::bad_alloc();
  return copy;
}

}  // namespace

AvInput::AvInput(ByteSource& bytes, std::string name, AvWatch& watch)
    : bytes_(bytes), name_(std::move(name)), watch_(watch) {
  constexpr int kBufferBytes = 64 * 1024;
  auto* buffer = static_cast<unsigned char*>(av_malloc(kBufferBytes));
  if (buffer == nullptr) throw std::bad_alloc();
  context_ = avio_alloc_context(buffer, kBufferBytes, 0, this, read, nullptr, bytes_.size() ? seek : nullptr);
  if (context_ == nullptr) {
    av_free(buffer);
    throw std::bad_alloc();
  }
}

AvInput::~AvInput() {
  av_freep(&context_->buffer);
  avio_context_free(&context_);
}

AVFormatContext* AvInput::make_format_context(const AVInputFormat& format) {
  struct Deleter {
    void operator()(AVFormatContext* context) const { avformat_free_context(context); }
  };
  std::unique_ptr<AVFormatContext, Deleter> context(avformat_alloc_context());
  if (!context) throw std::bad_alloc();
  context->pb = context_;
  context->opaque = this;
  context->io_open = refuse;
  // FFmpeg opens some files without calling io_open. This setting refuses those files, too: no protocol has the name
  // "none".
  context->protocol_whitelist = copy_of("none");
  // A container may contain another container, such as subtitles in AVI. FFmpeg would open the inner one, whatever its
  // format, and decode its streams to examine them. This setting makes FFmpeg refuse it.
  context->format_whitelist = copy_of(format.name);
  return context.release();
}

int AvInput::read(void* opaque, std::uint8_t* data, int size) noexcept {
  auto& self = *static_cast<AvInput*>(opaque);
  try {
    const std::span<std::uint8_t> bytes(data, static_cast<std::size_t>(std::max(size, 0)));
    const std::size_t got =
        self.seekable() ? self.bytes_.read_at(static_cast<std::uint64_t>(self.position_), bytes) : self.bytes_.read(bytes);
    self.position_ += static_cast<std::int64_t>(got);
    if (!self.seekable()) {
      self.tail_.append(reinterpret_cast<const char*>(data), got);
      if (self.tail_.size() > 2 * kTail) self.tail_.erase(0, self.tail_.size() - kTail);
    }
    return got == 0 ? AVERROR_EOF : static_cast<int>(got);
  } catch (...) {
    self.fault_ = std::current_exception();
    return AVERROR(EIO);
  }
}

std::int64_t AvInput::seek(void* opaque, std::int64_t offset, int whence) noexcept {
  auto& self = *static_cast<AvInput*>(opaque);
  const auto size = static_cast<std::int64_t>(*self.bytes_.size());
  if ((whence & AVSEEK_SIZE) != 0) return size;
  switch (whence & ~AVSEEK_FORCE) {
    case SEEK_SET:
      break;
    case SEEK_CUR:
      offset += self.position_;
      break;
    case SEEK_END:
      offset += size;
      break;
    default:
      return AVERROR(EINVAL);
  }
  if (offset < 0) return AVERROR(EINVAL);
  self.position_ = offset;
  return offset;
}

const char* AvInput::missing_end(std::string_view format) const {
  std::string tail = tail_;
  if (const auto size = bytes_.size()) {
    tail.resize(std::min<std::uint64_t>(*size, kTail));
    tail.resize(bytes_.read_at(*size - tail.size(), {reinterpret_cast<std::uint8_t*>(tail.data()), tail.size()}));
  }
  if (format == "ogg") return ends_with_last_page(tail) ? nullptr : "the last page";
  if (format == "mxf") return ends_with_footer(tail) ? nullptr : "the footer";
  if (format == "apng") return tail.find("IEND") != std::string::npos ? nullptr : "the end mark";
  if (format != "gif") return nullptr;
  const std::size_t last = tail.find_last_not_of('\0');
  return last != std::string::npos && tail[last] == ';' ? nullptr : "the end mark";
}

int AvInput::refuse(AVFormatContext* format, AVIOContext** context, const char* url, int, AVDictionary**) noexcept {
  auto& self = *static_cast<AvInput*>(format->opaque);
  *context = nullptr;
  try {
    self.refused_ = url;
  } catch (...) {
    self.fault_ = std::current_exception();
  }
  return AVERROR(EPERM);
}

std::string plain_name(const std::string& path) {
  std::string name = path.substr(path.rfind('/') + 1);  // if there is no '/', npos + 1 is 0
  for (char& c : name) {
    if (std::string_view("%*?[]{}:|").find(c) != std::string_view::npos) c = '_';
  }
  return name;
}

const AVInputFormat* find_av_format(const AvInput& input, const std::string& path) {
  const AVInputFormat* format = nullptr;
  const std::string name = plain_name(path);
  const int found = av_call(
      input.watch(), [&] { return av_probe_input_buffer2(input.context(), &format, name.c_str(), nullptr, 0, 0); },
      {.file = input.name()});
  input.rethrow();
  if (found < 0) {
    throw av_fault(input.watch(), "C63-AV-OPEN",
                   "neither Y4M nor a format that FFmpeg reads; for raw video give width and height", found,
                   {.file = input.name()});
  }
  // image2 opens files by their names. image2pipe reads the file that it is given, once it knows the pictures' codec,
  // which FFmpeg takes from the name.
  if (std::string_view(format->name) == "image2") format = av_find_input_format("image2pipe");
  if (format == nullptr || (format->flags & AVFMT_NOFILE) != 0 || is_one_of(format->name, kReferring)) {
    throw Error(ErrorKind::input, "C63-AV-REFERENCES",
                std::string("refers to other files or hosts (") + (format != nullptr ? format->name : "image2") +
                    "), which are not opened",
                {.file = input.name()});
  }
  if (!is_one_of(format->name, kVideo) && !std::string_view(format->name).ends_with("pipe")) {
    throw Error(ErrorKind::input, "C63-AV-FORMAT",
                std::string("looks like ") + (format->long_name != nullptr ? format->long_name : format->name) + " (" +
                    format->name + "), which is not a usual video container and is not opened",
                {.file = input.name()});
  }
  return format;
}

}  // namespace c63
