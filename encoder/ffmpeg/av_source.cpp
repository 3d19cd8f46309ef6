#include "ffmpeg/av_source.h"

#include "c63/error.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/mem.h>
#include <libavutil/motion_vector.h>
#include <libavutil/murmur3.h>
#include <libavutil/pixdesc.h>
}

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <map>
#include <new>
#include <thread>
#include <utility>

#include "codec/geometry.h"
#include "ffmpeg/av_call.h"
#include "ffmpeg/av_input.h"
#include "ffmpeg/av_pointers.h"
#include "ffmpeg/av_presentation.h"
#include "ffmpeg/av_watch.h"
#include "ffmpeg/frame_converter.h"
#include "io/copy_padded.h"
#include "io/one_ahead.h"
#include "io/descriptor.h"
#include "io/text.h"

namespace c63 {
namespace {

struct FormatCloser {
  void operator()(AVFormatContext* context) const {
    const AvWatch::Use use(static_cast<AvInput*>(context->opaque)->watch());
    avformat_close_input(&context);
  }
};

/// Frees a decoder. If memory has run out, it keeps the decoder instead: to end a decoder's threads, FFmpeg needs
/// memory, and it aborts the process if there is none.
struct CodecCloser {
  void operator()(AVCodecContext* context) const {
    void* const probe = av_malloc(std::size_t{64} << 10);
    if (probe == nullptr) return static_cast<AvWatch*>(context->opaque)->abandon_decoder(context);
    av_free(probe);
    avcodec_free_context(&context);
  }
};

/// Settings for a call of FFmpeg that opens or examines a file: one list, or one list for each stream.
class Settings {
 public:
  explicit Settings(std::size_t lists) : lists_(lists) {}
  ~Settings() {
    for (AVDictionary*& list : lists_) av_dict_free(&list);
  }
  Settings(const Settings&) = delete;
  Settings& operator=(const Settings&) = delete;

  /// Sets an option in every list.
  void set(const char* name, std::int64_t value) {
    for (AVDictionary*& list : lists_) {
      if (av_dict_set_int(&list, name, value, 0) < 0) throw std::bad_alloc();
    }
  }
  /// Returns the lists, to be given to a call of FFmpeg. The call removes the options that it knows.
  [[nodiscard]] AVDictionary** get() { return lists_.empty() ? nullptr : lists_.data(); }

 private:
  std::vector<AVDictionary*> lists_;
};

/// The frames of a file's best video stream, in display order, each once.
class ContainerSource final : public MediaSource {
 public:
  ContainerSource(std::unique_ptr<MediaInput> input, const SourceOptions& options)
      : watch_(AvWatch::make(options.limits.max_memory)),
        input_(std::move(input), *watch_),
        options_(options),
        packet_(av_packet_alloc()),
        frame_(av_frame_alloc()),
        shown_(av_frame_alloc()) {
    if (!packet_ || !frame_ || !shown_) throw std::bad_alloc();
    open_container();
    open_decoder();
    // A coded stream without a container gives its size only with its first frame.
    has_frame_ = decode_next();
    if (!has_frame_) throw fail("C63-AV-EMPTY", "the video stream has no frames");
    coded_width_ = frame_->width;
    coded_height_ = frame_->height;
    format_.width = even_side(coded_width_);
    format_.height = even_side(coded_height_);
    input_.check_picture_size(format_.width, format_.height);
    if (const auto turned = turned_warning(*container_->streams[stream_])) warn(*turned);
    prepare_converter();
    if (format_.width != coded_width_ || format_.height != coded_height_) {
      warn(size_text(coded_width_, coded_height_) + " is padded to " + size_text(format_.width, format_.height) +
           " by repeating the last column and row");
    }
  }

  VideoFormat format() const override { return format_; }
  bool live() const override { return !input_.seekable(); }

