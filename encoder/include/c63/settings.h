#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace c63 {

class ThreadArena;
class TraceSink;

/// How the encoder searches for the best vector.
enum class SearchMethod {
#define C63_SEARCH_METHOD(method, text, make) method,
#include "c63/search_methods.inc"
#undef C63_SEARCH_METHOD
};

/// Named sets of coding decisions.
enum class Preset {
  reference,  ///< the course encoder's decisions and bytes
  fast,       ///< nearly as fast, and about half the bits
  good,       ///< fewer bits, in several times the time
  best,       ///< fewer still, in several times that
};

/// Quantization tables: the course encoder's, or the same step for all coefficients.
enum class TableShape { course, flat };

/// What decisions by rate optimize: squared error, or structural similarity, which tolerates errors in detailed areas.
enum class Tune { psnr, ssim };

/// Frame headers: the course encoder's full headers in every frame, or only what a decoder needs.
enum class HeaderSet { full, compact };

/// Instruction sets of the CPU kernels. All give the same bytes.
enum class SimdLevel { scalar, sse4, avx2, avx512, neon };

/// Returns true if the method finds what the course encoder finds: the first minimum of all candidates.
[[nodiscard]] constexpr bool is_exhaustive(SearchMethod method) { return method <= SearchMethod::full_eliminate; }

[[nodiscard]] std::string_view name(SearchMethod method);
[[nodiscard]] std::string_view name(SimdLevel level);
[[nodiscard]] std::string_view name(Preset preset);
[[nodiscard]] std::string_view name(Tune tune);
/// Returns the value with this name, or nullopt for an unknown name.
[[nodiscard]] std::optional<SearchMethod> search_method_from(std::string_view name);
[[nodiscard]] std::optional<SimdLevel> simd_level_from(std::string_view name);
[[nodiscard]] std::optional<Preset> preset_from(std::string_view name);
/// All values, in the order of the help texts.
[[nodiscard]] std::vector<SearchMethod> all_search_methods();
[[nodiscard]] std::vector<SimdLevel> all_simd_levels();
[[nodiscard]] std::vector<Preset> all_presets();
/// The instruction sets that both this machine and this build have, slowest first; never empty.
[[nodiscard]] std::vector<SimdLevel> available_simd_levels();

/// What a stream or a run may use at most.
struct Limits {
  std::uint64_t max_pixels = std::uint64_t{65535} * 65535;  ///< width times height of a picture, in samples
  std::uint64_t max_memory = std::uint64_t{8} << 30;        ///< bytes that pictures and buffers may take
};

/// What is decided by rate and distortion. A value that is not set is the preset's.
struct RateSettings {
  std::optional<TableShape> tables = {};
  std::optional<HeaderSet> headers = {};
  std::optional<bool> choose_levels = {};  ///< choose levels of coefficients by their bits (RDOQ); false: round
  std::optional<int> candidates = {};      ///< number of the search's best vectors to try, next to the neighbours' ones; 0..7
  std::optional<int> beam = {};            ///< number of ways to code a row that are kept; 1..8
  std::optional<bool> unpredicted = {};    ///< blocks of inter frames may be coded without prediction
  std::optional<bool> repeats = {};        ///< frames may repeat the previous picture
  std::optional<bool> adaptive_reference = {};  ///< frames may use the same reference as the previous frame
  std::optional<bool> temporal_filter = {};     ///< frames are averaged with their neighbours along motion before coding
  std::optional<bool> propagated_weights = {};  ///< error counts more if later frames are predicted from it
  std::optional<double> chroma_lambda = {};     ///< weight of a bit of chroma, in bits of luma; 0.25..4, in steps of a quarter octave
  Tune tune = Tune::psnr;
  double lambda_scale = 1;                 ///< factor of λ; more gives fewer bits and worse pictures; 0.05..4

  /// Returns true if a value is set that needs decisions by rate.
  [[nodiscard]] bool decides_by_rate() const {
    return choose_levels.value_or(false) || candidates.value_or(0) > 0 || beam || unpredicted.value_or(false) ||
           repeats.value_or(false) || adaptive_reference.value_or(false) || temporal_filter.value_or(false) ||
           propagated_weights.value_or(false) || chroma_lambda;
  }
};

/// The settings that change the bytes of a stream. The defaults are the course encoder's.
struct CodingSettings {
  int width = 0;          ///< 1..65535
  int height = 0;         ///< 1..65535; width·height a multiple of 4
  Preset preset = Preset::reference;
  double qp = 25;         ///< quality, least_qp()..50; higher is better (the course codec's scale)
  int key_interval = 100; ///< distance of key frames, at least 1
  int frame_interval = 1; ///< of a GOP, every frame_interval-th frame is coded; the others repeat the previous one; at least 1
  bool scene_cuts = false; ///< key frames at scene cuts too; the interval starts again there
  int search_range = 16;  ///< 1..127 samples for luma, half for chroma; see search_range_of()
  SearchMethod method = SearchMethod::full;
  RateSettings rate = {};
};

/// How an encode or decode runs. No setting here changes a byte.
struct ExecutionSettings {
  int threads = 0;                     ///< 0: as many as the machine or the arena has; must be 0 with an arena
  std::shared_ptr<ThreadArena> arena = {};  ///< the threads to use (c63/thread_arena.h); null: a new arena
  int lanes = 0;                       ///< GOPs encoded at the same time; 0: automatic
  bool keep_devices = false;           ///< an Encoder keeps devices and their memory from one encode() to the next
  std::optional<SimdLevel> simd = {};  ///< empty: the best that this machine has
  Limits limits = {};
};

/// What is reported of every frame in addition to its bytes.
struct MeasurementSettings {
  bool psnr = true;                 ///< fills FrameStatistics::sse
  bool ssim = false;                ///< fills FrameStatistics::ssim
  bool global_motion = false;       ///< fills FrameStatistics::global_motion
  bool keep_reconstruction = false; ///< hands out the decoded picture
  bool keep_prediction = false;     ///< hands out the motion-compensated prediction
  bool keep_motion = false;         ///< hands out the vector and SAD of every block
  TraceSink* trace = nullptr;       ///< receives the time of each stage (c63/trace.h); must outlive the encoder
};

/// All settings of an encode.
struct EncoderSettings {
  CodingSettings coding = {};
  ExecutionSettings execution = {};
  MeasurementSettings measurement = {};
};

/// The preset's default for CodingSettings::search_range.
[[nodiscard]] int search_range_of(Preset preset);
/// Returns true if the preset needs a look-ahead: to filter frames, to weigh their errors, or to choose their references.
[[nodiscard]] bool looks_ahead(const CodingSettings& settings);

/// Returns true if a backend decides anything by rate and distortion.
[[nodiscard]] bool decides_by_rate(const CodingSettings& settings);

/// The lowest quality: 5, where the entries of the course encoder's tables still fit into a byte; 1 with flat tables.
[[nodiscard]] double least_qp(const CodingSettings& settings);

/// Throws Error (usage or limit) if the settings cannot be used. The message says why, and what is allowed.
void validate(const EncoderSettings& settings);

/// The reasons why these settings do not give the course encoder's bytes, one sentence each; empty if they do.
[[nodiscard]] std::vector<std::string> differences_from_course(const EncoderSettings& settings);

}  // namespace c63
