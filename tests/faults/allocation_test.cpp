// Makes allocations of the encoder, the decoder, filters, files and sources fail, one after another. Of most scenarios,
// every allocation is tried. Each is tried twice: only this one fails, or this one and all later ones. A run must end
// within five seconds. It must throw std::bad_alloc or Error (memory), or give the result of a run without failures.
//
// Runs are in child processes. So a run that aborts or hangs is reported as a failure and does not end the test. With
// C63_FAULT_EVERY=1 in the environment, every allocation is also tried in a process of its own.

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <new>
#include <numeric>
#include <string>
#include <string_view>

#include "c63/decoder.h"
#include "c63/encode_session.h"
#include "c63/encoder.h"
#include "c63/error.h"
#include "c63/filters.h"
#include "c63/frame_source.h"
#include "c63/thread_pool.h"
#include "files/frame_writer.h"
#include "filter/signal_file.h"
#include "support/allocations.h"
#include "support/compact_stream.h"
#include "support/temporary_folder.h"

namespace {

constinit c63::test::Countdown failing_threads;

}  // namespace

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) noexcept {
  if (failing_threads.fails()) return EAGAIN;
  static const auto real = reinterpret_cast<decltype(&pthread_create)>(::dlsym(RTLD_NEXT, "pthread_create"));
  return real(thread, attributes, start, argument);
}

namespace c63::test {
namespace {

/// A piece of work whose allocations are made to fail. Returns its result.
using Scenario = std::function<Bytes()>;

constexpr int kSame = 0, kMemory = 7, kOtherError = 1;

/// The result of one run, which a child process sends to the test: how it ended, a hash of its result, and its number
/// of calls.
struct Report {
  int code = kOtherError;
  std::uint64_t hash = 0;
  long calls = 0;
};

/// Runs a scenario and makes call `number` fail, or none if it is 0. If `from_there_on` is true, all later calls fail,
/// too.
Report run(const Scenario& scenario, Countdown& countdown, long number, bool from_there_on) {
  Report report;
  countdown.start(number, from_there_on);
  try {
    const Bytes result = scenario();
    report.calls = countdown.calls();
    countdown.stop();
    report.hash = std::hash<std::string_view>{}({reinterpret_cast<const char*>(result.data()), result.size()});
    report.code = kSame;
  } catch (const std::bad_alloc&) {
    report.code = kMemory;
  } catch (const Error& error) {
    const bool is_clear = error.kind() == ErrorKind::memory || error.id() == "C63-THREADS";
    report.code = is_clear ? kMemory : kOtherError;
  } catch (...) {
  }
  countdown.stop();
  return report;
}

struct Outcome {
  int status = 0;               ///< status of the process, from waitpid()
  std::vector<Report> reports;  ///< one for each run that ended
};

/// Runs a scenario several times in one child process, and makes another allocation fail each time: those in `numbers`.
/// A run may take five seconds. From the second run on, objects that live as long as the process already exist
/// (threads, pools, constants), so these are not allocated again.
Outcome run_in_child(const Scenario& scenario, const std::vector<long>& numbers, bool from_there_on,
                     Countdown& countdown = failing_allocations) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    for (const long number : numbers) {
      ::alarm(5);
      const Report report = run(scenario, countdown, number, from_there_on);
      if (::write(ends[1], &report, sizeof report) != sizeof report) ::_exit(1);
    }
    ::_exit(0);
  }
  ::close(ends[1]);
  Outcome outcome;
  for (Report report; ::read(ends[0], &report, sizeof report) == sizeof report;) outcome.reports.push_back(report);
  ::close(ends[0]);
  ::waitpid(child, &outcome.status, 0);
  return outcome;
}

std::string describe(int status) {
  if (WIFSIGNALED(status)) {
    return WTERMSIG(status) == SIGALRM ? "not done after 5 s" : "signal " + std::to_string(WTERMSIG(status));
  }
  return "exit code " + std::to_string(WEXITSTATUS(status));
}

