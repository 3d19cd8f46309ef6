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

/// What is known of FFmpeg's work for one source or picture: what it logs, if the process keeps messages
/// (AvWatch::keep_messages()), and how much memory its decoder's pictures take.
class AvWatch {
 public:
  /// Calls of FFmpeg on this thread are for a watch while one of these lives.
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

  /// `max_memory`: what a decoder's pictures may take. Throws std::bad_alloc.
  [[nodiscard]] static std::unique_ptr<AvWatch, Deleter> make(std::uint64_t max_memory);
  AvWatch(const AvWatch&) = delete;
  AvWatch& operator=(const AvWatch&) = delete;

  /// FFmpeg's log goes to watches from now on, for the whole process. What is about none of them goes to its default
  /// log.
  static void keep_messages();

  /// FFmpeg refuses to allocate more at once from now on, for the whole process.
  static void limit_allocations(std::uint64_t bytes);
  /// That limit; nothing if there is only FFmpeg's own.
  [[nodiscard]] static std::optional<std::uint64_t> most_allocated();

  /// To be called before the decoder is opened. The watch outlives the decoder and its frames.
  void add_decoder(AVCodecContext& codec);
  /// Never frees the decoder, nor this: its threads may go on.
  void abandon_decoder(AVCodecContext* codec);

  /// The last line that was logged as an error, without newline; empty for none.
  [[nodiscard]] std::string last_error() const;
  /// Whether a thread of the decoder's had run out of memory when it logged anything: decoders do not pass that on.
  [[nodiscard]] bool ran_out_of_memory() const { return ran_out_of_memory_; }
  /// Whether FFmpeg said that it was refused memory; it does not pass that on either.
  [[nodiscard]] bool was_refused_memory() const { return was_refused_memory_; }
  /// Whether a picture was refused because of `max_memory`.
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
  AvWatch* next_ = nullptr;  ///< of those with an abandoned decoder: they are no leak, but kept
};

using AvWatchPointer = std::unique_ptr<AvWatch, AvWatch::Deleter>;

}  // namespace c63