  std::optional<std::int64_t> expected_frame_count() const override {
    AVStream& stream = *container_->streams[stream_];
    std::int64_t count = stream.nb_frames;
    const AVRational rate = av_guess_frame_rate(container_.get(), &stream, nullptr);
    if (count <= 0 && rate.num > 0 && rate.den > 0) {
      if (stream.duration > 0) {
        count = av_rescale_q(stream.duration, stream.time_base, av_inv_q(rate));
      } else if (container_->duration > 0 && container_->duration_estimation_method != AVFMT_DURATION_FROM_BITRATE) {
        count = av_rescale_q(container_->duration, AVRational{1, AV_TIME_BASE}, av_inv_q(rate));
      }
    }
    return count > 0 ? std::optional(count) : std::nullopt;
  }

  bool read(std::int64_t index, std::span<std::uint8_t> frame) override {
    if (index != next_) {
      throw Error(ErrorKind::internal, "C63-SOURCE-ORDER", "the program asked for a frame out of order, but a decoder gives its frames in order",
                  {.file = input_.name(), .frame = index});
    }
    if (ahead_) ahead_->end();
    if (!has_frame_) has_frame_ = decode_next();
    if (!has_frame_) return false;
    if (frame_->width != coded_width_ || frame_->height != coded_height_) {
      throw fail("C63-AV-SIZE-CHANGE", "the picture size changes from " + size_text(coded_width_, coded_height_) +
                                           " to " + size_text(frame_->width, frame_->height));
    }
    prepare_converter();
    const bool adds_to_table = fills_table();
    if (const KeyTimes* times = key(); times != nullptr && adds_to_table)
      options_.seek_table->points.push_back({next_, times->time, times->decoded});
    av_frame_unref(shown_.get());
    av_frame_move_ref(shown_.get(), frame_.get());
    has_frame_ = false;
    ++next_;
    // The next frame is decoded while this one is copied. A pipe is read only when its next frame is wanted, because it
    // may keep the thread waiting.
    if (input_.seekable()) {
      if (!ahead_) ahead_.emplace([this] { has_frame_ = decode_next(); });
      ahead_->begin();
    }
    converter_->convert(shown_->data, shown_->linesize, frame, options_.luma_only);
    if (adds_to_table) options_.seek_table->sums.push_back(sum_of(frame));
    if (options_.codec_vectors) take_vectors(*options_.codec_vectors);
    return true;
  }

  bool go_to(const SeekTable::Point& point) override {
    stop_decoding();
    const int moved =
        call([&] { return av_seek_frame(container_.get(), stream_, point.decoded, AVSEEK_FLAG_BACKWARD); });
    input_.rethrow();
    if (moved < 0) return false;
    avcodec_flush_buffers(codec_.get());
    times_ = FrameTimes(av_q2d(container_->streams[stream_]->time_base));
    key_times_.clear();
    ended_ = false;
    entry_ = point.time;
    next_ = point.frame;
    // The decoder may first return pictures that are coded after the key frame but shown before it. They are dropped.
    do {
      has_frame_ = decode_next();
    } while (has_frame_ && (!key() || key()->time != point.time));
    return has_frame_;
  }

  std::uint64_t sum_of(std::span<const std::uint8_t> samples) const override {
    const std::unique_ptr<AVMurMur3, decltype(&av_free)> state(av_murmur3_alloc(), &av_free);
    if (!state) throw std::bad_alloc();
    std::array<std::uint8_t, 16> digest{};
    av_murmur3_init(state.get());
    av_murmur3_update(state.get(), samples.data(), samples.size());
    av_murmur3_final(state.get(), digest.data());
    std::uint64_t sum = 0;
    std::memcpy(&sum, digest.data(), sizeof sum);
    return sum;
  }

 private:
  static constexpr int kMostFaultsInARow = 100;  ///< with `tolerant`, more faulty packets in a row end the stream

  void warn(const std::string& message) const {
    if (options_.warn) options_.warn(message);
  }

  [[nodiscard]] bool fills_table() const {
    return options_.seek_table && static_cast<std::int64_t>(options_.seek_table->sums.size()) == next_;
  }

