extern "C" {
#include <libavutil/mem.h>
#include <libavutil/motion_vector.h>
#include <libavutil/murmur3.h>
#include <libavutil/pixdesc.h>
}

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <new>
#include <utility>

#include "ffmpeg/av_reader.h"
#include "ffmpeg/frame_converter.h"
#include "ffmpeg/module.h"
#include "io/copy_padded.h"
#include "io/one_ahead.h"
#include "io/text.h"

namespace c63 {
namespace {

/// Returns the checksum that a SeekTable has for a frame with these samples.
std::uint64_t sum_of(std::span<const std::uint8_t> samples) {
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

/// Returns what `call` returns. If it throws an input error, returns false, because some streams cannot be decoded from
/// the middle.
template <typename Call>
bool succeeds(const Call& call) {
  try {
    return call();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::input) throw;
    return false;
  }
}

/// The frames of a file's best video stream, in display order, each once. With a filled SeekTable, it skips frames. It
/// returns the same frames as a source that reads in order: each frame after a skip is compared with its checksum in
/// the table. If one differs or is missing, the file is read again from its start, with a warning.
class AvSource final : public FrameSource {
 public:
  AvSource(std::unique_ptr<ByteSource> bytes, const SourceOptions& options, const CheckSize& check_size)
      : options_(with_filled_table(options)), reader_(std::move(bytes), options_, check_size), shown_(av_frame_alloc()) {
    if (!shown_) throw std::bad_alloc();
    // A coded stream without a container gives its size only with its first frame.
    has_frame_ = reader_.next();
    if (!has_frame_) throw reader_.fail("C63-AV-EMPTY", "the video stream has no frames");
    coded_width_ = reader_.frame().width;
    coded_height_ = reader_.frame().height;
    format_ = {even_side(coded_width_), even_side(coded_height_), reader_.rate()};
    format_.repeated_columns = format_.width - coded_width_;
    format_.repeated_rows = format_.height - coded_height_;
    check_size(format_.width, format_.height);
    if (reader_.on_device()) device_ = options_.device;
    if (const auto turned = turned_warning(reader_.stream())) reader_.warn(*turned);
    prepare_converter();
    if (converter_->changes_samples()) {
      reader_.warn(pixel_format_name(reader_.frame().format) + " is converted to yuv420p");
    }
    if (format_.width != coded_width_ || format_.height != coded_height_) {
      reader_.warn(size_text(coded_width_, coded_height_) + " is padded to " + size_text(format_.width, format_.height) +
                   " by repeating the last column and row");
    }
  }

  VideoFormat format() const override { return format_; }
  std::optional<std::int64_t> frame_count() const override { return std::nullopt; }
  std::optional<std::int64_t> expected_frame_count() const override { return reader_.expected_frame_count(); }
  bool seekable() const override { return false; }
  bool live() const override { return !reader_.seekable(); }
  bool full_range() const override { return converter_->keeps_full_range(); }
  std::shared_ptr<FilmDevice> film_device() const override { return device_; }

  bool read(std::int64_t index, std::span<std::uint8_t> frame) override {
    if (!skipped_) return read_next(index, frame);
    if (reads_as_known(index, frame)) return true;
    if (warn_) warn_("cannot seek to frame " + std::to_string(index) + ": reading from the start");
    failed_ = true;
    skipped_ = false;
    stop_decoding();
    reader_.restart();
    next_ = 0;
    while (next_ < index && read_next(next_, frame)) {
    }
    return read_next(index, frame);
  }

  std::int64_t skip_towards(std::int64_t next, std::int64_t index) override {
    if (failed_ || !knows(index)) return next;
    const auto after = std::ranges::upper_bound(table_->points, index, {}, &SeekTable::Point::frame);
    if (after == table_->points.begin()) return next;
    const SeekTable::Point& point = *std::prev(after);
    if (point.frame <= next) return next;
    skipped_ = true;
    stop_decoding();
    lost_ = !succeeds([&] { return reader_.go_to(point); });
    has_frame_ = !lost_;
    next_ = point.frame;
    return next_;
  }

 private:
  /// Moves a table that is filled to table_, so that `options_` only has one that is to be filled.
  SourceOptions with_filled_table(SourceOptions options) {
    if (!options.seek_table || options.seek_table->sums.empty()) return options;
    table_ = std::exchange(options.seek_table, nullptr);
    warn_ = std::exchange(options.warn, nullptr);  // other warnings were given when the table was filled
    return options;
  }

  [[nodiscard]] bool knows(std::int64_t index) const {
    return table_ && index < static_cast<std::int64_t>(table_->sums.size());
  }
  [[nodiscard]] bool reads_as_known(std::int64_t index, std::span<std::uint8_t> frame) {
    return !lost_ && knows(index) && succeeds([&] {
      return read_next(index, frame) && sum_of(frame) == table_->sums[static_cast<std::size_t>(index)];
    });
  }

