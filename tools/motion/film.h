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
#include "c63/thread_pool.h"
#include "io/one_ahead.h"
#include "motion/motion_stream.h"

namespace c63::tools {

/// What FilmMotion computes of a film's frames.
struct FilmSettings {
  int distance = 1;       ///< how many frames before a frame its reference is; negative: after it
  bool seconds = false;   ///< see MotionResults
  bool quarters = false;  ///< see MotionResults
  bool pictures = false;  ///< MotionFrame::picture
  bool predictions = false;      ///< MotionFrame::prediction
  std::int64_t first_index = 0;  ///< number in the film of the source's first frame
  int threads = 0;               ///< number of threads for searches on the CPU; 0: all
};

/// Decodes a film on a separate thread, and searches the motion between its frames at the same time. Its memory does
/// not depend on the film's length. If a side is not a multiple of 8, the last column or row is repeated.
class FilmMotion {
 public:
  /// `codec_vectors` is shared with the source (SourceOptions), or null if the codec's vectors are not wanted. FFmpeg
  /// does not tell which frame they refer to. So if they are wanted, the reference of a frame is one of the eight
  /// frames before it: the one that fits the codec's vectors best. Throws Error (limit, C63-MAX-MEMORY) if the pictures
  /// and `reserve` bytes exceed `max_memory`.
  FilmMotion(std::unique_ptr<FrameSource> source, std::shared_ptr<std::vector<CodecVector>> codec_vectors,
             PairSearch search, const FilmSettings& settings, std::uint64_t reserve, std::uint64_t max_memory);
  ~FilmMotion();
  FilmMotion(const FilmMotion&) = delete;
  FilmMotion& operator=(const FilmMotion&) = delete;

  /// Returns the next frame, valid until the next call, or null at the end. Waits only for the frames that it needs. If
  /// the source throws, the frames before are returned first, then the error is thrown.
  [[nodiscard]] const MotionFrame* next();
  /// Ends the reading. After it, the source is not used any more.
  void stop();

 private:
  struct Picture;
  using PicturePointer = std::shared_ptr<Picture>;

  void read_pictures(const std::stop_token& stop);
  [[nodiscard]] PicturePointer take_empty(const std::stop_token& stop);
  [[nodiscard]] bool take_pictures();
  struct Batch;
  void search_batch(Batch& batch);
  void begin_search();
  [[nodiscard]] PicturePointer reference_of(const Picture& picture) const;
  [[nodiscard]] PicturePointer find(std::int64_t index) const;
  void make_frame(std::size_t at);

  FilmSettings settings_;
  std::unique_ptr<FrameSource> source_;
  std::shared_ptr<std::vector<CodecVector>> codec_vectors_;
  PairSearch search_;
  ThreadPool pool_;
  VideoFormat format_;
  bool full_range_;
  int columns_;
  int rows_;
  int history_;  ///< most frames that a reference lies before its frame
  int ahead_;    ///< most frames that a reference lies after its frame

  // Frames that the reader has filled, and empty ones that it may fill.
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<PicturePointer> empty_;
  std::size_t to_make_ = 0;  ///< number of pictures that may still be made; each is made when no empty one is left
  std::deque<PicturePointer> read_;
  bool ended_ = false;
  std::exception_ptr fault_;

  std::deque<PicturePointer> pictures_;  ///< frames not yet searched, and the last ones before them, in order
  std::int64_t next_ = 0;                ///< number of the next frame to search
  bool source_ended_ = false;

  // A frame of a batch, and the result of its search if it has a reference.
  struct Searched {
    PicturePointer picture;
    PicturePointer reference;  ///< null: none
    std::size_t pair = 0;
  };
  /// Frames that are searched together, and the results of their searches.
  struct Batch {
    std::vector<Searched> frames;
    std::vector<MotionVector> vectors;
    std::vector<std::uint16_t> sads;
    std::vector<std::uint16_t> seconds;
    std::vector<std::uint16_t> quarters;
  };
  Batch batch_;       ///< next() returns its frames
  Batch next_batch_;  ///< is being searched
  std::size_t handed_out_ = 0;
  MotionFrame frame_;

  /// Searches next_batch_. Its destructor waits for the search, which may wait for the reader. So the reader is declared
  /// after it, and ended before it.
  OneAhead searching_;
  bool is_searching_ = false;

  std::jthread reader_;  ///< declared last, because it uses all members above
};

}  // namespace c63::tools
