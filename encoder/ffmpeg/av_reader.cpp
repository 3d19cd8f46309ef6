#include "ffmpeg/av_reader.h"

extern "C" {
#include <libavutil/mem.h>
#include <libavutil/pixdesc.h>
}

#include <algorithm>
#include <limits>
#include <new>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "codec/geometry.h"
#include "ffmpeg/av_device.h"
#include "io/copy_padded.h"
#include "io/descriptor.h"

namespace c63 {
namespace {

constexpr int kMostFaultsInARow = 100;  // with `tolerant`, more faults in a row end the stream

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

std::string count_text(std::int64_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

}  // namespace

void AvReader::FormatCloser::operator()(AVFormatContext* context) const {
  const AvWatch::Use use(static_cast<AvInput*>(context->opaque)->watch());
  avformat_close_input(&context);
}

/// Frees a decoder. If memory has run out, it keeps the decoder instead: to end a decoder's threads, FFmpeg needs
/// memory, and it aborts the process if there is none.
void AvReader::CodecCloser::operator()(AVCodecContext* context) const {
  void* const probe = av_malloc(std::size_t{64} << 10);
  if (probe == nullptr) return AvWatch::of(*context).abandon_decoder(context);
  av_free(probe);
  avcodec_free_context(&context);
}

AvReader::AvReader(std::unique_ptr<ByteSource> bytes, const SourceOptions& options, CheckSize check_size)
    : watch_(AvWatch::make(options.limits.max_memory)),
      bytes_(std::move(bytes)),
      options_(options),
      check_size_(std::move(check_size)),
      name_(options.path == "-" ? "stdin" : options.path),
      device_(options.device),
      packet_(av_packet_alloc()),
      frame_(av_frame_alloc()) {
  if (!packet_ || !frame_) throw std::bad_alloc();
  open();
}

AvReader::~AvReader() = default;

void AvReader::open() {
  open_container();
  if (device_ != nullptr) {
    std::string why;
    if (const char* const obstacle = obstacle_on_device()) {
      why = obstacle;
    } else {
      try {
        return open_decoder();
      } catch (const Error& error) {
        why = error.message();
        watch_->forget_damage();
      }
    }
    device_ = nullptr;
    warn("decoded on the CPU: " + why);
  }
  open_decoder();
}

/// Returns why the CPU decodes the film, or null if the GPU may.
const char* AvReader::obstacle_on_device() const {
  if (!seekable()) return "a pipe cannot be read again";  // by go_on_without_device()
  if (options_.tolerant) return "the GPU does not tell which pictures are damaged";
  if (options_.codec_vectors) return "the GPU does not give the codec's vectors";
  if (options_.seek_table) return "checksums of frames are wanted";
  return c63::obstacle_on_device(*stream().codecpar);
}

void AvReader::restart() {
  codec_.reset();
  container_.reset();
  av_frame_unref(frame_.get());
  options_.warn = nullptr;  // the warnings were given when the film was read for the first time
  keys_.clear();
  ahead_.clear();
  entry_.reset();
  packets_ = packets_end_ = index = 0;
  ended_ = ignores_log_ = false;
  damaged_packets_ = damaged_frames_ = 0;
  faults_in_a_row_ = 0;
  open();
}

void AvReader::warn(const std::string& message) const {
  if (options_.warn) options_.warn(message);
}

/// Calls FFmpeg and returns its result. Throws if memory ran out. The decoder is then never freed, because ending its
/// threads without memory would abort the process.
template <typename Call>
int AvReader::call(const Call& what) {
  try {
    return av_call(*watch_, what, place());
  } catch (const Error&) {
    watch_->abandon_decoder(codec_.release());
    throw;
  }
}

Error AvReader::fail(const char* id, const std::string& message, int code) const {
  // FFmpeg returns the same codes for a damaged picture and for a picture above max_pixels. Only its log tells which
  // it was.
  const std::string logged = watch_->last_error();
  if (logged.find("max pixel") != std::string::npos) {
    return {ErrorKind::limit, "C63-MAX-PIXELS",
            "exceeds the limit of " + std::to_string(options_.limits.max_pixels) + " pixels (" + logged + ")", place()};
  }
  return code < 0 ? av_fault(*watch_, id, message, code, place()) : Error(ErrorKind::input, id, message, place());
}

void AvReader::open_container() {
  watch_->forget_damage();
  begin_container();
  examine_container();
  if (!watch_->take_container_error()) return;
  if (options_.tolerant) {
    ++damaged_packets_;
    return;
  }
  // To examine the film, FFmpeg has read packets ahead, and found damage. They are read again one by one, so that it is
  // known where the damage is.
  std::unique_ptr<AVFormatContext, FormatCloser> examined;
  std::unique_ptr<AvInput> examined_input = std::move(input_);
  std::swap(examined, container_);
  if (seekable()) begin_container();
  if (!container_ || container_->nb_streams != examined->nb_streams) {
    input_ = std::move(examined_input);
    container_ = std::move(examined);
    watch_->add_damage(1, watch_->last_error());
    return;
  }
  const auto copy = [&] {
    return avcodec_parameters_copy(container_->streams[stream_]->codecpar, examined->streams[stream_]->codecpar);
  };
  check_container(call(copy), "cannot be opened");
  discard_other_streams();
  // Errors of the opening itself have no place. If reading finds none, they are told at the end.
  if (watch_->take_container_error()) opening_fault_ = watch_->last_error();
  examined.reset();  // before its input
}

/// Opens the container without looking into its packets.
void AvReader::begin_container() {
  input_ = std::make_unique<AvInput>(*bytes_, name_, *watch_);
  const AVInputFormat* format = find_av_format(*input_, options_.path);
  Settings settings(1);
  // Tracks of a QuickTime file may lie in other files. With these settings, FFmpeg asks AvInput to open those files,
  // and AvInput refuses.
  settings.set("enable_drefs", 1);
  settings.set("use_absolute_path", 1);
  AVFormatContext* context = input_->make_format_context(*format);
  const std::string name = plain_name(options_.path);
  const int opened = call([&] {
    const int code = avformat_open_input(&context, name.c_str(), format, settings.get());
    container_.reset(context);
    return code;
  });
  check_container(opened, "cannot be opened");
}

/// Finds the video stream, its decoder's parameters, its rate and its expected length.
void AvReader::examine_container() {
  AVFormatContext* const context = container_.get();
  // avformat_find_stream_info() decodes some frames. So the limit of a picture's pixels must be set for it, too.
  Settings trial(context->nb_streams);
  trial.set("max_pixels", max_pixels());
  check_container(call([&] { return avformat_find_stream_info(context, trial.get()); }), "no streams found");
  stream_ = av_find_best_stream(context, AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
  if (stream_ < 0) throw Error(ErrorKind::input, "C63-AV-NO-VIDEO", "holds no video", {.file = name_});
  discard_other_streams();
  AVStream& stream = *context->streams[stream_];
  AVRational rate = av_guess_frame_rate(context, &stream, nullptr);
  // These files say how long each picture is shown, in hundredths of a second. FFmpeg takes that unit for the rate.
  const std::string_view format = context->iformat->name;
  if ((format == "gif" || format == "apng") && stream.avg_frame_rate.num > 0) rate = stream.avg_frame_rate;
  const bool is_cover = (stream.disposition & AV_DISPOSITION_ATTACHED_PIC) != 0;
  const bool has_rate = rate.num > 0 && rate.den > 0 && !is_cover;
  rate_ = options_.rate ? *options_.rate : has_rate ? FrameRate{rate.num, rate.den} : FrameRate{};
  times_ = FrameTimes(av_q2d(stream.time_base));
  std::int64_t count = is_cover ? 1 : stream.nb_frames;
  if (count <= 0 && has_rate) {
    if (stream.duration > 0) {
      count = av_rescale_q(stream.duration, stream.time_base, av_inv_q(rate));
    } else if (context->duration > 0 && context->duration_estimation_method != AVFMT_DURATION_FROM_BITRATE) {
      count = av_rescale_q(context->duration, AVRational{1, AV_TIME_BASE}, av_inv_q(rate));
    }
  }
  expected_ = count > 0 ? std::optional(count) : std::nullopt;
}

void AvReader::discard_other_streams() {
  for (unsigned other = 0; other < container_->nb_streams; ++other) {
    if (static_cast<int>(other) != stream_) container_->streams[other]->discard = AVDISCARD_ALL;
  }
}

void AvReader::open_decoder() {
  const AVCodecParameters& parameters = *stream().codecpar;
  if (parameters.width > kMaxSide || parameters.height > kMaxSide) check_size_(parameters.width, parameters.height);
  if (parameters.width > 0 && parameters.height > 0) check_size_(even_side(parameters.width), even_side(parameters.height));
  const AVCodec* codec =
      device_ != nullptr ? find_device_decoder(parameters.codec_id) : avcodec_find_decoder(parameters.codec_id);
  if (codec == nullptr) {
    throw Error(ErrorKind::input, "C63-AV-NO-DECODER",
                "the installed FFmpeg has no decoder for " + std::string(avcodec_get_name(parameters.codec_id)),
                {.file = name_});
  }
  codec_.reset(avcodec_alloc_context3(codec));
  if (!codec_) throw std::bad_alloc();
  watch_->add_decoder(*codec_);
  const int copied = call([&] { return avcodec_parameters_to_context(codec_.get(), &parameters); });
  if (copied < 0) throw fail("C63-AV-OPEN", "FFmpeg cannot open the decoder", copied);
  codec_->pkt_timebase = stream().time_base;
  codec_->thread_count = thread_count(parameters);
  codec_->max_pixels = max_pixels();
  if (options_.tolerant) codec_->flags |= AV_CODEC_FLAG_OUTPUT_CORRUPT;
  if (!options_.tolerant) codec_->err_recognition |= AV_EF_CRCCHECK;  // HEVC compares checksums of pictures only then
  if (!options_.tolerant && !ignores_log_ && !AvWatch::keeps_messages()) codec_->err_recognition |= AV_EF_EXPLODE;
  if (options_.codec_vectors) {
    codec_->flags2 |= AV_CODEC_FLAG2_EXPORT_MVS;
    // FFmpeg must not decode several frames at the same time here. It would export a P frame's vectors from the
    // thread of a later frame, without waiting until the P frame is decoded. So some vectors would be wrong.
    codec_->thread_type = FF_THREAD_SLICE;
  }
  if (device_ != nullptr) {
    const int used = call([&] { return use_device(*codec_, *device_); });
    if (used < 0) throw fail("C63-AV-OPEN", "FFmpeg cannot use the GPU", used);
  }
  const int opened = call([&] { return avcodec_open2(codec_.get(), codec, nullptr); });
  if (opened == AVERROR(EAGAIN)) {
    throw system_fault(ErrorKind::limit, "C63-THREADS", "cannot start a thread to decode", EAGAIN, place());
  }
  if (opened < 0) throw fail("C63-AV-OPEN", "FFmpeg cannot open the decoder", opened);
}

/// The number of decoder threads. 0 means one for each CPU; a lower number is used if their pictures would take too
/// much memory.
int AvReader::thread_count(const AVCodecParameters& parameters) const {
  constexpr std::uint64_t kPicturesPerThread = 3;
  constexpr std::uint64_t kMostThreads = 16;  // FFmpeg uses no more by itself
  if (options_.tolerant) return 1;
  if (parameters.width <= 0 || parameters.height <= 0) return 0;
  const std::uint64_t room = options_.limits.max_memory / 8 / kPicturesPerThread /
                             std::max<std::uint64_t>(1, frame_bytes(parameters.width, parameters.height));
  if (room >= std::min<std::uint64_t>(kMostThreads, std::thread::hardware_concurrency())) return 0;
  return static_cast<int>(std::max<std::uint64_t>(room, 1));
}

std::int64_t AvReader::max_pixels() const {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(options_.limits.max_pixels, std::numeric_limits<int>::max()));
}

/// Checks the result of a call in which FFmpeg read the container. Throws if reading threw, if the container refers to
/// another file, or if `result` is an error.
void AvReader::check_container(int result, const char* what) {
  input_->rethrow();
  if (!input_->refused().empty()) {
    throw Error(ErrorKind::input, "C63-AV-REFERENCES",
                "refers to another file, '" + input_->refused() + "', which is not opened", {.file = name_});
  }
  if (result < 0) throw av_fault(*watch_, "C63-AV-OPEN", what, result, {.file = name_});
}

bool AvReader::next() {
  if (device_ == nullptr) return decode();
  std::string why;
  try {
    if (!decode()) return false;
    const char* const obstacle = obstacle_in_frame(*codec_, *frame_);
    if (obstacle == nullptr) return true;
    why = obstacle;
  } catch (const Error& error) {
    why = error.message();
  }
  return go_on_without_device(why);
}

/// Decodes the film on the CPU from its start, up to the frame that is next. Warnings up to there were given already.
bool AvReader::go_on_without_device(const std::string& why) {
  const std::int64_t reached = index;
  const auto warn = options_.warn;
  device_ = nullptr;
  restart();
  for (; index < reached; ++index) {
    if (!decode()) return false;
  }
  options_.warn = warn;
  this->warn("decoded on the CPU from frame " + std::to_string(reached) + " on: " + why);
  return decode();
}

bool AvReader::decode() {
  for (;;) {
    const int received = call([this] { return avcodec_receive_frame(codec_.get(), frame_.get()); });
    if (received == 0) {
      check_frame();
      if (index == 0 && frame_->pts > 1 && !begins_with_key_) {
        warn("does not begin with a key frame: " + count_text(frame_->pts - 1, "packet") + " before the first one cannot be decoded");
      }
      if (const auto uneven = times_.add_frame(frame_->pts, index, rate_); uneven && !options_.rate && !options_.ignore_times) {
        warn(*uneven);
      }
      return true;
    }
    if (received == AVERROR_EOF || faults_in_a_row_ > kMostFaultsInARow) {
      if (!options_.tolerant && !ignores_log_) {
        if (const auto damage = watch_->first_damage()) throw damage_error(*damage);
        if (opening_fault_) throw damage_error({0, *opening_fault_});
      }
      if (const char* const missing = missing_end()) {
        if (!options_.tolerant) throw damage_error({0, std::string("cut off: ") + missing + " is missing"});
        warn(std::string("cut off: ") + missing + " is missing");
      }
      tell_damage();
      return false;
    }
    if (received == AVERROR(EAGAIN) && !ended_) {
      feed();
    } else {
      note_decoder_fault(received);
    }
  }
}

/// Reads the next packet to packet_. Returns FFmpeg's code.
///
/// Where two recordings were joined, the counters of a transport stream jump. FFmpeg then calls the last packet before this
/// place corrupt, or the one before it. These packets are whole if a key frame with an earlier time follows. So after a
/// corrupt packet, two packets are read ahead.
int AvReader::read_packet() {
  const auto read_to = [this](AVPacket* packet) {
    const int code = call([&] { return av_read_frame(container_.get(), packet); });
    input_->rethrow();
    return code;
  };
  if (!ahead_.empty()) {
    const ReadPacket first = std::move(ahead_.front());
    ahead_.pop_front();
    av_packet_move_ref(packet_.get(), first.packet.get());
    return first.code;
  }
  const int code = read_to(packet_.get());
  if (code < 0 || packet_->stream_index != stream_ || (packet_->flags & AV_PKT_FLAG_CORRUPT) == 0) return code;
  while (ahead_.size() < 2 && (ahead_.empty() || ahead_.back().code >= 0)) {
    ReadPacket& next = ahead_.emplace_back(ReadPacket{AvPacketPointer(av_packet_alloc()), 0});
    if (!next.packet) throw std::bad_alloc();
    next.code = read_to(next.packet.get());
    const bool begins_anew = next.code >= 0 && (next.packet->flags & AV_PKT_FLAG_KEY) != 0 &&
                             next.packet->dts != AV_NOPTS_VALUE && next.packet->dts < packet_->dts;
    if (begins_anew) packet_->flags &= ~AV_PKT_FLAG_CORRUPT;
  }
  return code;
}

/// Gives the decoder the next packet, or tells it that no more packets will come.
void AvReader::feed() {
  const int got = read_packet();
  const bool fault = got < 0 && got != AVERROR_EOF;
  if (watch_->take_container_error() || fault) {
    if (!options_.tolerant && !ignores_log_) {
      watch_->add_damage(packets_ + 1, fault ? fail("C63-AV-DECODE", "cannot be read further", got).message() : watch_->last_error());
      av_packet_unref(packet_.get());
      return end();
    }
    ++damaged_packets_;
    if (fault) ++faults_in_a_row_;
  }
  // Some containers can be read further after damage. So with `tolerant`, the stream ends only at its end, or after too
  // many faults in a row.
  if (got < 0) {
    if (!fault || !options_.tolerant || faults_in_a_row_ > kMostFaultsInARow) end();
    return;
  }
  packets_end_ = packet_->pos + packet_->size;
  int sent = 0;
  if (packet_->stream_index == stream_ && is_wanted(*packet_)) {
    watch_->set_packet(*codec_, ++packets_);
    times_.add_packet(packets_, packet_->pts);
    note_key(*packet_);
    if (packets_ == 1) begins_with_key_ = (packet_->flags & AV_PKT_FLAG_KEY) != 0;
    packet_->pts = packet_->dts = packets_;  // the frame carries this number instead of its times
    bool is_damaged = (packet_->flags & AV_PKT_FLAG_CORRUPT) != 0;
    if (is_damaged) watch_->add_damage(packets_, "truncated or damaged");
    // Opening an Ogg file reads up to the first whole packet. If that is no key frame, the damage was before it.
    if (opening_fault_ && packets_ == 1 && (packet_->flags & AV_PKT_FLAG_KEY) == 0) {
      is_damaged = true;
      watch_->add_damage(packets_, *opening_fault_);
    }
    if (is_damaged && !options_.tolerant && !ignores_log_) {
      end();
    } else {
      sent = call([this] { return avcodec_send_packet(codec_.get(), packet_.get()); });
    }
  }
  av_packet_unref(packet_.get());
  if (sent < 0) note_decoder_fault(sent);
}

/// Returns true if a packet should be decoded. While go_to() searches for a key frame, the packets before that key
/// frame are not decoded.
bool AvReader::is_wanted(const AVPacket& packet) {
  if (entry_ && packet.pts == *entry_) entry_.reset();
  return !entry_;
}

void AvReader::note_key(const AVPacket& packet) {
  constexpr std::int64_t kMostReordered = 64;  // the most packets between a packet and its frame
  if ((packet.flags & AV_PKT_FLAG_KEY) == 0 || packet.pts == AV_NOPTS_VALUE) return;
  std::erase_if(keys_, [&](const auto& key) { return key.first + kMostReordered < packets_; });
  keys_.emplace(packets_, SeekTable::Point{0, packet.pts, packet.dts == AV_NOPTS_VALUE ? packet.pts : packet.dts});
}

std::optional<SeekTable::Point> AvReader::key() const {
  const auto found = keys_.find(frame_->pts);
  if (found == keys_.end()) return std::nullopt;
  return SeekTable::Point{index, found->second.time, found->second.decoded};
}

bool AvReader::go_to(const SeekTable::Point& point) {
  const int moved =
      call([&] { return av_seek_frame(container_.get(), stream_, point.decoded, AVSEEK_FLAG_BACKWARD); });
  input_->rethrow();
  if (moved < 0) return false;
  const bool was_strict = (codec_->err_recognition & AV_EF_EXPLODE) != 0;
  ignores_log_ = true;
  if (was_strict) {
    open_decoder();  // a strict one refuses key frames that may have lost references
  } else {
    avcodec_flush_buffers(codec_.get());
  }
  times_ = FrameTimes(av_q2d(stream().time_base));
  keys_.clear();
  ahead_.clear();
  ended_ = false;
  entry_ = point.time;
  index = point.frame;
  // The decoder may first return pictures that are coded after the key frame but shown before it. They are dropped.
  while (next()) {
    if (const auto found = key(); found && found->time == point.time) return true;
  }
  return false;
}

void AvReader::end() {
  ended_ = true;
  static_cast<void>(call([this] { return avcodec_send_packet(codec_.get(), nullptr); }));
}

Error AvReader::damage_error(const AvWatch::Damage& damage) const {
  return fail("C63-AV-DECODE", "damaged (" + damage.message + ")");
}

/// Called if the decoder returns an error instead of a frame. Frames after it come from later packets.
void AvReader::note_decoder_fault(int code) {
  if (!options_.tolerant && !ignores_log_) {
    const auto damage = watch_->first_damage();
    throw damage ? damage_error(*damage) : fail("C63-AV-DECODE", "cannot be decoded", code);
  }
  ++damaged_packets_;
  ++faults_in_a_row_;
}

/// Throws if frame() is damaged, or may depend on damage. With `tolerant`, counts it if it is damaged.
void AvReader::check_frame() {
  faults_in_a_row_ = 0;
  const bool is_damaged = frame_->decode_error_flags != 0 || (frame_->flags & AV_FRAME_FLAG_CORRUPT) != 0;
  if (options_.tolerant) {
    if (is_damaged || watch_->is_damaged(frame_->pts)) ++damaged_frames_;
    return;
  }
  if (ignores_log_) return;  // after a skip, the caller compares each frame with its checksum
  if (is_damaged) watch_->add_damage(frame_->pts, "the frame is damaged");
  const auto damage = watch_->first_damage();
  // pkt_dts is the number of the packet that made the decoder return this frame. There is none if no packets are left.
  if (damage && (frame_->pkt_dts == AV_NOPTS_VALUE || frame_->pkt_dts >= damage->packet)) throw damage_error(*damage);
}

/// Returns what the end of the container lacks, if FFmpeg has not reported that it is cut, or nullptr.
const char* AvReader::missing_end() const {
  if (options_.stop.stop_requested()) return nullptr;  // a pipe then ends anywhere
  const std::string_view format = container_->iformat->name;
  if (format == "yuv4mpegpipe") return avio_tell(container_->pb) > packets_end_ ? "a part of the last frame" : nullptr;
  return input_->missing_end(format);
}

/// Called at the end of the stream: warns about the packets and frames that were damaged, if `tolerant` is set.
void AvReader::tell_damage() {
  if (damaged_packets_ > 0) warn(count_text(damaged_packets_, "damaged packet") + " skipped: frames may be missing");
  if (damaged_frames_ > 0) warn(count_text(damaged_frames_, "damaged frame") + " used despite the damage");
  damaged_packets_ = damaged_frames_ = 0;
}

}  // namespace c63
