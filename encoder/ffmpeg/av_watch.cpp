#include "ffmpeg/av_watch.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavutil/buffer.h>
#include <libavutil/error.h>
#include <libavutil/log.h>
#include <libavutil/mem.h>
}

#include <algorithm>
#include <cerrno>
#include <limits>
#include <new>
#include <string_view>
#include <utility>

#include "c63/byte_count.h"
#include "io/descriptor.h"

namespace c63 {
namespace {

thread_local AvWatch* used_here = nullptr;

/// All watches that exist. A log message of an FFmpeg context that belongs to none of them comes from another user of
/// FFmpeg in this process.
struct Registry {
  std::mutex mutex;
  std::set<AvWatch*> watches;
  std::atomic<bool> keeps_messages = false;
};

Registry& registry() {
  static auto* instance = new Registry;  // never destroyed, because decoder threads may log until the process ends
  return *instance;
}

std::atomic<AvWatch*> last_abandoned = nullptr;
std::atomic<std::uint64_t> allocation_limit = 0;  // 0: no limit

}  // namespace

AvWatch::Use::Use(AvWatch& watch) : outer_(used_here) { used_here = &watch; }
AvWatch::Use::~Use() { used_here = outer_; }

void AvWatch::Deleter::operator()(AvWatch* watch) const {
  if (watch->abandoned_ != nullptr) return;
  {
    const std::scoped_lock lock(registry().mutex);
    registry().watches.erase(watch);
  }
  delete watch;
}

AvWatchPointer AvWatch::make(std::uint64_t max_memory) {
  AvWatchPointer watch(new AvWatch(max_memory));
  const std::scoped_lock lock(registry().mutex);
  registry().watches.insert(watch.get());
  return watch;
}

void AvWatch::keep_messages() {
  registry().keeps_messages = true;  // the registry is created here, because take_message() must not throw
  av_log_set_callback(take_message);
}

bool AvWatch::keeps_messages() { return registry().keeps_messages; }

void AvWatch::limit_allocations(std::uint64_t bytes) {
  constexpr std::uint64_t kUsual = std::numeric_limits<int>::max();  // FFmpeg's own limit
  av_max_alloc(static_cast<std::size_t>(std::min(bytes, kUsual)));
  allocation_limit = bytes < kUsual ? bytes : 0;
}

std::optional<std::uint64_t> AvWatch::most_allocated() {
  const std::uint64_t bytes = allocation_limit;
  return bytes != 0 ? std::optional(bytes) : std::nullopt;
}

void AvWatch::add_decoder(AVCodecContext& codec) {
  codec.opaque = &tags_.front();
  codec.get_buffer2 = get_buffer;
#if LIBAVCODEC_VERSION_MAJOR < 60
  // With this setting, decoder threads allocate their buffers themselves. Otherwise they would wait until the calling
  // thread allocates for them.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  codec.thread_safe_callbacks = 1;
#pragma GCC diagnostic pop
#endif
}

AvWatch& AvWatch::of(const AVCodecContext& codec) { return *static_cast<const Tag*>(codec.opaque)->watch; }

void AvWatch::abandon_decoder(AVCodecContext* codec) {
  if (codec == nullptr) return;
  abandoned_ = codec;
  next_ = last_abandoned.exchange(this);
}

std::string AvWatch::last_error() const {
  const std::scoped_lock lock(mutex_);
  return line_;
}

void AvWatch::set_packet(AVCodecContext& codec, std::int64_t packet) {
  next_tag_ = (next_tag_ + 1) % tags_.size();
  tags_[next_tag_].packet = packet;
  codec.opaque = &tags_[next_tag_];
}

void AvWatch::add_damage(std::int64_t packet, const std::string& message) {
  const std::scoped_lock lock(mutex_);
  damaged_.insert(packet);
  if (damaged_.size() > 1024) damaged_.erase(damaged_.begin());  // no decoder delays as many frames
  if (!damage_ || packet < damage_->packet) damage_ = {packet, message};
}

void AvWatch::forget_damage() {
  const std::scoped_lock lock(mutex_);
  damage_.reset();
  damaged_.clear();
  container_error_ = false;
}

std::optional<AvWatch::Damage> AvWatch::first_damage() const {
  const std::scoped_lock lock(mutex_);
  return damage_;
}

bool AvWatch::is_damaged(std::int64_t packet) const {
  const std::scoped_lock lock(mutex_);
  return damaged_.contains(packet);
}

/// Returns the decoder to which a context of FFmpeg belongs; null if there is none. For contexts of decoder threads,
/// which are copies of the decoder's context, it is the copy.
AVCodecContext* AvWatch::decoder_of(void* context) {
  while (context != nullptr) {
    const AVClass* const type = *static_cast<AVClass**>(context);
    if (type == nullptr) return nullptr;
    if (type == avcodec_get_class()) return static_cast<AVCodecContext*>(context);
    if (type->parent_log_context_offset == 0) return nullptr;
    context = *reinterpret_cast<void**>(static_cast<std::uint8_t*>(context) + type->parent_log_context_offset);
  }
  return nullptr;
}

/// Returns the tag of this watch to which a decoder points; null if it is another's decoder. Such a decoder's `opaque`
/// may be anything, so it is compared, not followed.
const AvWatch::Tag* AvWatch::own_tag(const AVCodecContext* codec) const {
  if (codec == nullptr) return nullptr;
  const auto found = std::ranges::find_if(tags_, [&](const Tag& tag) { return &tag == codec->opaque; });
  return found != tags_.end() ? &*found : nullptr;
}

void AvWatch::take_message(void* context, int level, const char* format, std::va_list arguments) noexcept {
  // If an allocation has just failed on this thread, errno is still ENOMEM.
  const bool no_memory = errno == ENOMEM;
  AvWatch* const here = used_here;
  if (here != nullptr && level > AV_LOG_INFO && !no_memory) return;
  if (here != nullptr) {
    here->note(context, level, format, arguments, no_memory);
    errno = 0;
    return;
  }
  {
    const std::scoped_lock lock(registry().mutex);
    const AVCodecContext* const codec = decoder_of(context);
    for (AvWatch* const watch : registry().watches) {
      if (watch->own_tag(codec) == nullptr) continue;
      watch->note(context, level, format, arguments, no_memory);
      errno = 0;
      return;
    }
  }
  av_log_default_callback(context, level, format, arguments);
}

void AvWatch::note(void* context, int level, const char* format, std::va_list arguments, bool no_memory) noexcept {
  if (no_memory) ran_out_of_memory_ = true;
  // Some decoders only report that they invent blocks for missing ones.
  const bool conceals = level == AV_LOG_INFO && std::string_view(format).starts_with("concealing");
  if (level > AV_LOG_WARNING && !conceals) return;
  char text[512];
  int prefix = 0;  // no prefix, because it would contain an address
  av_log_format_line2(context, level, format, arguments, text, sizeof text, &prefix);
  if (std::string_view(text).find("insufficient memory") != std::string_view::npos) ran_out_of_memory_ = true;
  if (std::string_view(text).find("allocate") != std::string_view::npos) was_refused_memory_ = true;
  if (level > AV_LOG_ERROR && !conceals) return;
  try {
    std::string line = one_line(text);
    while (!line.empty() && line.back() == ' ') line.pop_back();
    if (line.empty()) return;
    const AVCodecContext* const codec = decoder_of(context);
    if (codec == nullptr) container_error_ = true;
    if (const Tag* const tag = own_tag(codec)) add_damage(tag->packet, line);
    const std::scoped_lock lock(mutex_);
    line_ = std::move(line);
  } catch (const std::bad_alloc&) {
    // There is no memory for the logged line. So it is dropped, and the error will have less detail.
  }
}

/// The first buffer of a decoded picture. It is wrapped in another buffer, so that the watch is told when the picture
/// is freed.
struct AvWatch::Held {
  AvWatch* watch;
  AVBufferRef* buffer;
  std::uint64_t bytes;
};

int AvWatch::get_buffer(AVCodecContext* codec, AVFrame* frame, int flags) noexcept {
  const int code = avcodec_default_get_buffer2(codec, frame, flags);
  if (code < 0 || frame->buf[0] == nullptr || codec->hw_frames_ctx != nullptr) return code;  // a GPU's memory is not limited
  AvWatch& watch = of(*codec);
  std::uint64_t bytes = 0;
  for (const AVBufferRef* buffer : frame->buf) bytes += buffer != nullptr ? buffer->size : 0;
  AVBufferRef* watched = nullptr;
  if (watch.taken_.fetch_add(bytes) + bytes > watch.max_memory_) {
    watch.exceeded_memory_ = true;
  } else if (auto* held = new (std::nothrow) Held{&watch, frame->buf[0], bytes}) {
    watched = av_buffer_create(frame->buf[0]->data, frame->buf[0]->size, release, held, 0);
    if (watched == nullptr) delete held;
  }
  if (watched == nullptr) {
    watch.taken_ -= bytes;
    for (AVBufferRef*& buffer : frame->buf) av_buffer_unref(&buffer);
    return AVERROR(ENOMEM);
  }
  frame->buf[0] = watched;
  return 0;
}

void AvWatch::release(void* opaque, std::uint8_t* /*data*/) noexcept {
  auto* held = static_cast<Held*>(opaque);
  held->watch->taken_ -= held->bytes;
  av_buffer_unref(&held->buffer);
  delete held;
}

void check_av_memory(const AvWatch& watch, int code, int system_code, const ErrorPlace& place) {
  if (watch.exceeded_memory()) {
    throw Error(ErrorKind::limit, "C63-MAX-MEMORY",
                "decoded pictures take more than the limit of " + bytes_text(watch.max_memory()), place);
  }
  const bool no_memory = system_code == ENOMEM || watch.ran_out_of_memory();
  // If the system refused memory, errno is ENOMEM. If FFmpeg itself refused it because of its limit, errno does not
  // change.
  if (const auto most = AvWatch::most_allocated();
      most && !no_memory && (code == AVERROR(ENOMEM) || watch.was_refused_memory())) {
    throw Error(ErrorKind::limit, "C63-MAX-MEMORY",
                "FFmpeg wants more memory at once than the limit of " + bytes_text(*most), place);
  }
  if (no_memory || code == AVERROR(ENOMEM)) {
    throw Error(ErrorKind::memory, "C63-MEMORY", "FFmpeg ran out of memory", place);
  }
}

Error av_fault(const AvWatch& watch, const char* id, const std::string& what, int code, const ErrorPlace& place) {
  for (const int system_code : {EMFILE, ENFILE}) {
    if (code == AVERROR(system_code)) return system_fault(ErrorKind::input, id, what, system_code, place);
  }
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(code, text, sizeof text);
  const std::string logged = watch.last_error();
  return {ErrorKind::input, id, what + ": " + text + (logged.empty() ? "" : " (" + logged + ")"), place};
}

}  // namespace c63