  /// Ends the work of ahead_, and drops its frame.
  void stop_decoding() {
    if (!ahead_) return;
    try {
      ahead_->end();
    } catch (...) {
      // The error belongs to a frame that is not wanted any more.
    }
    has_frame_ = false;
  }

  void take_vectors(std::vector<CodecVector>& vectors) const {
    vectors.clear();
    const AVFrameSideData* const data = av_frame_get_side_data(shown_.get(), AV_FRAME_DATA_MOTION_VECTORS);
    if (data == nullptr) return;
    for (std::size_t at = 0; at + sizeof(AVMotionVector) <= data->size; at += sizeof(AVMotionVector)) {
      AVMotionVector v;
      std::memcpy(&v, data->data + at, sizeof v);
      vectors.push_back({v.source, v.w, v.h, v.src_x, v.src_y, v.dst_x, v.dst_y, v.motion_x, v.motion_y,
                         std::max<int>(1, v.motion_scale), v.flags});
    }
  }

  struct KeyTimes {
    std::int64_t time;
    std::int64_t decoded;
  };

  /// Returns the times of frame_'s packet, or null if frame_ is not a key frame.
  [[nodiscard]] const KeyTimes* key() const {
    const auto found = key_times_.find(frame_->pts);
    return found == key_times_.end() ? nullptr : &found->second;
  }

  [[nodiscard]] ErrorPlace place() const { return {.file = input_.name(), .frame = next_}; }

  /// Calls FFmpeg and returns its result. Throws if memory ran out. The decoder is then never freed, because ending its
  /// threads without memory would abort the process.
  template <typename Call>
  int call(const Call& what) {
    try {
      return av_call(*watch_, what, place());
    } catch (const Error&) {
      watch_->abandon_decoder(codec_.release());
      throw;
    }
  }

  /// Returns an error with `message` as its cause. If `code` is negative, it also has FFmpeg's text for that code.
  [[nodiscard]] Error fail(const char* id, const std::string& message, int code = 0) const {
    // FFmpeg returns the same codes for a damaged picture and for a picture above max_pixels. Only its log tells which
    // it was.
    const std::string logged = watch_->last_error();
    if (logged.find("max pixel") != std::string::npos) {
      return {ErrorKind::limit, "C63-MAX-PIXELS",
              "exceeds the limit of " + std::to_string(options_.limits.max_pixels) + " pixels (" + logged + ")",
              place()};
    }
    return code < 0 ? av_fault(*watch_, id, message, code, place()) : Error(ErrorKind::input, id, message, place());
  }

  void open_container() {
    const AVInputFormat* format = find_av_format(input_, options_.path);
    Settings settings(1);
    // Tracks of a QuickTime file may lie in other files. With these settings, FFmpeg asks AvInput to open those files,
    // and AvInput refuses.
    settings.set("enable_drefs", 1);
    settings.set("use_absolute_path", 1);
    AVFormatContext* context = input_.make_format_context(*format);
    const std::string name = plain_name(options_.path);
    const int opened = call([&] {
      const int code = avformat_open_input(&context, name.c_str(), format, settings.get());
      container_.reset(context);
      return code;
    });
    check_container(opened, "cannot be opened");
    // avformat_find_stream_info() decodes some frames. So the limit of a picture's pixels must be set for it,
    // too.
    Settings trial(context->nb_streams);
    trial.set("max_pixels", max_pixels());
    const int found = call([&] { return avformat_find_stream_info(context, trial.get()); });
    check_container(found, "no streams found");
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
    times_ = FrameTimes(av_q2d(context->streams[stream_]->time_base));
  }

