#pragma once

extern "C" {
#include <libavcodec/packet.h>
#include <libavutil/frame.h>
}

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "c63/error.h"

struct AVCodecContext;

namespace c63 {

/// A deleter for objects whose FFmpeg function for freeing takes a pointer to the pointer.
template <auto Free>
struct AvDeleter {
  template <typename T>
  void operator()(T* object) const {
    Free(&object);
  }
};

using AvFramePointer = std::unique_ptr<AVFrame, AvDeleter<av_frame_free>>;
using AvPacketPointer = std::unique_ptr<AVPacket, AvDeleter<av_packet_free>>;

/// Observes FFmpeg's work for one source or picture. It keeps what FFmpeg logs (after AvWatch::keep_messages()), and
/// limits the memory of the decoder's pictures. It also knows which packets the decoder found damaged: decoders conceal
/// damage and return a frame, so that only their log tells.
class AvWatch {
 public:
  /// While an object of this class exists, messages that FFmpeg logs on this thread go to the object's watch.
  class Use {
   public:
    explicit Use(AvWatch& watch);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    AvWatch* outer_;
  };
  struct Deleter {
    void operator()(AvWatch* watch) const;
  };

  /// `max_memory` limits the memory of a decoder's pictures, in bytes. Throws std::bad_alloc.
  [[nodiscard]] static std::unique_ptr<AvWatch, Deleter> make(std::uint64_t max_memory);
  AvWatch(const AvWatch&) = delete;
  AvWatch& operator=(const AvWatch&) = delete;

  /// From now on, sends FFmpeg's log to the watches, for the whole process. Messages that concern no watch go to
  /// FFmpeg's default log.
  static void keep_messages();
  /// Returns true after keep_messages(). Without it, damage is known only from what FFmpeg's calls return.
  [[nodiscard]] static bool keeps_messages();

  /// From now on, makes FFmpeg refuse every single allocation above `bytes`, for the whole process.
  static void limit_allocations(std::uint64_t bytes);
  /// The limit that was set by limit_allocations(); empty if only FFmpeg's own limit holds.
  [[nodiscard]] static std::optional<std::uint64_t> most_allocated();

  /// Makes this watch observe a decoder. Call it before the decoder is opened. The watch must outlive the decoder and
  /// its frames.
  void add_decoder(AVCodecContext& codec);
  /// The watch of a decoder that was given to add_decoder().
  [[nodiscard]] static AvWatch& of(const AVCodecContext& codec);
  /// Makes sure that the decoder and this watch are never freed, because the decoder's threads may still run.
  void abandon_decoder(AVCodecContext* codec);

  /// Call it before the decoder gets a packet. What the decoder logs while it works on this packet is counted as damage
  /// of the packet, on whichever thread it works. `packet` must increase from call to call.
  void set_packet(AVCodecContext& codec, std::int64_t packet);
  /// Notes damage that FFmpeg did not log. Only the first message about the first damaged packet is kept.
  void add_damage(std::int64_t packet, const std::string& message);
  void forget_damage();
  struct Damage {
    std::int64_t packet = 0;
    std::string message;
  };
  /// The first damaged packet, in decoding order, that is known so far.
  [[nodiscard]] std::optional<Damage> first_damage() const;
  [[nodiscard]] bool is_damaged(std::int64_t packet) const;
  /// Returns true if the container logged an error since the last call.
  [[nodiscard]] bool take_container_error() { return container_error_.exchange(false); }

  /// The last line that was logged as an error, without newline; empty if there was none.
  [[nodiscard]] std::string last_error() const;
  /// Returns true if a message of FFmpeg, also of a decoder thread, showed that memory ran out. Decoders do not report
  /// that in another way.
  [[nodiscard]] bool ran_out_of_memory() const { return ran_out_of_memory_; }
  /// Returns true if FFmpeg logged that an allocation was refused. Its calls do not report that.
  [[nodiscard]] bool was_refused_memory() const { return was_refused_memory_; }
  /// Returns true if a picture was refused because of `max_memory`.
  [[nodiscard]] bool exceeded_memory() const { return exceeded_memory_; }
  [[nodiscard]] std::uint64_t max_memory() const { return max_memory_; }

 private:
  struct Held;
  /// What a decoder's `opaque` points to. FFmpeg copies that pointer to the thread that decodes a packet.
  struct Tag {
    AvWatch* watch = nullptr;
    std::int64_t packet = 0;
  };

  explicit AvWatch(std::uint64_t max_memory) : max_memory_(max_memory) { tags_.fill({this, 0}); }
  ~AvWatch() = default;
  static AVCodecContext* decoder_of(void* context);
  [[nodiscard]] const Tag* own_tag(const AVCodecContext* codec) const;
  static void take_message(void* context, int level, const char* format, std::va_list arguments) noexcept;
  static int get_buffer(AVCodecContext* codec, AVFrame* frame, int flags) noexcept;
  static void release(void* held, std::uint8_t* data) noexcept;
  void note(void* context, int level, const char* format, std::va_list arguments, bool no_memory) noexcept;

  /// More tags than a decoder has threads, so that no thread's tag is used for another packet while it works.
  std::array<Tag, 64> tags_;
  std::size_t next_tag_ = 0;
  mutable std::mutex mutex_;  ///< guards the next three
  std::string line_;
  std::optional<Damage> damage_;
  std::set<std::int64_t> damaged_;
  std::atomic<bool> container_error_ = false;
  std::atomic<bool> ran_out_of_memory_ = false;
  std::atomic<bool> was_refused_memory_ = false;
  std::atomic<bool> exceeded_memory_ = false;
  std::atomic<std::uint64_t> taken_ = 0;
  std::uint64_t max_memory_;
  AVCodecContext* abandoned_ = nullptr;
  AvWatch* next_ = nullptr;  ///< list of abandoned watches; they stay reachable, so leak checkers do not report them
};

using AvWatchPointer = std::unique_ptr<AvWatch, AvWatch::Deleter>;

/// Throws an Error if FFmpeg ran out of memory, either in a call that returned `code` and set errno to `system_code`,
/// or on a decoder thread. It is Error (memory), or Error (limit, C63-MAX-MEMORY) if a limit was the cause.
void check_av_memory(const AvWatch& watch, int code, int system_code, const ErrorPlace& place);

/// Calls FFmpeg and returns what `call()` returned. Throws what check_av_memory() throws if a memory allocation in it
/// failed. This is checked even if `call()` returned success, because FFmpeg may have continued without a frame or a
/// setting.
template <typename Call>
[[nodiscard]] int av_call(AvWatch& watch, const Call& call, const ErrorPlace& place) {
  const AvWatch::Use use(watch);
  errno = 0;
  const int code = call();
  check_av_memory(watch, code, errno, place);
  return code;
}

/// Returns the error for a failed call: Error (input, `id`), or a limit (C63-OPEN-FILES) if too many files are open.
/// The message includes FFmpeg's text for `code` and the last line that FFmpeg logged.
[[nodiscard]] Error av_fault(const AvWatch& watch, const char* id, const std::string& what, int code,
                             const ErrorPlace& place);

}  // namespace c63
