#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "c63/enum_names.h"
#include "c63/film_device.h"
#include "c63/picture.h"
#include "c63/settings.h"

namespace c63 {

/// A source of frames. Frames are 8-bit 4:2:0, planes Y, U, V without gaps, frame_bytes(width, height) bytes each.
///
/// An encode calls read() from its own threads. If the source cannot seek, one thread reads frame after frame, ahead of
/// the coding. If the source is concurrent, several threads call read() at once. Otherwise one thread at a time calls
/// it. The functions that describe the source, such as format() and frame_count(), are called before the first read(),
/// on the caller's thread.
class FrameSource {
 public:
  virtual ~FrameSource() = default;

  [[nodiscard]] virtual VideoFormat format() const = 0;
  /// The number of frames; empty if it is unknown until the end (a pipe).
  [[nodiscard]] virtual std::optional<std::int64_t> frame_count() const = 0;
  /// The number of frames that the video's header gives, or frame_count(). It may be wrong, so it is for estimates only:
  /// of progress, of time, of memory.
  [[nodiscard]] virtual std::optional<std::int64_t> expected_frame_count() const { return frame_count(); }
  /// Returns true if read() takes any index at any time. Otherwise indices come in the order 0, 1, 2, …
  [[nodiscard]] virtual bool seekable() const = 0;
  /// Returns true if frames that are not read in time are lost: a pipe, a camera, pushed frames. After a stop, all
  /// frames that were read are still coded.
  [[nodiscard]] virtual bool live() const { return !seekable(); }
  /// Returns true if the source says that samples use the values 0 to 255; otherwise they are in video range. Frames are
  /// coded as they are stored. A c63 stream does not tell, so this is for pictures of the source.
  [[nodiscard]] virtual bool full_range() const { return false; }
  /// Returns true if several threads may call read() at once. Only a seekable source may be concurrent.
  [[nodiscard]] virtual bool concurrent() const { return false; }
  /// Fills `frame` with frame `index`. Returns false if that frame does not exist. Throws Error (input) if reading fails.
  [[nodiscard]] virtual bool read(std::int64_t index, std::span<std::uint8_t> frame) = 0;
  /// Tells a source that cannot seek that frame `index` is wanted soon. `next` is the frame that read() would return
  /// next; it is not after `index`. The source skips frames if it can. Returns the index that the next read() must use,
  /// from `next` to `index`.
  [[nodiscard]] virtual std::int64_t skip_towards(std::int64_t next, [[maybe_unused]] std::int64_t index) { return next; }
  /// Called from another thread when the encode is ending. A read() that waits for input should give up and return false.
  virtual void stop_waiting() {}
  /// Returns the bytes of frame `index` where they lie, without a copy. Only a concurrent source may do this, and only
  /// if the memory does not change until the encode is over. Empty if the source cannot, or if the frame does not
  /// exist. A GPU reads frames in its own memory and in page-locked memory (cudaMallocHost, cudaHostRegister) directly,
  /// without a call of read().
  [[nodiscard]] virtual std::span<const std::uint8_t> in_place([[maybe_unused]] std::int64_t index) { return {}; }
  /// Returns true if the CPU can read what in_place() returns. False: it lies in a GPU's memory, and read() copies it
  /// to the host.
  [[nodiscard]] virtual bool in_host_memory() const { return true; }
  /// The GPU that decodes the frames. read() then also takes memory of that GPU. Null: a GPU decodes nothing.
  [[nodiscard]] virtual std::shared_ptr<FilmDevice> film_device() const { return nullptr; }
};

/// A source of whole frames in memory, without gaps. The memory must outlive the source. The constructor throws Error
/// (input, C63-PARTIAL-FRAME) if the memory does not hold a whole number of frames. in_place() returns the frames, so a
/// GPU reads page-locked memory directly.
class MemorySource final : public FrameSource {
 public:
  MemorySource(std::span<const std::uint8_t> frames, VideoFormat format);

  [[nodiscard]] VideoFormat format() const override { return format_; }
  [[nodiscard]] std::optional<std::int64_t> frame_count() const override { return count_; }
  [[nodiscard]] bool seekable() const override { return true; }
  [[nodiscard]] bool concurrent() const override { return true; }
  [[nodiscard]] bool read(std::int64_t index, std::span<std::uint8_t> frame) override;
  [[nodiscard]] std::span<const std::uint8_t> in_place(std::int64_t index) override;

 private:
  std::span<const std::uint8_t> frames_;
  VideoFormat format_;
  std::size_t frame_bytes_;
  std::int64_t count_;
};

/// The format of a video file (c63/source_formats.inc).
enum class SourceFormat {
#define C63_SOURCE_FORMAT(format, text, open) format,
#include "c63/source_formats.inc"
#undef C63_SOURCE_FORMAT
};

/// The positions in a video file from which FFmpeg can begin to read, and checksums of the frames. The table is filled
/// while the whole video is read once in order. Later sources of the same video use it to skip to the frames that they
/// need.
struct SeekTable {
  struct Point {
    std::int64_t frame = 0;    ///< a key frame
    std::int64_t time = 0;     ///< presentation time, in the container's units
    std::int64_t decoded = 0;  ///< decoding time, in the container's units; seeking uses this time

