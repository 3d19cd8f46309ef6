#include "decode/decode_run.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "c63/error.h"
#include "c63/picture.h"
#include "c63/thread_pool.h"
#include "c63/trace.h"
#include "decode/cpu_decode_backend.h"

namespace c63 {
namespace {

/// A coded frame, or several repeat frames in a row. A repeat has 4 bytes, so a stream may have millions of them.
struct CodedRun {
  StreamFrame frame;  ///< the first of the frames
  std::int64_t count = 1;

  [[nodiscard]] std::int64_t end() const { return frame.index + count; }
};

/// Decodes a stream: submits coded frames to a device, and gives decoded frames to the sink.
class DecodeRun {
 public:
  DecodeRun(StreamReader& reader, StreamDevice& device, const DecoderSettings& settings)
      : reader_(reader), device_(device), settings_(settings), loop_(settings.trace, TraceTrack::loop) {
    const bool counts_all = settings.max_frames < 0 || settings.key_frames_only;
    const std::int64_t most = INT64_MAX - settings.first_frame;
    end_ = settings.first_frame + (counts_all ? most : std::min(most, settings.max_frames));
  }

  DecodeSummary run(const Decoder::ViewSink& sink, const std::stop_token& stop) {
    const auto start = loop_.did("open");
    std::exception_ptr fault;
    bool more = true;
    while (!wants_no_more()) {
      if (stop.stop_requested()) {
        summary_.stopped = true;
        break;
      }
      if (!waiting_.empty() && (!more || reader_.index() >= end_ || may_submit()) && device_.has_room()) {
        submit();
      } else if (more && !may_submit() && device_.has_room() && reader_.index() < end_) {
        try {
          more = read_frame();
        } catch (...) {
          fault = std::current_exception();
          more = false;
        }
        loop_.did("read");
      } else if (!device_->empty()) {
        hand_out(sink, stop);
      } else {
        break;  // all frames were read and given to the sink
      }
      while (!device_->empty() && !wants_no_more() && device_->is_ready()) hand_out(sink, stop);
    }
    summary_.bytes = reader_.offset();
    summary_.elapsed_ms = std::chrono::duration<double, std::milli>(loop_.did("finish") - start).count();
    if (summary_.stopped || wants_no_more()) return summary_;
    if (fault) std::rethrow_exception(fault);
    check_complete(!more || reader_.index() >= end_);
    return summary_;
  }

 private:
  static constexpr std::size_t kMaxWaiting = 1024;

  [[nodiscard]] bool wants_no_more() const {
    return summary_.stopped || (settings_.max_frames >= 0 && summary_.frames >= settings_.max_frames);
  }

  /// Throws Error (internal, C63-FRAMES-LOST) unless the sink has received all frames. `is_at_end`: no frame is left to
  /// read.
  void check_complete(bool is_at_end) const {
    const std::int64_t wanted = std::max<std::int64_t>(0, reader_.index() - settings_.first_frame);
    if (is_at_end && (settings_.key_frames_only || summary_.frames == wanted)) return;
    throw Error(ErrorKind::internal, "C63-FRAMES-LOST",
                "the decode ended after " + std::to_string(summary_.frames) + " of " + std::to_string(wanted) + " frames");
  }

  /// Returns true if the first waiting frame should be submitted now. Frames before settings.first_frame are held back
  /// while there is room for them. If another key frame comes before that frame, those before the key frame need not be
  /// decoded.
  [[nodiscard]] bool may_submit() const {
    return !waiting_.empty() &&
           (waiting_.back().end() > settings_.first_frame || waiting_.size() >= kMaxWaiting ||
            waiting_bytes_ >= settings_.execution.limits.max_memory / 4);
  }

  /// Reads a coded frame. Returns false at the end of the stream.
  bool read_frame() {
    std::optional<StreamFrame> frame = reader_.next();
    if (!frame) return false;
    CodedRun run{.frame = std::move(*frame)};
    // All frames of a run must have the same number of bytes. A repeat with a pad byte is one byte longer, so it is a
    // run by itself.
    const bool is_plain_repeat = run.frame.parsed.repeat && run.frame.parsed.size == kRepeatFrameBytes;
    if (is_plain_repeat) run.count += reader_.take_repeats(end_ - reader_.index());
    device_.open(run.frame.parsed.geometry);
    if (settings_.key_frames_only && (!run.frame.parsed.key || run.end() <= settings_.first_frame)) return true;
    if (run.frame.parsed.key && run.frame.index <= settings_.first_frame) {
      waiting_.clear();
      waiting_bytes_ = 0;
    }
    waiting_bytes_ += run.frame.bytes.size();
    waiting_.push_back(std::move(run));
    return true;
  }

