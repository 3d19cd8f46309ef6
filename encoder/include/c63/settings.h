#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "c63/enum_names.h"
#include "c63/picture.h"

namespace c63 {

class ThreadPool;
class TraceSink;
struct UserSearch;

/// How the encoder searches for the best vector.
enum class SearchMethod {
#define C63_SEARCH_METHOD(method, text, make) method,
#include "c63/search_methods.inc"
#undef C63_SEARCH_METHOD
};

/// Named sets of coding decisions.
enum class Preset {
  reference,  ///< the course encoder's decisions and bytes
  fast,       ///< about half the bits of reference, nearly as fast
  good,       ///< fewer bits than fast, several times slower
  best,       ///< fewer bits than good, several times slower again
};

/// Shapes of quantization tables: the course encoder's tables, or the same step for all coefficients.
enum class TableShape { course, flat };

/// What decisions by rate and distortion optimize: squared error, or structural similarity, which tolerates errors in
/// detailed areas.
enum class Tune { psnr, ssim };

/// Frame headers: the course encoder's full headers in every frame, or only what a decoder needs.
enum class HeaderSet { full, compact };

/// Instruction sets of the CPU kernels. All give the same bytes.
enum class SimdLevel { scalar, sse4, avx2, avx512, neon, simd128 };

/// Returns true if the method finds the same vectors as the course encoder: the first with the least SAD of all
/// candidates.
[[nodiscard]] constexpr bool is_exhaustive(SearchMethod method) { return method <= SearchMethod::full_eliminate; }

/// The instruction sets that both the machine and this build support, slowest first; never empty.
[[nodiscard]] std::vector<SimdLevel> available_simd_levels();

/// The most that a stream or a run may use.
struct Limits {
  std::uint64_t max_pixels = std::uint64_t{65535} * 65535;  ///< width times height of a picture, in samples
  std::uint64_t max_memory = std::uint64_t{8} << 30;        ///< bytes that pictures and buffers may take
};

/// A value for each preset.
template <typename T>
class ByPreset {
 public:
  constexpr ByPreset(T reference, T fast, T good, T best) : values_{reference, fast, good, best} {}
  [[nodiscard]] constexpr T of(Preset preset) const { return values_[static_cast<int>(preset)]; }

 private:
  T values_[4];
};

/// Decisions by rate and distortion. Each field that is not set has the preset's value.
struct RateSettings {
  // c63/options.inc describes each field (tables, headers, choose_levels, candidates, beam, …) and gives the presets'
  // values.
#define C63_DECISION(type, field, ...) std::optional<type> field = {};
#include "c63/options.inc"
  Tune tune = Tune::psnr;
  double lambda_scale = 1;  ///< factor of λ, 0.05..4; a larger one gives fewer bits and worse pictures

  /// Returns true if a field is set that needs decisions by rate and distortion.
  [[nodiscard]] bool decides_by_rate() const;
};

/// The settings that change the bytes of a stream. The defaults are the course encoder's.
struct CodingSettings {
  int width = 0;          ///< 1..65535
  int height = 0;         ///< 1..65535; width·height a multiple of 4
  Preset preset = Preset::reference;
  double qp = 25;         ///< quality, least_qp()..50; higher is better (the course codec's scale)
  int key_interval = 100; ///< the most frames from one key frame to the next, at least 1
  int frame_interval = 1; ///< of a GOP, every frame_interval-th frame is coded; the others repeat the previous one; at least 1
  bool scene_cuts = false; ///< also place key frames at scene cuts; the interval then counts from that key frame
  int search_range = 16;  ///< 1..127 samples for luma, half for chroma; see search_range_of()
  SearchMethod method = SearchMethod::full;
  std::shared_ptr<const UserSearch> user_search = {};  ///< takes the place of `method` (c63/user_search.h); null: none
  RateSettings rate = {};
};

/// How an encode or decode runs. These settings do not change the bytes.
struct ExecutionSettings {
  int threads = 0;                     ///< 0: as many as the machine has; must be 0 if `pool` is set
  std::shared_ptr<ThreadPool> pool = {};  ///< the threads to use (c63/thread_pool.h); null: a new pool
  int lanes = 0;                       ///< GOPs encoded at the same time; 0: automatic
  bool keep_devices = false;           ///< an Encoder keeps devices and their memory from one encode() to the next
  std::optional<SimdLevel> simd = {};  ///< empty: the fastest that the machine has
  Limits limits = {};
};

/// What is measured in each frame, and what is given to the sink in addition to its bytes.
struct MeasurementSettings {
  bool psnr = true;                 ///< fills FrameStatistics::sse
  bool ssim = false;                ///< fills FrameStatistics::ssim
  /// As in VideoFormat: samples of luma that only repeat others. They do not count in `sse` and `ssim`.
  int repeated_columns = 0;
  int repeated_rows = 0;
  bool keep_reconstruction = false; ///< gives the sink the decoded picture
  bool keep_prediction = false;     ///< gives the sink the motion-compensated prediction
  bool keep_motion = false;         ///< gives the sink the vector and SAD of every block
  TraceSink* trace = nullptr;       ///< receives the time of each stage (c63/trace.h); must outlive the encoder
};

/// All settings of an encode.
struct EncoderSettings {
  CodingSettings coding = {};
  ExecutionSettings execution = {};
  MeasurementSettings measurement = {};
};

/// Sets the size of the pictures to that of a source, and which of its samples are measured.
inline void take_format(EncoderSettings& settings, const VideoFormat& format) {
  settings.coding.width = format.width;
  settings.coding.height = format.height;
  settings.measurement.repeated_columns = format.repeated_columns;
  settings.measurement.repeated_rows = format.repeated_rows;
}

/// Returns true if a device must compare whole pictures, because it cannot measure while it codes.
[[nodiscard]] inline bool compares_pictures(const MeasurementSettings& wanted) {
  return wanted.ssim || (wanted.psnr && wanted.repeated_columns + wanted.repeated_rows > 0);
}
/// Returns the preset's default for CodingSettings::search_range.
[[nodiscard]] int search_range_of(Preset preset);
/// Returns true if the encode looks ahead: to filter frames, to weight their errors, or to choose their references. The
/// preset decides this, unless a field of `rate` is set. With a frame_interval above 1, no encode looks ahead.
[[nodiscard]] bool looks_ahead(const CodingSettings& settings);

/// Returns true if the settings need decisions by rate and distortion.
[[nodiscard]] bool decides_by_rate(const CodingSettings& settings);

/// Returns the lowest quality that the settings allow. It is 5 with the course encoder's tables: at lower qualities,
/// their steps would not fit into a byte. It is 1 with flat tables.
[[nodiscard]] double least_qp(const CodingSettings& settings);

/// Returns the step of flat tables, which is that of every coefficient in all planes; nullopt with the course encoder's
/// tables. With preset best, some key frames have a finer step.
[[nodiscard]] std::optional<int> flat_step(const CodingSettings& settings);

/// Throws Error (usage or limit) if the settings cannot be used. The message says why, and what is allowed.
void validate(const EncoderSettings& settings);

/// Returns the reasons why these settings do not give the course encoder's bytes, one sentence each; empty if they do.
[[nodiscard]] std::vector<std::string> differences_from_course(const EncoderSettings& settings);

}  // namespace c63
