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

/// Observes FFmpeg's work for one source or picture: what it logs, after AvWatch::keep_messages(), and how much memory its
/// decoder's pictures take.
class AvWatch {
 public:
  /// While one exists, calls of FFmpeg on this thread belong to its watch.
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

  /// Sends FFmpeg's log to watches from now on, for the whole process. Messages about none of them go to the default log.
  static void keep_messages();

  /// Makes FFmpeg refuse single allocations above `bytes` from now on, for the whole process.
  static void limit_allocations(std::uint64_t bytes);
  /// That limit; empty if only FFmpeg's own limit holds.
  [[nodiscard]] static std::optional<std::uint64_t> most_allocated();

  /// Call it before the decoder is opened. The watch must outlive the decoder and its frames.
  void add_decoder(AVCodecContext& codec);
  /// Keeps the decoder and this for ever, because the decoder's threads may go on.
  void abandon_decoder(AVCodecContext* codec);

  /// The last line that was logged as an error, without newline; empty if none.
  [[nodiscard]] std::string last_error() const;
  /// Returns true if a decoder thread logged anything after memory ran out. Decoders do not report that.
  [[nodiscard]] bool ran_out_of_memory() const { return ran_out_of_memory_; }
  /// Returns true if FFmpeg logged that memory was refused. Its calls do not report this.
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
  AvWatch* next_ = nullptr;  ///< the list of abandoned ones: reachable, so that they do not count as leaks
};

using AvWatchPointer = std::unique_ptr<AvWatch, AvWatch::Deleter>;

}  // namespace c63
