#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "support/coding.h"
#include "support/expect_error.h"
#include "support/stream_editor.h"
#include "support/temporary_folder.h"

namespace c63::test {

/// A valid stream of a key frame and two inter frames, which each test damages.
class BadStream : public testing::Test {
 protected:
  static constexpr int kWidth = 48;
  static constexpr int kHeight = 32;

  static const Bytes& valid() {
    static const Bytes stream = encode(moving_video(kWidth, kHeight, 3), {.coding = {.width = kWidth, .height = kHeight}});
    return stream;
  }
  static const Bytes& valid_pictures() {
    static const Bytes pictures = decode_stream(valid()).pictures();
    return pictures;
  }

  /// Writes the stream to the folder $C63_KEEP_BAD_STREAMS, if that is set, for the test of the analyzer.
  static void keep(const Bytes& stream, const std::string& id) {
    static int number = 0;
    const char* const folder = std::getenv("C63_KEEP_BAD_STREAMS");
    if (folder != nullptr) write_bytes(std::string(folder) + "/" + std::to_string(number++) + "." + id, stream);
  }

  /// Expects that decoding `stream` gives all frames before frame `frame` unchanged, and then exactly this error.
  /// Repeats this with several numbers of threads, and with the stream whole and in small pieces.
  static void expect_fault(const Bytes& stream, const std::string& id, std::int64_t frame, std::size_t offset,
                           ErrorKind kind = ErrorKind::input, const DecoderSettings& base = {}) {
    if (kind == ErrorKind::input) keep(stream, id);
    for (const int threads : {1, 3}) {
      for (const std::size_t piece : {std::size_t{SIZE_MAX}, std::size_t{61}}) {
        StreamSource source(stream, piece);
        DecoderSettings settings = base;
        settings.execution.threads = threads;
        const Decoded decoded = decode_stream(source, settings);
        ASSERT_TRUE(decoded.error) << id << " was expected";
        const Error& error = *decoded.error;
        EXPECT_EQ(error.id(), id) << error.what();
        EXPECT_EQ(error.kind(), kind) << error.what();
        EXPECT_EQ(error.place().frame, frame) << error.what();
        ASSERT_TRUE(error.place().offset) << error.what();
        EXPECT_EQ(*error.place().offset, static_cast<std::int64_t>(offset)) << error.what();
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
        ASSERT_EQ(static_cast<std::int64_t>(decoded.frames.size()), frame);
        const Bytes pictures = decoded.pictures();
        if (base.first_frame == 0 && pictures.size() <= valid_pictures().size()) {
          EXPECT_TRUE(std::equal(pictures.begin(), pictures.end(), valid_pictures().begin()));
        }
      }
    }
  }

  /// Does the same as expect_fault() for an edited stream. `at` is where the error lies in frame `frame`, in bytes.
  static void expect_fault_in(const StreamEditor& stream, const std::string& id, std::size_t frame, std::size_t at,
                              ErrorKind kind = ErrorKind::input, const DecoderSettings& base = {}) {
    expect_fault(stream.bytes(), id, static_cast<std::int64_t>(frame), stream.offset(frame) + at, kind, base);
  }

  StreamEditor stream_{valid()};
};

}  // namespace c63::test
