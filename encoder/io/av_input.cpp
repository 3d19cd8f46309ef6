#include "io/av_input.h"

#ifdef C63_HAVE_FFMPEG

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <new>
#include <string_view>
#include <utility>

#include "c63/error.h"
#include "io/av_fault.h"

namespace c63 {
namespace {

/// Formats that name other files or hosts, by FFmpeg's names.
constexpr const char* kReferring[] = {"avisynth", "concat", "dash", "hls",      "imf",         "rtp",    "rtsp",
                                      "sap",      "sdp",    "svg_pipe", "vapoursynth", "vobsub", "webm_dash_manifest"};

bool is_referring(std::string_view names) {
  while (!names.empty()) {
    const std::string_view one = names.substr(0, names.find(','));
    if (std::ranges::find(kReferring, one) != std::end(kReferring)) return true;
    names.remove_prefix(std::min(one.size() + 1, names.size()));
  }
  return false;
}

}  // namespace

AvInput::AvInput(std::unique_ptr<InputFile> file) : file_(std::move(file)) {
  constexpr int kBufferBytes = 64 * 1024;
  auto* buffer = static_cast<unsigned char*>(av_malloc(kBufferBytes));
  if (buffer == nullptr) throw std::bad_alloc();
  context_ = avio_alloc_context(buffer, kBufferBytes, 0, this, read, nullptr, file_->seekable() ? seek : nullptr);
  if (context_ == nullptr) {
    av_free(buffer);
    throw std::bad_alloc();
  }
}

AvInput::~AvInput() {
  av_freep(&context_->buffer);
  avio_context_free(&context_);
}

AVFormatContext* AvInput::make_format_context() {
  AVFormatContext* format = avformat_alloc_context();
  if (format == nullptr) throw std::bad_alloc();
  format->pb = context_;
  format->opaque = this;
  format->io_open = refuse;
  // For what opens files without asking io_open: no protocol has this name.
  format->protocol_whitelist = av_strdup("none");
  if (format->protocol_whitelist == nullptr) {
    avformat_free_context(format);
    throw std::bad_alloc();
  }
  return format;
}

int AvInput::read(void* opaque, std::uint8_t* data, int size) noexcept {
  auto& self = *static_cast<AvInput*>(opaque);
  try {
    const std::span<std::uint8_t> bytes(data, static_cast<std::size_t>(std::max(size, 0)));
    const std::size_t got =
        self.file_->seekable() ? self.file_->read_at(self.position_, bytes) : self.file_->read_some(bytes);
    self.position_ += static_cast<std::int64_t>(got);
    return got == 0 ? AVERROR_EOF : static_cast<int>(got);
  } catch (...) {
    self.fault_ = std::current_exception();
    return AVERROR(EIO);
  }
}

std::int64_t AvInput::seek(void* opaque, std::int64_t offset, int whence) noexcept {
  auto& self = *static_cast<AvInput*>(opaque);
  const std::int64_t size = *self.file_->size();
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
  std::string name = path.substr(path.rfind('/') + 1);  // npos + 1 is 0
  for (char& c : name) {
    if (std::string_view("%*?[]{}:|").find(c) != std::string_view::npos) c = '_';
  }
  return name;
}

const AVInputFormat* find_av_format(const AvInput& input, const std::string& path) {
  const AVInputFormat* format = nullptr;
  const std::string name = plain_name(path);
  const int found = av_call(
      [&] { return av_probe_input_buffer2(input.context(), &format, name.c_str(), nullptr, 0, 0); }, {.file = input.name()});
  input.rethrow();
  if (found < 0) {
    throw av_fault("C63-AV-OPEN", "neither Y4M nor anything that FFmpeg reads; for raw video give width and height", found,
                   {.file = input.name()});
  }
  // This one opens files by their names, the other reads the one it is given.
  if (std::string_view(format->name) == "image2") format = av_find_input_format("image2pipe");
  if (format == nullptr || (format->flags & AVFMT_NOFILE) != 0 || is_referring(format->name)) {
    throw Error(ErrorKind::input, "C63-AV-REFERENCES",
                std::string("names other files or hosts (") + (format != nullptr ? format->name : "image2") +
                    "), which are not opened",
                {.file = input.name()});
  }
  return format;
}

}  // namespace c63

#endif