/// Runs a scenario again and again, and makes another allocation fail each time. First only this allocation fails,
/// later also all that follow it. Every `in_old`-th allocation is tried in a process that has already run the scenario.
/// Every `in_new`-th is tried in a new process, which takes ten times as long. C63_FAULT_EVERY in the environment
/// replaces `in_new`.
void try_positions(const Scenario& scenario, long in_new, long in_old = 1) {
  const Outcome whole = run_in_child(scenario, {0, 0}, false);
  ASSERT_EQ(whole.reports.size(), 2U) << describe(whole.status);
  for (const Report& report : whole.reports) {
    ASSERT_EQ(report.code, kSame);
    ASSERT_EQ(report.hash, whole.reports[0].hash);
    ASSERT_GT(report.calls, 0);
  }
  const auto expect_fine = [&](const Report& report, const std::string& what) {
    const bool same = report.code == kSame && report.hash == whole.reports[0].hash;
    EXPECT_TRUE(report.code == kMemory || same) << what << "code " << report.code << (report.code == kSame ? ", other bytes" : "");
  };
  const char* wanted = std::getenv("C63_FAULT_EVERY");
  if (wanted != nullptr) in_new = std::max(1L, std::atol(wanted));
  long tried = 0;
  for (const bool from_there_on : {false, true}) {
    const auto name = [&](long number, const char* process) {
      return "allocation " + std::to_string(number) + (from_there_on ? " and all after it, " : ", ") + process + " process: ";
    };
    for (long number = 1; number <= whole.reports[0].calls; number += in_new, ++tried) {
      const Outcome outcome = run_in_child(scenario, {number}, from_there_on);
      if (outcome.reports.empty()) {
        ADD_FAILURE() << name(number, "new") << describe(outcome.status);
      } else {
        expect_fine(outcome.reports[0], name(number, "new"));
      }
    }
    for (long first = 1; first <= whole.reports[1].calls;) {
      std::vector<long> numbers = {0};  // after this run without a failure, the process has run the scenario
      for (long number = first; number <= whole.reports[1].calls; number += in_old) numbers.push_back(number);
      const Outcome outcome = run_in_child(scenario, numbers, from_there_on);
      for (std::size_t i = 0; i < outcome.reports.size(); ++i) expect_fine(outcome.reports[i], name(numbers[i], "old"));
      tried += static_cast<long>(outcome.reports.size());
      if (outcome.reports.size() == numbers.size()) break;
      const long ended_by = numbers[outcome.reports.size()];
      ADD_FAILURE() << name(ended_by, "old") << describe(outcome.status);
      first = std::max(first, ended_by) + in_old;
    }
  }
  ::testing::Test::RecordProperty("positions", std::to_string(tried));
}

/// Runs a scenario in new processes, and makes another start of a thread fail each time. A run must then have the whole
/// result, or fail with C63-THREADS or for lack of memory.
void try_thread_starts(const Scenario& scenario) {
  const Outcome whole = run_in_child(scenario, {0}, false, failing_threads);
  ASSERT_EQ(whole.reports.size(), 1U) << describe(whole.status);
  ASSERT_EQ(whole.reports[0].code, kSame);
  ASSERT_GT(whole.reports[0].calls, 0);
  for (const bool from_there_on : {false, true}) {
    for (long number = 1; number <= whole.reports[0].calls; ++number) {
      const Outcome outcome = run_in_child(scenario, {number}, from_there_on, failing_threads);
      const std::string what = "thread " + std::to_string(number) + (from_there_on ? " and all after it: " : ": ");
      ASSERT_EQ(outcome.reports.size(), 1U) << what << describe(outcome.status);
      const Report& report = outcome.reports[0];
      EXPECT_TRUE(report.code == kMemory || (report.code == kSame && report.hash == whole.reports[0].hash)) << what << "code " << report.code;
    }
  }
}

template <typename T>
Bytes bytes_of_values(const std::vector<T>& values) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(values.data());
  return {bytes, bytes + values.size() * sizeof(T)};
}

template <typename T>
std::vector<T> ascending(std::size_t count, T first) {
  std::vector<T> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}
