#include "io/skipping_source.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <utility>

#include "c63/error.h"
#include "io/source_parts.h"

namespace c63 {
namespace {

class SkippingSource final : public FrameSource {
 public:
  SkippingSource(std::unique_ptr<MediaSource> source, const SourceOptions& options)
      : source_(std::move(source)), options_(options), warn_(options.warn), table_(*options.seek_table) {
    options_.seek_table = nullptr;
    options_.warn = nullptr;  // the warnings were already given when the table was filled
  }

  VideoFormat format() const override { return source_->format(); }
  std::optional<std::int64_t> frame_count() const override { return std::nullopt; }
  std::optional<std::int64_t> expected_frame_count() const override { return source_->expected_frame_count(); }
  bool seekable() const override { return false; }
  bool live() const override { return source_->live(); }

  bool read(std::int64_t index, std::span<std::uint8_t> frame) override {
    if (skipped_ && !reads_as_known(index, frame)) {
      read_from_start(index, frame);
      return source_->read(index, frame);
    }
    return skipped_ || source_->read(index, frame);
  }

  std::int64_t skip_towards(std::int64_t next, std::int64_t index) override {
    if (failed_ || !knows(index)) return next;
    const auto after = std::ranges::upper_bound(table_.points, index, {}, &SeekTable::Point::frame);
    if (after == table_.points.begin()) return next;
    const SeekTable::Point& point = *std::prev(after);
    if (point.frame <= next) return next;
    skipped_ = true;
    lost_ = !succeeds([&] { return source_->go_to(point); });
    return point.frame;
  }

 private:
  [[nodiscard]] bool knows(std::int64_t index) const { return index < static_cast<std::int64_t>(table_.sums.size()); }

  /// Returns what `call` returns. If it throws an input error, returns false, because some streams cannot be decoded
  /// from the middle.
  template <typename Call>
  [[nodiscard]] static bool succeeds(const Call& call) {
    try {
      return call();
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::input) throw;
      return false;
    }
  }

  [[nodiscard]] bool reads_as_known(std::int64_t index, std::span<std::uint8_t> frame) {
    return !lost_ && knows(index) && succeeds([&] {
      return source_->read(index, frame) && source_->sum_of(frame) == table_.sums[static_cast<std::size_t>(index)];
    });
  }

  /// Opens the file again and reads and drops the frames before `index`.
  void read_from_start(std::int64_t index, std::span<std::uint8_t> frame) {
    if (warn_) warn_("cannot seek to frame " + std::to_string(index) + ": reading from the start");
    failed_ = true;
    skipped_ = false;
    source_.reset();
    source_ = open_media_source(std::make_unique<InputFile>(options_.path, options_.stop), options_);
    for (std::int64_t i = 0; i < index && source_->read(i, frame); ++i) {
    }
  }

  std::unique_ptr<MediaSource> source_;
  SourceOptions options_;
  std::function<void(const std::string&)> warn_;
  SeekTable table_;
  bool skipped_ = false;  ///< frames were skipped, and every frame since then matched the table
  bool lost_ = false;     ///< go_to() failed, so the source cannot be used any more
  bool failed_ = false;   ///< the file does not match the table
};

}  // namespace

std::unique_ptr<FrameSource> make_skipping_source(std::unique_ptr<MediaSource> source, const SourceOptions& options) {
  return std::make_unique<SkippingSource>(std::move(source), options);
}

}  // namespace c63
