#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "c63/frame_source.h"
#include "c63/motion_search.h"
#include "c63/thread_arena.h"
#include "common/backends.h"
#include "motion/motion_stream.h"

namespace c63::tools {

/// What is wanted of a film's frames.
struct FilmSettings {
  MotionSettings motion;
  int distance = 1;       ///< frames from a frame back to the one that it is searched in; negative: on to a later one
  bool seconds = false;   ///< see MotionResults
  bool quarters = false;  ///< see MotionResults
  bool pictures = false;  ///< MotionFrame::picture
  bool predictions = false;      ///< MotionFrame::prediction
  std::int64_t first_index = 0;  ///< number of the source's first frame in the film
  int threads = 0;               ///< that search on the CPU; 0: all
};

/// Decodes a film on a thread of its own, and meanwhile searches the motion between its frames. Takes the same memory
/// for every length. Sides that are no multiples of 8 are padded by repeating the last column and row.
class FilmMotion {
 public:
  /// `codec_vectors` is that of the source's SourceOptions; null: they are not wanted. With them, a frame is searched
  /// in the one of the eight before it that its codec's vectors fit best, since FFmpeg does not tell which one they
  /// refer to. Throws Error (limit, C63-MAX-MEMORY) if the pictures and `reserve` bytes exceed the limit.
  FilmMotion(std::unique_ptr<FrameSource> source, std::shared_ptr<std::vector<CodecVector>> codec_vectors,
             PairSearch search, const FilmSettings& settings, std::uint64_t reserve, std::uint64_t max_memory);
  ~FilmMotion();
  FilmMotion(const FilmMotion&) = delete;
  FilmMotion& operator=(const FilmMotion&) = delete;

  /// The next frame, which stays until the next call; null at the end. Waits for no more frames than it needs. Throws
  /// what the source threw, after the frames before.
  [[nodiscard]] const MotionFrame* next();

 private:
  struct Picture;
  using PicturePointer = std::shared_ptr<Picture>;

  void read_pictures(const std::stop_token& stop);
  [[nodiscard]] PicturePointer take_empty(const std::stop_token& stop);
  [[nodiscard]] bool take_pictures();
  void search_batch();
  [[nodiscard]] PicturePointer reference_of(const Picture& picture) const;
  [[nodiscard]] PicturePointer find(std::int64_t index) const;
  void make_frame(std::size_t at);

  FilmSettings settings_;
  std::unique_ptr<FrameSource> source_;
  std::shared_ptr<std::vector<CodecVector>> codec_vectors_;
  PairSearch search_;
  ThreadArena arena_;
  VideoFormat format_;
  int columns_;
  int rows_;
  int history_;  ///< how far before a frame its reference may be
  int ahead_;    ///< how far after it

  // Pictures from the reader and back.
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<PicturePointer> empty_;
  std::deque<PicturePointer> read_;
  bool ended_ = false;
  std::exception_ptr fault_;

  std::deque<PicturePointer> pictures_;  ///< the last ones, and those still to be searched
  std::int64_t next_ = 0;                ///< the next frame to search
  bool source_ended_ = false;

  // The frames of a batch, and what was found for those with a reference.
  struct Searched {
    PicturePointer picture;
    PicturePointer reference;  ///< null: none
    std::size_t pair = 0;
  };
  std::vector<Searched> batch_;
  std::size_t handed_out_ = 0;
  std::vector<MotionVector> vectors_;
  std::vector<std::uint16_t> sads_;
  std::vector<std::uint16_t> seconds_;
  std::vector<std::uint16_t> quarters_;
  MotionFrame frame_;

  std::jthread reader_;  ///< last: it uses all that is above
};

}  // namespace c63::tools