const std::vector<double> kSignal = ascending(100000, -50.0);
const Bytes kSamples = ascending(300000, std::uint8_t{0});

Bytes filter_signals() {
  std::vector<double> values = kSignal;
  std::vector<double> out(values.size());
  convolve(values, mean_taps(5), out);
  inclusive_scan<double>(out, values);
  values.push_back(sum<double>(out));
  values.push_back(static_cast<double>(argmin<double>(out)));
  BinMap map;
  map.bins = 256;
  std::iota(map.bin.begin(), map.bin.end(), std::uint8_t{0});
  std::vector<std::uint64_t> counts(256);
  histogram(kSamples, map, counts);
  for (const std::uint64_t count : counts) values.push_back(static_cast<double>(count));
  return bytes_of_values(values);
}

Bytes filter_pictures() {
  static constexpr int kWidth = 24, kHeight = 20;
  const Bytes video = moving_video(kWidth, kHeight, 4);
  const std::size_t frame = frame_bytes(kWidth, kHeight);
  Bytes smoothed(kWidth * kHeight);
  std::vector<float> rest(kWidth * kHeight);
  Whitener<std::uint8_t> whitener(kWidth, kHeight, {.memory = 2, .method = WhiteningMethod::correlation, .reject = 3.0});
  for (std::size_t i = 0; i < 4; ++i) {
    const ConstPlaneView luma{video.data() + i * frame, kWidth, kHeight, kWidth};
    convolve(luma, gauss_kernel(1.5), PlaneView{smoothed.data(), kWidth, kHeight, kWidth});
    whitener.push(luma, {rest.data(), kWidth, kHeight, kWidth});
  }
  Bytes result = bytes_of_values(rest);
  result.insert(result.end(), smoothed.begin(), smoothed.end());
  return result;
}

Bytes write_and_read_files() {
  const TemporaryFolder folder;
  Bytes result;
  for (const char* name : {"a.txt", "a.npy", "a.f32"}) {
    write_signal(folder.file(name), std::vector<double>{1, 2.5, -3});
    const Bytes values = bytes_of_values(read_signal(folder.file(name)));
    result.insert(result.end(), values.begin(), values.end());
  }
  const Bytes video = moving_video(16, 16, 2);
  for (const char* name : {"a_16x16.yuv", "a.y4m"}) {
    const auto writer = open_frame_writer(folder.file(name));
    for (std::size_t i = 0; i < 2; ++i) writer->write(16, 16, std::span(video).subspan(i * 384, 384));
    writer->commit();
    const auto source = clip_frames(open_frame_source({.path = folder.file(name)}), 0);
    Bytes frame(384);
    for (std::int64_t i = 0; source->read(i, frame); ++i) result.insert(result.end(), frame.begin(), frame.end());
  }
  return result;
}

EncoderSettings small_settings() {
  EncoderSettings settings{.coding = {.width = 32, .height = 32, .key_interval = 2}};
  settings.execution.threads = 2;
  settings.execution.lanes = 2;
  settings.measurement.ssim = true;
  return settings;
}

Bytes encode_plainly() { return encode(moving_video(32, 32, 6), small_settings()); }

// With more threads than most machines have CPUs, as on machines with many.
Bytes encode_on_16_threads() {
  EncoderSettings settings = small_settings();
  settings.execution.threads = 16;
  return encode(moving_video(32, 32, 6), settings);
}
Bytes filter_on_16_threads() {
  return ThreadPool(16).execute([] { return filter_signals(); });
}

Bytes encode_by_rate() {
  EncoderSettings settings = small_settings();
  settings.coding.preset = Preset::good;
  settings.coding.scene_cuts = true;
  settings.measurement.keep_reconstruction = settings.measurement.keep_prediction = settings.measurement.keep_motion = true;
  return encode(moving_video(32, 32, 4), settings);
}

