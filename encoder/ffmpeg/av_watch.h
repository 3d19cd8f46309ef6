#pragma once

#include <atomic>
#include <cstdarg>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

struct AVCodecContext;
struct AVFrame;

namespace c63 {

/// Observes FFmpeg's work for one source or picture. It keeps what FFmpeg logs (after AvWatch::keep_messages()), and
/// limits the memory of the decoder's pictures.
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

  /// From now on, makes FFmpeg refuse every single allocation above `bytes`, for the whole process.
  static void limit_allocations(std::uint64_t bytes);
  /// The limit that was set by limit_allocations(); empty if only FFmpeg's own limit holds.
  [[nodiscard]] static std::optional<std::uint64_t> most_allocated();

  /// Makes this watch observe a decoder. Call it before the decoder is opened. The watch must outlive the decoder and
  /// its frames.
  void add_decoder(AVCodecContext& codec);
  /// Makes sure that the decoder and this watch are never freed, because the decoder's threads may still run.
  void abandon_decoder(AVCodecContext* codec);

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

  explicit AvWatch(std::uint64_t max_memory) : max_memory_(max_memory) {}
  ~AvWatch() = default;
  static AvWatch* of_decoder(void* context);
  static void take_message(void* context, int level, const char* format, std::va_list arguments) noexcept;
  static int get_buffer(AVCodecContext* codec, AVFrame* frame, int flags) noexcept;
  static void release(void* held, std::uint8_t* data) noexcept;
  void note(void* context, int level, const char* format, std::va_list arguments, bool no_memory) noexcept;

  mutable std::mutex mutex_;
  std::string line_;
  std::atomic<bool> ran_out_of_memory_ = false;
  std::atomic<bool> was_refused_memory_ = false;
  std::atomic<bool> exceeded_memory_ = false;
  std::atomic<std::uint64_t> taken_ = 0;
  std::uint64_t max_memory_;
  AVCodecContext* abandoned_ = nullptr;
  AvWatch* next_ = nullptr;  ///< list of abandoned watches; they stay reachable, so leak checkers do not report them
};

using AvWatchPointer = std::unique_ptr<AvWatch, AvWatch::Deleter>;

}  // namespace c63