    bool operator==(const Point&) const = default;
  };
  std::vector<Point> points;        ///< in ascending order of frames
  /// a checksum of each frame's samples; a frame that is read after a skip is compared with it
  std::vector<std::uint64_t> sums;

  bool operator==(const SeekTable&) const = default;
};

/// A block of a video and the vector with which the video's own codec predicted it, as FFmpeg exports them.
struct CodecVector {
  int source = 0;  ///< negative: predicted from an earlier frame in display order; positive: from a later one
  int width = 0;   ///< the block's width, in samples
  int height = 0;
  int from_x = 0;  ///< centre of the prediction, in whole samples
  int from_y = 0;
  int to_x = 0;    ///< centre of the block, in whole samples
  int to_y = 0;
  int motion_x = 0;  ///< from the block to its prediction, in 1/scale samples
  int motion_y = 0;
  int scale = 1;
  std::uint64_t flags = 0;

  bool operator==(const CodecVector&) const = default;
};

/// What a video that FFmpeg reads says of a frame, besides its samples.
struct FrameDetails {
  std::optional<double> time = {};  ///< presentation time in seconds, as the container gives it
  char kind = '?';                  ///< how the codec has coded it, such as I, P or B; ?: unknown
  /// In FFmpeg's order; only with SourceOptions::codec_vectors. MPEG-1, MPEG-2, MPEG-4 and H.264 have vectors, among
  /// others. For other codecs the list is empty.
  std::vector<CodecVector> vectors = {};
};

/// How a video is opened.
struct SourceOptions {
  std::string path;  ///< "-" is stdin
  SourceFormat format = SourceFormat::automatic;
  int width = 0;  ///< in samples; 0: taken from the file or its name
  int height = 0;
  std::optional<FrameRate> rate = {};  ///< empty: the file's, or 25 per second
  bool strict = false;                 ///< a partial last frame is an error instead of a warning
  bool tolerant = false;               ///< for FFmpeg: damaged packets are skipped, and a warning gives their number
  /// For FFmpeg. An empty table is filled while frames are read. With a filled table, the source can skip frames. It
  /// then compares each frame that it reads with the table's checksum. If one differs, it decodes the file again from
  /// the start.
  std::shared_ptr<SeekTable> seek_table = {};
  /// For FFmpeg: receives the details of each frame that is read; null: they are not wanted.
  std::shared_ptr<FrameDetails> details = {};
  bool codec_vectors = false;  ///< for FFmpeg: `details` includes the codec's vectors, which takes time
  /// For FFmpeg: no warning if frames do not have the same distance in time.
  bool ignore_times = false;
  /// For FFmpeg: read() may leave the chroma samples of its frame as they are, which saves time.
  bool luma_only = false;
  /// For FFmpeg: the GPU that decodes the film. A warning says why if it cannot; then the CPU decodes. A GPU does not
  /// notice damage inside pictures. So if any other damage is found, the CPU decodes the film from its start on, up to the
  /// frame that is next, and goes on.
  std::shared_ptr<FilmDevice> device = {};
  Limits limits = {};
  std::stop_token stop = {};             ///< a stop request ends the wait for a pipe, as if the pipe had ended
  std::function<void(const std::string&)> warn = {};  ///< receives one line, without the file's name
  /// The folder of libc63_ffmpeg.so. Empty: the folder of the program or library, or where the module was installed. A
  /// process loads the module only once.
  std::string module_folder = {};
};

/// Opens a video. With SourceFormat::automatic, a file that starts as Y4M does is read as Y4M. A file named *.yuv,
/// *.yuv420p, *.i420 or *.raw is raw. A file with `width` and `height` given is raw too, unless its name is that of a
/// video container. FFmpeg reads all others. Raw and Y4M files can seek, also if they are redirected to stdin; pipes
/// and FFmpeg's input cannot. FFmpeg is loaded at the first video that needs it. Throws Error (usage, input, limit),
/// and (input, C63-NO-FFMPEG) if c63's module for FFmpeg or a library of FFmpeg is missing.
[[nodiscard]] std::unique_ptr<FrameSource> open_frame_source(const SourceOptions& options);

/// Returns a source of the frames of `source` from `first` on, at most `count` (-1: all), numbered from 0. If `source`
/// cannot seek, the frames before `first` are skipped or read and dropped. Throws Error (usage, C63-SEEK-RANGE) if
/// `first` is below 0.
[[nodiscard]] std::unique_ptr<FrameSource> clip_frames(std::unique_ptr<FrameSource> source, std::int64_t first,
                                                       std::int64_t count = -1);

/// Returns the picture's width and height from a file's name ("FOREMAN_352x288.yuv", "akiyo_qcif.yuv"), if it has them.
[[nodiscard]] std::optional<std::pair<int, int>> size_from_name(const std::string& path);

}  // namespace c63