/// A source that allocates memory in the thread that reads frames, as a filter does. So an error may come from the search
/// for scene cuts, which reads a frame before the encoder takes it for coding.
class AllocatingSource final : public FrameSource {
 public:
  explicit AllocatingSource(std::unique_ptr<FrameSource> inner) : inner_(std::move(inner)) {}
  [[nodiscard]] VideoFormat format() const override { return inner_->format(); }
  [[nodiscard]] std::optional<std::int64_t> frame_count() const override { return inner_->frame_count(); }
  [[nodiscard]] bool seekable() const override { return inner_->seekable(); }
  [[nodiscard]] bool read(std::int64_t index, std::span<std::uint8_t> frame) override {
    Bytes copy(frame.size());
    const bool is_there = inner_->read(index, copy);
    std::ranges::copy(copy, frame.begin());
    return is_there;
  }

 private:
  std::unique_ptr<FrameSource> inner_;
};

Bytes encode_scenes() {
  const Bytes video = scene_video(32, 32, {9, 9, 9, 200, 200, 90, 90, 90});
  EncoderSettings settings = small_settings();
  settings.coding.key_interval = 4;
  settings.coding.scene_cuts = true;
  AllocatingSource source(std::make_unique<MemorySource>(video, VideoFormat{32, 32, {}}));
  Bytes stream;
  Encoder(settings).encode(source, [&](EncodedFrame&& frame) { stream.insert(stream.end(), frame.bytes.begin(), frame.bytes.end()); });
  return stream;
}

/// Pushes six frames, and returns the stream.
Bytes push_frames() {
  const Bytes video = moving_video(32, 32, 6);
  const std::size_t frame = frame_bytes(32, 32);
  EncodeSession session(small_settings());
  Bytes stream;
  const auto take = [&](const std::optional<EncodedFrame>& coded) {
    if (coded) stream.insert(stream.end(), coded->bytes.begin(), coded->bytes.end());
    return coded.has_value();
  };
  for (std::size_t i = 0; i < 6; ++i) {
    session.push(std::span(video).subspan(i * frame, frame));
    while (take(session.poll())) {
    }
  }
  session.finish();
  while (take(session.wait())) {
  }
  return stream;
}

/// A stream that was written before the first test. It is not encoded: the process forks, so it must not have threads.
const Bytes kStream = [] {
  CompactStreamWriter writer(32, 32, 4);
  writer.add_any(6, 3);
  return writer.bytes();
}();

Bytes decode_frames() { return decode(kStream, {.execution = {.threads = 2}}); }

struct Work {
  const char* name;
  Bytes (*run)();
  long in_new;  ///< see try_positions()
  long in_old;
};

const Work kWithThreads[] = {{"encode", encode_plainly, 4, 1}, {"push", push_frames, 4, 1}, {"decode", decode_frames, 3, 1},
                             {"encode_on_16", encode_on_16_threads, 16, 3}, {"filter_on_16", filter_on_16_threads, 40, 3}};
const Work kOther[] = {
    {"filter_signals", filter_signals, 40, 3}, {"filter_pictures", filter_pictures, 200, 3}, {"files", write_and_read_files, 7, 1},
    {"encode_by_rate", encode_by_rate, 25, 1}, {"encode_scenes", encode_scenes, 200, 7},
};

#if defined(C63_SANITIZED)
constexpr long kSparser = 3;  // sanitizers make starting a process slow
#else
constexpr long kSparser = 1;
#endif

class Allocations : public testing::TestWithParam<Work> {};
TEST_P(Allocations, MayFail) { try_positions(GetParam().run, GetParam().in_new * kSparser, GetParam().in_old * kSparser); }

class ThreadStarts : public testing::TestWithParam<Work> {};
TEST_P(ThreadStarts, MayFail) { try_thread_starts(GetParam().run); }

const auto name_of = [](const auto& tested) { return std::string(tested.param.name); };
INSTANTIATE_TEST_SUITE_P(Threads, Allocations, testing::ValuesIn(kWithThreads), name_of);
INSTANTIATE_TEST_SUITE_P(Other, Allocations, testing::ValuesIn(kOther), name_of);
INSTANTIATE_TEST_SUITE_P(Threads, ThreadStarts, testing::ValuesIn(kWithThreads), name_of);

}  // namespace
}  // namespace c63::test
