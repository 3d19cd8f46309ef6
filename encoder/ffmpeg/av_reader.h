#pragma once

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "c63/frame_source.h"
#include "ffmpeg/av_input.h"
#include "ffmpeg/av_presentation.h"
#include "ffmpeg/av_watch.h"
#include "io/media_module.h"

namespace c63 {

/// Reads the packets of a file's best video stream, and decodes them.
///
/// A damaged film gives the same frames in each run, with any number of decoder threads. Packets carry their numbers
/// through the decoder, as times. FFmpeg returns the frames of one packet after those of the packets before it, and by
/// then has found all damage of these packets. So a frame is good if its packet comes before the first damaged one. The
/// first other frame ends the film with an error. With SourceOptions::tolerant, damage is only counted. Then one thread
/// decodes, because how damage is concealed depends on what other threads have decoded.
class AvReader {
 public:
  /// `check_size` throws if pictures of a size cannot be coded. Throws Error.
  AvReader(std::unique_ptr<ByteSource> bytes, const SourceOptions& options, CheckSize check_size);
  ~AvReader();
  AvReader(const AvReader&) = delete;
  AvReader& operator=(const AvReader&) = delete;

  /// Decodes the next frame in display order. Returns false at the end. Throws Error. If a GPU decodes and there is any
  /// trouble, the CPU decodes the film again, up to this frame, and goes on.
  [[nodiscard]] bool next();
  /// The frame that next() decoded.
  [[nodiscard]] AVFrame& frame() { return *frame_; }
  /// frame()'s presentation time in seconds; empty if the container does not give it.
  [[nodiscard]] std::optional<double> time() const { return times_.time(); }
  /// The presentation and decoding time of frame()'s packet, or empty if frame() is not a key frame.
  [[nodiscard]] std::optional<SeekTable::Point> key() const;

  /// Makes the key frame at `point` the next frame. Returns false if it is not found; then only restart() helps. From
  /// here on, damage is ignored, because a decoder that begins in the middle reports much. The caller compares frames
  /// with their checksums.
  [[nodiscard]] bool go_to(const SeekTable::Point& point);
  /// Reads the film from its start again, without warnings.
  void restart();

  /// The number of the frame that next() decodes; for errors. The caller sets it.
  std::int64_t index = 0;

  /// Returns true if a GPU decodes. frame() then has a picture in its memory.
  [[nodiscard]] bool on_device() const { return device_ != nullptr; }
  [[nodiscard]] bool seekable() const { return bytes_->size().has_value(); }
  [[nodiscard]] FrameRate rate() const { return rate_; }
  [[nodiscard]] std::optional<std::int64_t> expected_frame_count() const { return expected_; }
  [[nodiscard]] const AVStream& stream() const { return *container_->streams[stream_]; }
  [[nodiscard]] AvWatch& watch() { return *watch_; }
  [[nodiscard]] ErrorPlace place() const { return {.file = name_, .frame = index}; }
  /// Returns an error with `message` as its cause. If `code` is negative, it also has FFmpeg's text for that code.
  [[nodiscard]] Error fail(const char* id, const std::string& message, int code = 0) const;
  void warn(const std::string& message) const;

 private:
  struct FormatCloser {
    void operator()(AVFormatContext* context) const;
  };
  struct CodecCloser {
    void operator()(AVCodecContext* context) const;
  };

  void open();
  void open_container();
  void begin_container();
  void examine_container();
  void discard_other_streams();
  [[nodiscard]] const char* obstacle_on_device() const;
  void open_decoder();
  [[nodiscard]] bool decode();
  [[nodiscard]] bool go_on_without_device(const std::string& why);
  [[nodiscard]] int thread_count(const AVCodecParameters& parameters) const;
  [[nodiscard]] std::int64_t max_pixels() const;
  void check_container(int result, const char* what);
  [[nodiscard]] int read_packet();
  void feed();
  void end();
  void note_decoder_fault(int code);
  [[nodiscard]] bool is_wanted(const AVPacket& packet);
  void note_key(const AVPacket& packet);
  [[nodiscard]] Error damage_error(const AvWatch::Damage& damage) const;
  void check_frame();
  [[nodiscard]] const char* missing_end() const;
  void tell_damage();
  template <typename Call>
  int call(const Call& what);

  AvWatchPointer watch_;  // must outlive all members below
  std::unique_ptr<ByteSource> bytes_;
  SourceOptions options_;
  CheckSize check_size_;
  std::string name_;
  std::unique_ptr<AvInput> input_;  // must outlive the members below that read it
  std::unique_ptr<AVFormatContext, FormatCloser> container_;
  std::shared_ptr<FilmDevice> device_;  ///< the GPU that decodes; null: the CPU decodes
  std::unique_ptr<AVCodecContext, CodecCloser> codec_;
  AvPacketPointer packet_;
  /// A packet that was read, with FFmpeg's code.
  struct ReadPacket {
    AvPacketPointer packet;
    int code = 0;
  };
  std::deque<ReadPacket> ahead_;  ///< what follows packet_ and was already read
  AvFramePointer frame_;
  FrameRate rate_;
  std::optional<std::int64_t> expected_;
  FrameTimes times_;
  std::map<std::int64_t, SeekTable::Point> keys_;  ///< recent key frames, by the numbers of their packets
  std::optional<std::int64_t> entry_;              ///< time of the key frame that go_to() searches for
  int stream_ = -1;
  std::int64_t packets_ = 0;
  std::int64_t packets_end_ = 0;  ///< where the last packet of any stream ended in the file
  bool begins_with_key_ = false;
  bool ended_ = false;
  bool ignores_log_ = false;  ///< after go_to()
  std::optional<std::string> opening_fault_;
  // Only with `tolerant`.
  std::int64_t damaged_packets_ = 0;
  std::int64_t damaged_frames_ = 0;
  int faults_in_a_row_ = 0;
};

}  // namespace c63
