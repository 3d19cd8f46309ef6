#include "c63/error.h"
#include "io/source_parts.h"

#ifdef C63_HAVE_FFMPEG

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/pixdesc.h>
}

#include <algorithm>
#include <exception>
#include <limits>
#include <utility>

#include "codec/geometry.h"
#include "io/av_log.h"
#include "io/frame_converter.h"
#include "io/text.h"

namespace c63 {
namespace {

struct FormatCloser {
  void operator()(AVFormatContext* context) const { avformat_close_input(&context); }
};
struct CodecCloser {
  void operator()(AVCodecContext* context) const { avcodec_free_context(&context); }
};
struct PacketDeleter {
  void operator()(AVPacket* packet) const { av_packet_free(&packet); }
};
struct FrameDeleter {
  void operator()(AVFrame* frame) const { av_frame_free(&frame); }
};

std::string ffmpeg_message(int code) {
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(code, text, sizeof text);
  std::string message = text;
  const std::string logged = last_av_error();
  return logged.empty() ? message : message + " (" + logged + ")";
}

/// FFmpeg's view of an InputFile. FFmpeg is C: what is thrown here waits until its call has returned.
class AvInput {
 public:
  explicit AvInput(std::unique_ptr<InputFile> file) : file_(std::move(file)) {
    constexpr int kBufferBytes = 64 * 1024;
    auto* buffer = static_cast<unsigned char*>(av_malloc(kBufferBytes));
    if (buffer == nullptr) throw std::bad_alloc();
    context_ = avio_alloc_context(buffer, kBufferBytes, 0, this, read, nullptr, file_->seekable() ? seek : nullptr);
    if (context_ == nullptr) {
      av_free(buffer);
      throw std::bad_alloc();
    }
  }
  ~AvInput() {
    av_freep(&context_->buffer);
    avio_context_free(&context_);
  }
  AvInput(const AvInput&) = delete;
  AvInput& operator=(const AvInput&) = delete;

  [[nodiscard]] AVIOContext* context() const { return context_; }
  [[nodiscard]] const std::string& name() const { return file_->name(); }
  void rethrow() const {
    if (fault_) std::rethrow_exception(fault_);
  }