  bool read_next(std::int64_t index, std::span<std::uint8_t> frame) {
    if (index != next_) {
      throw Error(ErrorKind::internal, "C63-SOURCE-ORDER",
                  "the program asked for a frame out of order, but a decoder gives its frames in order",
                  {.file = reader_.place().file, .frame = index});
    }
    if (ahead_) ahead_->end();
    reader_.index = next_;
    if (!has_frame_) has_frame_ = reader_.next();
    if (!has_frame_) return false;
    AVFrame& decoded = reader_.frame();
    if (decoded.width != coded_width_ || decoded.height != coded_height_) {
      throw reader_.fail("C63-AV-SIZE-CHANGE", "the picture size changes from " + size_text(coded_width_, coded_height_) +
                                                   " to " + size_text(decoded.width, decoded.height));
    }
    prepare_converter();
    SeekTable* const table = options_.seek_table.get();
    const bool fills = table != nullptr && static_cast<std::int64_t>(table->sums.size()) == next_;
    if (const auto key = fills ? reader_.key() : std::nullopt) table->points.push_back(*key);
    av_frame_unref(shown_.get());
    av_frame_move_ref(shown_.get(), &decoded);
    const std::optional<double> time = reader_.time();
    has_frame_ = false;
    reader_.index = ++next_;
    // The next frame is decoded while this one is copied. A pipe is read only when its next frame is wanted, because it
    // may keep the thread waiting.
    if (reader_.seekable()) {
      if (!ahead_) ahead_.emplace([this] { has_frame_ = reader_.next(); });
      ahead_->begin();
    }
    copy_shown(frame);
    if (fills) table->sums.push_back(sum_of(frame));
    if (options_.details) {
      options_.details->time = time;
      options_.details->kind = av_get_picture_type_char(shown_->pict_type);
      take_vectors(options_.details->vectors);
    }
    return true;
  }

  /// Copies shown_ to `frame`, which is in the memory of the host or of device_.
  void copy_shown(std::span<std::uint8_t> frame) {
    const auto& planes = shown_->data;
    const auto& pitches = shown_->linesize;
    if (shown_->hw_frames_ctx != nullptr) {
      return device_->split({planes[0], planes[1], pitches[0], pitches[1], shown_->width, shown_->height}, frame, options_.luma_only);
    }
    const bool is_moved = device_ != nullptr && device_->owns(frame.data());
    if (is_moved) moved_.resize(frame.size());
    const std::span<std::uint8_t> to = is_moved ? std::span<std::uint8_t>(moved_) : frame;
    converter_->convert(planes, pitches, to, options_.luma_only);
    if (is_moved) device_->copy(frame, moved_);
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

  /// Makes a new converter_ if there is none for the format of the reader's frame.
  void prepare_converter() {
    const AVFrame& frame = reader_.frame();
    const int format = frame.hw_frames_ctx != nullptr ? static_cast<int>(AV_PIX_FMT_YUV420P) : frame.format;  // split() makes it
    if (converter_ && converter_->is_for(format, frame.color_range)) return;
    try {
      converter_ = std::make_unique<FrameConverter>(reader_.watch(), format, coded_width_, coded_height_, frame.color_range);
    } catch (const Error& error) {
      throw error.at(reader_.place());
    }
  }

  std::shared_ptr<SeekTable> table_;  ///< filled; null: no frames are skipped
  std::function<void(const std::string&)> warn_;
  SourceOptions options_;
  AvReader reader_;
  AvFramePointer shown_;  ///< the frame that read() copies
  std::shared_ptr<FilmDevice> device_;  ///< the GPU that decodes, at least the first frame; null: none
  std::vector<std::uint8_t> moved_;     ///< a frame that the CPU has decoded, on its way to device_
  std::unique_ptr<FrameConverter> converter_;
  VideoFormat format_;
  int coded_width_ = 0;
  int coded_height_ = 0;
  std::int64_t next_ = 0;
  bool has_frame_ = false;
  bool skipped_ = false;  ///< frames were skipped, and every frame since then matched the table
  bool lost_ = false;     ///< go_to() failed, so the reader cannot be used until it is restarted
  bool failed_ = false;   ///< the file does not match the table

  /// Decodes the next frame. While it works, only it uses the reader. Declared last, because it uses all other members.
  std::optional<OneAhead> ahead_;
};

}  // namespace

std::unique_ptr<FrameSource> open_av_source(std::unique_ptr<ByteSource> bytes, const SourceOptions& options,
                                            const CheckSize& check_size) {
  return std::make_unique<AvSource>(std::move(bytes), options, check_size);
}

}  // namespace c63
