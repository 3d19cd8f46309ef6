#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "c63/frame_source.h"
#include "c63/motion_search.h"
#include "c63/motion_vector.h"
#include "c63/picture.h"
#include "c63/settings.h"

namespace c63 {

/// For each 8x8 block of a frame, the vector that the film's own codec has used. Only vectors to earlier frames count.
struct CodecField {
  /// In units of 1/kUnits samples. Larger components are clamped to -32767..32767.
  struct Vector {
    std::int16_t x = 0;
    std::int16_t y = 0;
  };
  static constexpr int kUnits = 4;

  std::vector<Vector> vectors;
  std::vector<std::uint8_t> inter;  ///< 1: the block has a vector
  std::vector<std::uint32_t> sads;  ///< of the vectors, rounded to whole samples, measured in the frame's reference

  /// Returns the vector of a block in samples, x and y; NaN if it has none.
  [[nodiscard]] std::array<float, 2> in_samples(std::size_t block) const;
  /// Returns the SAD of a block; MotionResults::kNoSecond if it has no vector.
  [[nodiscard]] std::uint16_t sad_or_none(std::size_t block) const;
};

/// What FilmMotion computes of a film's frames.
struct FilmSettings {
  MotionSettings search = {};  ///< how to search; `guarded` has no effect
  int distance = 1;            ///< how many frames before a frame its reference is; negative: after it; not 0
  bool seconds = false;        ///< see MotionResults
  bool quarters = false;       ///< see MotionResults
  /// Also returns the vectors of the film's own codec. FFmpeg does not tell which frame they refer to. So the reference
  /// of a frame is one of the eight frames before it: the one that fits the codec's vectors best.
  bool codec_vectors = false;
  std::int64_t first_index = 0;  ///< number in the film of the source's first frame
  int threads = 0;             ///< number of threads for searches on the CPU; 0: all
  Limits limits = {};
  std::uint64_t reserve = 0;   ///< bytes of the memory limit that the caller needs
  /// Searches instead of the CPU, by the same settings: a GPU (c63/cuda/motion_estimator.h). Its planes are guarded.
  PairSearch pair_search = {};
  /// `pair_search` also takes planes in the memory of the GPU that decodes the film (FrameSource::film_device()). Pictures
  /// then stay there, if their width is a multiple of 16 and their height of 8. The pictures of FilmFrame are empty.
  bool searches_on_device = false;
};

/// The motion of one frame. Views are valid until FilmMotion is asked for the next frame.
struct FilmFrame {
  std::int64_t index = 0;
  double time = 0;              ///< in seconds: FrameDetails::time; if it is empty, by the frame rate
  char kind = '?';              ///< see FrameDetails
  std::int64_t reference = -1;  ///< number of the frame in which the vectors were searched; -1: there is none
  int columns = 0;              ///< of blocks
  int rows = 0;
  // In raster order, one value per block; empty if there is no reference, or if they are not wanted.
  std::span<const MotionVector> vectors = {};  ///< of a search of true motion: in whole samples, at most 127
  std::span<const std::uint16_t> sads = {};
  std::span<const std::uint16_t> seconds = {};
  std::span<const std::uint16_t> quarters = {};  ///< four values per block
  std::span<const FineVector> fine = {};         ///< with MotionSettings::fine: the vectors, see MotionResults
  std::span<const std::uint8_t> agrees = {};     ///< with FineMotionSettings::check: see MotionResults
  const CodecField* codec = nullptr;        ///< if the codec's vectors are wanted
  std::span<const std::uint8_t> picture = {};    ///< the whole frame, as the source gives it
  std::span<const std::uint8_t> reference_picture = {};

  /// Returns the vector of a block in samples, x and y.
  [[nodiscard]] std::array<float, 2> in_samples(std::size_t block) const {
    if (fine.empty()) return {static_cast<float>(vectors[block].x), static_cast<float>(vectors[block].y)};
    return {static_cast<float>(fine[block].x) / kFineUnits, static_cast<float>(fine[block].y) / kFineUnits};
  }
};

/// Decodes a film on a separate thread, and searches the motion between its frames at the same time. Its memory does
/// not depend on the film's length. If a side is not a multiple of 8, the last column or row is repeated.
class FilmMotion {
 public:
  /// Opens a film. SourceOptions::details and codec_vectors have no effect. Throws what open_frame_source() throws, and
  /// what the other constructor throws.
  FilmMotion(SourceOptions film, const FilmSettings& settings);
  /// Takes an open source, of which nothing has been read. `details` is shared with it (SourceOptions) or null. Throws
  /// Error: usage for settings outside their limits, limit (C63-MAX-MEMORY) if the pictures and `reserve` exceed the
  /// memory limit.
  FilmMotion(std::unique_ptr<FrameSource> source, std::shared_ptr<FrameDetails> details, const FilmSettings& settings);
  ~FilmMotion();
  FilmMotion(const FilmMotion&) = delete;
  FilmMotion& operator=(const FilmMotion&) = delete;

  [[nodiscard]] const VideoFormat& format() const;
  [[nodiscard]] bool full_range() const;  ///< of the samples, see FrameSource

  /// Returns the next frame, valid until the next call, or null at the end. Waits only for the frames that it needs. If
  /// the source throws, the frames before are returned first, then the error is thrown.
  [[nodiscard]] const FilmFrame* next();
  /// Returns true if next() has a frame and will not wait.
  [[nodiscard]] bool is_ready() const;
  /// Ends the reading. After it, the source is not used any more. Another thread may call it while next() waits, which
  /// then returns the frames that have been read, and null.
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace c63