  void open_decoder() {
    const AVCodecParameters* parameters = container_->streams[stream_]->codecpar;
    if (parameters->width > kMaxSide || parameters->height > kMaxSide) {
      input_.check_picture_size(parameters->width, parameters->height);
    }
    if (parameters->width > 0 && parameters->height > 0) {
      input_.check_picture_size(even_side(parameters->width), even_side(parameters->height));
    }
    const AVCodec* codec = avcodec_find_decoder(parameters->codec_id);
    if (codec == nullptr) {
      throw Error(ErrorKind::input, "C63-AV-NO-DECODER",
                  "the installed FFmpeg has no decoder for " + std::string(avcodec_get_name(parameters->codec_id)),
                  {.file = input_.name()});
    }
    codec_.reset(avcodec_alloc_context3(codec));
    if (!codec_) throw std::bad_alloc();
    watch_->add_decoder(*codec_);
    const int copied = call([&] { return avcodec_parameters_to_context(codec_.get(), parameters); });
    if (copied < 0) throw fail("C63-AV-OPEN", "FFmpeg cannot open the decoder", copied);
    codec_->pkt_timebase = container_->streams[stream_]->time_base;
    codec_->thread_count = thread_count(*parameters);
    codec_->max_pixels = max_pixels();
    if (options_.codec_vectors) {
      codec_->flags2 |= AV_CODEC_FLAG2_EXPORT_MVS;
      // FFmpeg must not decode several frames at the same time here. It would export a P frame's vectors from the
      // thread of a later frame, without waiting until the P frame is decoded. So some vectors would be wrong.
      codec_->thread_type = FF_THREAD_SLICE;
    }
    const int opened = call([&] { return avcodec_open2(codec_.get(), codec, nullptr); });
    if (opened == AVERROR(EAGAIN)) {
      throw system_fault(ErrorKind::limit, "C63-THREADS", "cannot start a thread to decode", EAGAIN, place());
    }
    if (opened < 0) throw fail("C63-AV-OPEN", "FFmpeg cannot open the decoder", opened);
  }

  /// The number of decoder threads. 0 means one for each CPU; a lower number is used if their pictures would take too
  /// much memory.
  [[nodiscard]] int thread_count(const AVCodecParameters& parameters) const {
    constexpr std::uint64_t kPicturesPerThread = 3;
    if (parameters.width <= 0 || parameters.height <= 0) return 0;
    const std::uint64_t room = options_.limits.max_memory / 8 / kPicturesPerThread /
                               std::max<std::uint64_t>(1, frame_bytes(parameters.width, parameters.height));
    return room >= std::thread::hardware_concurrency() ? 0 : static_cast<int>(std::max<std::uint64_t>(room, 1));
  }

  [[nodiscard]] std::int64_t max_pixels() const {
    return static_cast<std::int64_t>(
        std::min<std::uint64_t>(options_.limits.max_pixels, std::numeric_limits<int>::max()));
  }

  /// Checks the result of a call in which FFmpeg read the container. Throws if reading threw, if the container refers
  /// to another file, or if `result` is an error.
  void check_container(int result, const char* what) {
    input_.rethrow();
    if (!input_.refused().empty()) {
      throw Error(ErrorKind::input, "C63-AV-REFERENCES",
                  "refers to another file, '" + input_.refused() + "', which is not opened", {.file = input_.name()});
    }
    if (result < 0) throw av_fault(*watch_, "C63-AV-OPEN", what, result, {.file = input_.name()});
  }

  /// Decodes the next frame into frame_. Returns false at the end.
  bool decode_next() {
    for (;;) {
      const int received = call([this] { return avcodec_receive_frame(codec_.get(), frame_.get()); });
      if (received == 0) {
        faults_in_a_row_ = 0;
        if (is_late(*frame_)) continue;
        if (frame_->decode_error_flags != 0 || (frame_->flags & AV_FRAME_FLAG_CORRUPT) != 0) {
          if (!options_.tolerant) throw fail("C63-AV-DECODE", damage_message("the frame is damaged"));
          ++damaged_frames_;
        }
        if (const auto uneven = times_.add_frame(frame_->pts, next_, format_.rate); uneven && !options_.rate && !options_.ignore_times) {
          warn(*uneven);
        }
        return true;
      }
      if (received == AVERROR_EOF || faults_in_a_row_ > kMostFaultsInARow) {
        if (damage_) throw_at_this_frame(*damage_);
        tell_damage();
        return false;
      }
      if (received == AVERROR(EAGAIN) && !ended_) {
        feed();
      } else {
        note_damage(received);
      }
    }
  }