  void submit() {
    CodedRun run = std::move(waiting_.front());
    waiting_.pop_front();
    waiting_bytes_ -= run.frame.bytes.size();
    const bool wanted = run.end() > settings_.first_frame;
    device_->submit(std::move(run.frame), run.count, wanted);
  }

  /// Waits for the next frame or run of repeats, and gives the wanted frames to the sink.
  void hand_out(const Decoder::ViewSink& sink, const std::stop_token& stop) {
    const DecodeOutput& output = device_->front();
    loop_.did("wait");
    summary_.width = output.view.width;
    summary_.height = output.view.height;
    if (output.wanted) {
      FrameView view = output.view;
      const std::int64_t first = output.view.index;
      for (std::int64_t i = std::max<std::int64_t>(0, settings_.first_frame - first); i < output.count; ++i) {
        if (stop.stop_requested()) {
          summary_.stopped = true;
          break;
        }
        if (wants_no_more()) break;
        view.index = first + i;
        view.offset = output.view.offset + static_cast<std::uint64_t>(i) * output.view.coded_bytes;
        ++summary_.frames;
        sink(view);
        loop_.did("write", view.index);
      }
    }
    reader_.reuse(device_->pop());
  }

  StreamReader& reader_;
  StreamDevice& device_;
  const DecoderSettings& settings_;
  TraceRow loop_;
  std::int64_t end_ = 0;  ///< the first frame that is not wanted any more
  DecodeSummary summary_;
  std::deque<CodedRun> waiting_;  ///< runs that were read and not yet submitted
  std::uint64_t waiting_bytes_ = 0;
};

}  // namespace

StreamDevice::StreamDevice(const DecoderSettings& settings)
    : max_memory_(settings.execution.limits.max_memory), pool_(pool_of(settings)), backend_(settings.device) {
  if (!backend_) {
    backend_ = std::make_shared<CpuDecodeBackend>(settings, pool_);
  } else if (settings.keep_prediction || settings.keep_motion) {
    throw Error(ErrorKind::device, "C63-DEVICE-KEEP",
                std::string(settings.keep_prediction ? "predictions" : "motion vectors") +
                    " of decoded frames are available on the CPU only (--backend cpu)");
  }
}

void StreamDevice::open(const Geometry& geometry) {
  if (is_open_) return;
  backend_->open(geometry, max_memory_, [pool = pool_](int count, const std::function<void(int)>& body) {
    pool->execute([&] { parallel_for(count, body); });
  });
  is_open_ = true;
}

DecodedFrame copy_of(const FrameView& view) {
  DecodedFrame frame{view, {}, {}, view.motion};
  const auto append = [](std::vector<std::uint8_t>& to, const auto& planes) {
    to.reserve(planes[0].size() + planes[1].size() + planes[2].size());
    for (const auto& plane : planes) to.insert(to.end(), plane.begin(), plane.end());
  };
  append(frame.picture, view.picture);
  append(frame.prediction, view.prediction);
  return frame;
}

DecodeSummary decode_run(StreamReader& reader, StreamDevice& device, const DecoderSettings& settings,
                         const Decoder::ViewSink& sink, const std::stop_token& stop) {
  return DecodeRun(reader, device, settings).run(sink, stop);
}

Decoder::Decoder(DecoderSettings settings) : settings_(std::move(settings)) {
  if (settings_.first_frame >= 0) return;
  throw Error(ErrorKind::usage, "C63-SEEK-RANGE",
              "the first frame must not be negative: " + std::to_string(settings_.first_frame));
}

DecodeSummary Decoder::decode_views(ByteSource& source, const ViewSink& sink, std::stop_token stop) {
  StreamReader reader(source, settings_.execution.limits);
  StreamDevice device(settings_);
  return decode_run(reader, device, settings_, sink, stop);
}

DecodeSummary Decoder::decode_views(std::span<const std::uint8_t> stream, const ViewSink& sink, std::stop_token stop) {
  MemoryBytes source(stream);
  return decode_views(source, sink, std::move(stop));
}

DecodeSummary Decoder::decode(ByteSource& source, const Sink& sink, std::stop_token stop) {
  return decode_views(source, [&](const FrameView& view) { sink(copy_of(view)); }, std::move(stop));
}

DecodeSummary Decoder::decode(std::span<const std::uint8_t> stream, const Sink& sink, std::stop_token stop) {
  MemoryBytes source(stream);
  return decode(source, sink, std::move(stop));
}

std::vector<std::uint8_t> decode(std::span<const std::uint8_t> stream, const DecoderSettings& settings) {
  std::vector<std::uint8_t> frames;
  Decoder(settings).decode_views(stream, [&](const FrameView& view) {
    for (const auto& plane : view.picture) frames.insert(frames.end(), plane.begin(), plane.end());
  });
  return frames;
}

}  // namespace c63