 private:
  static int read(void* opaque, std::uint8_t* data, int size) {
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

  static std::int64_t seek(void* opaque, std::int64_t offset, int whence) {
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

  std::unique_ptr<InputFile> file_;
  AVIOContext* context_ = nullptr;
  std::int64_t position_ = 0;
  std::exception_ptr fault_;
};

/// The frames of a file's best video stream, in display order, each once.
class AvSource final : public FrameSource {
 public:
  AvSource(std::unique_ptr<InputFile> file, const SourceOptions& options)
      : input_(std::move(file)), options_(options), packet_(av_packet_alloc()), frame_(av_frame_alloc()) {
    if (!packet_ || !frame_) throw std::bad_alloc();
    open_container();
    open_decoder();
    // An elementary stream tells its size with its first frame only.
    has_frame_ = decode_next();
    if (!has_frame_) throw fail("C63-AV-EMPTY", "the video stream holds no frame");
    coded_width_ = frame_->width;
    coded_height_ = frame_->height;
    format_.width = even_side(coded_width_);
    format_.height = even_side(coded_height_);
    check_picture_size(format_.width, format_.height, options_.limits, input_.name());
    prepare_converter();
    if (format_.width != coded_width_ || format_.height != coded_height_) {
      warn(options_, size_text(coded_width_, coded_height_) + " is padded to " +
                         size_text(format_.width, format_.height) + " by repeating the last column and row");
    }
  }

  VideoFormat format() const override { return format_; }
  std::optional<std::int64_t> frame_count() const override { return std::nullopt; }
  bool seekable() const override { return false; }

  bool read(std::int64_t index, std::span<std::uint8_t> frame) override {
    if (index != next_) {
      throw Error(ErrorKind::internal, "C63-SOURCE-ORDER", "a decoder gives its frames in order only",
                  {.file = input_.name(), .frame = index});
    }
    if (!has_frame_) has_frame_ = decode_next();
    if (!has_frame_) return false;
    if (frame_->width != coded_width_ || frame_->height != coded_height_) {
      throw fail("C63-AV-SIZE-CHANGE", "the picture size changes from " + size_text(coded_width_, coded_height_) +
                                           " to " + size_text(frame_->width, frame_->height));
    }
    prepare_converter();
    converter_->convert(frame_->data, frame_->linesize, frame);
    has_frame_ = false;
    av_frame_unref(frame_.get());
    ++next_;
    return true;
  }

 private:
  [[nodiscard]] Error fail(const char* id, const std::string& message) const {
    // FFmpeg refuses pictures above max_pixels with the codes that it has for damage; only its log tells.
    const std::string logged = last_av_error();
    if (logged.find("max pixel") != std::string::npos) {
      return {ErrorKind::limit,
              "C63-MAX-PIXELS",
              "exceeds the limit of " + std::to_string(options_.limits.max_pixels) + " pixels (" + logged + ")",
              {.file = input_.name(), .frame = next_}};
    }
    return {ErrorKind::input, id, message, {.file = input_.name(), .frame = next_}};
  }

  void open_container() {
    AVFormatContext* context = avformat_alloc_context();
    if (context == nullptr) throw std::bad_alloc();
    context->pb = input_.context();
    // The name serves to guess the format only; it frees the context where it fails.
    const int opened = avformat_open_input(&context, options_.path.c_str(), nullptr, nullptr);
    input_.rethrow();
    if (opened < 0) {
      throw Error(ErrorKind::input, "C63-AV-OPEN",
                  "neither Y4M nor anything that FFmpeg reads: " + ffmpeg_message(opened) +
                      "; for raw video give width and height",
                  {.file = input_.name()});
    }
    container_.reset(context);
    // Its trial decoding must not take more than is allowed either.
    std::vector<AVDictionary*> trial(context->nb_streams, nullptr);
    for (AVDictionary*& entry : trial) av_dict_set_int(&entry, "max_pixels", max_pixels(), 0);
    const int found = avformat_find_stream_info(context, trial.empty() ? nullptr : trial.data());
    for (AVDictionary*& entry : trial) av_dict_free(&entry);
    input_.rethrow();
    if (found < 0) {
      throw Error(ErrorKind::input, "C63-AV-OPEN", "no streams found: " + ffmpeg_message(found),
                  {.file = input_.name()});
    }
    stream_ = av_find_best_stream(context, AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
    if (stream_ < 0) throw Error(ErrorKind::input, "C63-AV-NO-VIDEO", "holds no video", {.file = input_.name()});
    for (unsigned other = 0; other < context->nb_streams; ++other) {
      if (static_cast<int>(other) != stream_) context->streams[other]->discard = AVDISCARD_ALL;
    }
    const AVRational rate = av_guess_frame_rate(context, context->streams[stream_], nullptr);
    if (options_.rate) {
      format_.rate = *options_.rate;
    } else if (rate.num > 0 && rate.den > 0) {
      format_.rate = {rate.num, rate.den};
    }
  }

  void open_decoder() {
    const AVCodecParameters* parameters = container_->streams[stream_]->codecpar;
    if (parameters->width > kMaxSide || parameters->height > kMaxSide) {
      check_picture_size(parameters->width, parameters->height, options_.limits, input_.name());
    }
    if (parameters->width > 0 && parameters->height > 0) {
      check_picture_size(even_side(parameters->width), even_side(parameters->height), options_.limits, input_.name());
    }
    const AVCodec* codec = avcodec_find_decoder(parameters->codec_id);
    if (codec == nullptr) {
      throw Error(ErrorKind::input, "C63-AV-NO-DECODER",
                  "FFmpeg here has no decoder for " + std::string(avcodec_get_name(parameters->codec_id)),
                  {.file = input_.name()});
    }
    codec_.reset(avcodec_alloc_context3(codec));
    if (!codec_) throw std::bad_alloc();
    avcodec_parameters_to_context(codec_.get(), parameters);
    codec_->pkt_timebase = container_->streams[stream_]->time_base;
    codec_->thread_count = 0;
    codec_->max_pixels = max_pixels();
    const int opened = avcodec_open2(codec_.get(), codec, nullptr);
    if (opened < 0) throw fail("C63-AV-OPEN", "the decoder does not open: " + ffmpeg_message(opened));
  }

  [[nodiscard]] std::int64_t max_pixels() const {
    return static_cast<std::int64_t>(
        std::min<std::uint64_t>(options_.limits.max_pixels, std::numeric_limits<int>::max()));
  }

  /// Decodes the next frame into frame_; false at the end.
  bool decode_next() {
    for (;;) {
      const int received = avcodec_receive_frame(codec_.get(), frame_.get());
      if (received == 0) {
        if (is_late(*frame_)) continue;
        if (frame_->decode_error_flags != 0 || (frame_->flags & AV_FRAME_FLAG_CORRUPT) != 0) {
          throw fail("C63-AV-DECODE", damage_message("the frame is damaged"));
        }
        return true;
      }
      if (received == AVERROR_EOF) {
        if (damage_) throw fail("C63-AV-DECODE", *damage_);
        return false;
      }
      if (ended_) throw fail("C63-AV-DECODE", damage_ ? *damage_ : "does not decode: " + ffmpeg_message(received));
      if (received == AVERROR(EAGAIN)) {
        feed();
      } else {
        note_damage(received);
      }
    }
  }

  /// Hands the decoder one more packet, or the end.
  void feed() {
    const int got = av_read_frame(container_.get(), packet_.get());
    input_.rethrow();
    if (got < 0) {
      if (got != AVERROR_EOF && !damage_) damage_ = "cannot read on: " + ffmpeg_message(got);
      end();
      return;
    }
    int sent = 0;
    if ((packet_->flags & AV_PKT_FLAG_CORRUPT) != 0) {
      damage_ = damage_message("truncated or damaged");
      end();
    } else if (packet_->stream_index == stream_) {
      packet_->pts = ++packets_;  // a mark that the frame carries; the time is not needed
      sent = avcodec_send_packet(codec_.get(), packet_.get());
    }
    av_packet_unref(packet_.get());
    if (sent < 0 && sent != AVERROR(EAGAIN)) note_damage(sent);
  }

  void end() {
    ended_ = true;
    avcodec_send_packet(codec_.get(), nullptr);
  }

  /// After a packet that does not decode, the frames before it still come out.
  void note_damage(int code) {
    damage_ = "does not decode: " + ffmpeg_message(code);
    // Several threads each hold a packet; the one that failed is the oldest of them.
    const int threads = (codec_->active_thread_type & FF_THREAD_FRAME) != 0 ? codec_->thread_count : 1;
    damaged_packet_ = packets_ - (threads - 1);
    end();
  }

  /// True for a frame from behind the damaged packet: its index would be wrong.
  [[nodiscard]] bool is_late(const AVFrame& frame) const { return damaged_packet_ && frame.pts >= *damaged_packet_; }

  [[nodiscard]] static std::string damage_message(const std::string& what) {
    const std::string logged = last_av_error();
    return logged.empty() ? what : what + " (" + logged + ")";
  }

  /// Makes converter_ fit frame_.
  void prepare_converter() {
    const bool full_range = frame_->color_range == AVCOL_RANGE_JPEG && frame_->format != AV_PIX_FMT_YUV420P;
    if (converter_ && converter_->is_for(frame_->format, coded_width_, coded_height_, full_range)) return;
    try {
      converter_ = std::make_unique<FrameConverter>(frame_->format, coded_width_, coded_height_, full_range);
    } catch (const Error& error) {
      throw error.at({.file = input_.name(), .frame = next_});
    }
    if (converter_->changes_samples() && !warned_) {
      warn(options_, pixel_format_name(frame_->format) + " is converted to yuv420p");
      warned_ = true;
    }
  }

  AvInput input_;  // outlives what reads from it
  SourceOptions options_;
  std::unique_ptr<AVFormatContext, FormatCloser> container_;
  std::unique_ptr<AVCodecContext, CodecCloser> codec_;
  std::unique_ptr<AVPacket, PacketDeleter> packet_;
  std::unique_ptr<AVFrame, FrameDeleter> frame_;
  std::unique_ptr<FrameConverter> converter_;
  VideoFormat format_;
  int stream_ = -1;
  int coded_width_ = 0;
  int coded_height_ = 0;
  std::int64_t next_ = 0;
  std::int64_t packets_ = 0;
  bool has_frame_ = false;
  bool ended_ = false;
  bool warned_ = false;
  std::optional<std::string> damage_;
  std::optional<std::int64_t> damaged_packet_;
};

}  // namespace

std::unique_ptr<FrameSource> open_av_source(std::unique_ptr<InputFile> file, const SourceOptions& options) {
  capture_av_log();
  return std::make_unique<AvSource>(std::move(file), options);
}

}  // namespace c63

#else

namespace c63 {

std::unique_ptr<FrameSource> open_av_source(std::unique_ptr<InputFile> file, const SourceOptions&) {
  throw Error(ErrorKind::usage, "C63-NO-FFMPEG",
              "neither raw video nor Y4M, and this build lacks FFmpeg: convert it with ffmpeg -i IN -pix_fmt yuv420p "
              "OUT.y4m, or build with FFmpeg's libraries",
              {.file = file->name()});
}

}  // namespace c63

#endif