  /// Gives the decoder the next packet, or tells it that no more packets will come.
  void feed() {
    const int got = call([this] { return av_read_frame(container_.get(), packet_.get()); });
    input_.rethrow();
    if (got < 0) {
      if (got != AVERROR_EOF) note_bad_read(got);
      if (got == AVERROR_EOF) note_early_end();
      // Some containers can be read further after damage. So with `tolerant`, the stream ends only at its end, or after
      // too many faults in a row.
      if (got == AVERROR_EOF || !options_.tolerant || ++faults_in_a_row_ > kMostFaultsInARow) end();
      return;
    }
    int sent = 0;
    if (packet_->stream_index == stream_ && enters(*packet_)) {
      if ((packet_->flags & AV_PKT_FLAG_CORRUPT) == 0) {
        times_.add_packet(++packets_, packet_->pts);
        note_key(*packet_);
        packet_->pts = packets_;  // a mark that the frame carries instead of its time
        sent = call([this] { return avcodec_send_packet(codec_.get(), packet_.get()); });
      } else if (options_.tolerant) {
        ++damaged_packets_;
      } else {
        damage_ = fail("C63-AV-DECODE", damage_message("truncated or damaged"));
        end();
      }
    }
    av_packet_unref(packet_.get());
    if (sent < 0) note_damage(sent);
  }

  /// Returns true if a packet should be decoded. While go_to() searches for a key frame, the packets before that key
  /// frame are not decoded.
  [[nodiscard]] bool enters(const AVPacket& packet) {
    if (entry_ && packet.pts == *entry_) entry_.reset();
    return !entry_;
  }

  void note_key(const AVPacket& packet) {
    constexpr std::int64_t kMostReordered = 64;  // the most packets between a packet and its frame
    if ((packet.flags & AV_PKT_FLAG_KEY) == 0 || packet.pts == AV_NOPTS_VALUE) return;
    std::erase_if(key_times_, [&](const auto& key) { return key.first + kMostReordered < packets_; });
    key_times_.emplace(packets_, KeyTimes{packet.pts, packet.dts == AV_NOPTS_VALUE ? packet.pts : packet.dts});
  }

  void end() {
    ended_ = true;
    static_cast<void>(call([this] { return avcodec_send_packet(codec_.get(), nullptr); }));
  }

  /// Remembers that reading the container failed. With `tolerant`, only counts it.
  void note_bad_read(int code) {
    Error fault = fail("C63-AV-DECODE", "cannot be read further", code);
    if (options_.tolerant) {
      ++damaged_packets_;
    } else if (!damage_) {
      damage_ = std::move(fault);
    }
  }

  /// Called at the end of the container. For a cut file, some formats only log that it ends too early.
  void note_early_end() {
    if (watch_->last_error().find("ended prematurely") == std::string::npos) return;
    if (options_.tolerant) {
      ++damaged_packets_;
    } else if (!damage_) {
      damage_ = fail("C63-AV-DECODE", damage_message("truncated or damaged"));
    }
  }

  /// Throws an error that was found earlier. The decoder has returned frames since then.
  [[noreturn]] void throw_at_this_frame(const Error& error) const { throw Error(error.kind(), error.id(), error.message(), place()); }

  /// Remembers that a packet cannot be decoded. The frames before it are still returned, and with `tolerant` also those
  /// after it.
  void note_damage(int code) {
    Error fault = fail("C63-AV-DECODE", "cannot be decoded", code);
    if (options_.tolerant) {
      ++damaged_packets_;
      ++faults_in_a_row_;
      return;
    }
    if (ended_) throw_at_this_frame(damage_ ? *damage_ : fault);
    damage_ = std::move(fault);
    // Each decoder thread works on another packet. The one that failed is the oldest of these packets.
    const int threads = (codec_->active_thread_type & FF_THREAD_FRAME) != 0 ? codec_->thread_count : 1;
    damaged_packet_ = packets_ - (threads - 1);
    end();
  }

  /// Returns true for a frame of the damaged packet or of a later one. Such a frame is not returned, because its index
  /// would be wrong.
  [[nodiscard]] bool is_late(const AVFrame& frame) const { return damaged_packet_ && frame.pts >= *damaged_packet_; }

  /// Called at the end of the stream: warns about the packets and frames that were damaged, if `tolerant` is set.
  void tell_damage() {
    if (damaged_packets_ > 0) {
      warn(count_text(damaged_packets_, "damaged packet") + " skipped: frames may be missing");
    }
    if (damaged_frames_ > 0) {
      warn(count_text(damaged_frames_, "damaged frame") + " used despite the damage");
    }
    damaged_packets_ = damaged_frames_ = 0;
  }

  [[nodiscard]] static std::string count_text(std::int64_t count, const std::string& what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
  }

  [[nodiscard]] std::string damage_message(const std::string& what) const {
    const std::string logged = watch_->last_error();
    return logged.empty() ? what : what + " (" + logged + ")";
  }

  /// Makes a new converter_ if there is none for the size and format of frame_.
  void prepare_converter() {
    const bool full_range = frame_->color_range == AVCOL_RANGE_JPEG && frame_->format != AV_PIX_FMT_YUV420P;
    if (converter_ && converter_->is_for(frame_->format, coded_width_, coded_height_, full_range)) return;
    try {
      converter_ = std::make_unique<FrameConverter>(*watch_, frame_->format, coded_width_, coded_height_, full_range);
    } catch (const Error& error) {
      throw error.at({.file = input_.name(), .frame = next_});
    }
    if (converter_->changes_samples() && !warned_) {
      warn(pixel_format_name(frame_->format) + " is converted to yuv420p");
      warned_ = true;
    }
  }

  AvWatchPointer watch_;  // must outlive all members below
  AvInput input_;         // must outlive the members below that read it
  SourceOptions options_;
  std::unique_ptr<AVFormatContext, FormatCloser> container_;
  std::unique_ptr<AVCodecContext, CodecCloser> codec_;
  AvPacketPointer packet_;
  AvFramePointer frame_;  ///< the frame that decode_next() decodes
  AvFramePointer shown_;  ///< the frame that read() copies
  std::unique_ptr<FrameConverter> converter_;
  VideoFormat format_;
  FrameTimes times_;
  std::map<std::int64_t, KeyTimes> key_times_;  ///< the times of recent key frames, by the marks of their packets
  std::optional<std::int64_t> entry_;           ///< time of the key frame that is searched for
  int stream_ = -1;
  int coded_width_ = 0;
  int coded_height_ = 0;
  std::int64_t next_ = 0;
  std::int64_t packets_ = 0;
  bool has_frame_ = false;
  bool ended_ = false;
  bool warned_ = false;
  std::optional<Error> damage_;  ///< thrown after the frames before the damage were returned
  std::optional<std::int64_t> damaged_packet_;
  std::int64_t damaged_packets_ = 0;  ///< counted only with `tolerant`
  std::int64_t damaged_frames_ = 0;
  int faults_in_a_row_ = 0;

  /// Decodes the next frame. While it works, only it uses the decoder and the members about it. Declared last, because it
  /// uses all other members.
  std::optional<OneAhead> ahead_;
};

}  // namespace

std::unique_ptr<MediaSource> open_av_source(std::unique_ptr<MediaInput> input, const SourceOptions& options) {
  return std::make_unique<ContainerSource>(std::move(input), options);
}

}  // namespace c63
