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

/// How the encoder looks for the best vector.
enum class SearchMethod {
#define C63_SEARCH_METHOD(method, text, make) method,
#include "c63/search_methods.inc"
#undef C63_SEARCH_METHOD
};

/// Named sets of coding decisions.
enum class Preset {
  reference,  ///< the course encoder's: its bytes
  fast,       ///< nearly as fast, and about half the bits
  good,       ///< fewer bits, in several times the time
  best,       ///< fewer still, in several times that
};

/// Quantization tables: the course encoder's, or one step for all coefficients.
enum class TableShape { course, flat };

/// What decisions by rate are to be best by: squared error, or structural similarity, which forgives errors where a picture is
/// lively.
enum class Tune { psnr, ssim };

/// Headers of frames: the course encoder's in every frame, or what a decoder has to be told.
enum class HeaderSet { full, compact };

/// Instruction sets of the CPU kernels; all give the same bytes.
enum class SimdLevel { scalar, sse4, avx2, avx512, neon };

/// Whether a method finds what the course encoder finds: the first minimum of all candidates.
[[nodiscard]] constexpr bool is_exhaustive(SearchMethod method) { return method <= SearchMethod::full_eliminate; }

[[nodiscard]] std::string_view name(SearchMethod method);
[[nodiscard]] std::string_view name(SimdLevel level);
[[nodiscard]] std::string_view name(Preset preset);
[[nodiscard]] std::string_view name(Tune tune);
/// Returns nullopt for an unknown name.
[[nodiscard]] std::optional<SearchMethod> search_method_from(std::string_view name);
[[nodiscard]] std::optional<SimdLevel> simd_level_from(std::string_view name);
[[nodiscard]] std::optional<Preset> preset_from(std::string_view name);
/// All there are, in the order in which help texts list them.
[[nodiscard]] std::vector<SearchMethod> all_search_methods();
[[nodiscard]] std::vector<SimdLevel> all_simd_levels();
[[nodiscard]] std::vector<Preset> all_presets();
/// Those that this machine and this build have, slowest first; never empty.
[[nodiscard]] std::vector<SimdLevel> available_simd_levels();

/// What a caller allows a stream or a run to take.
struct Limits {
  std::uint64_t max_pixels = std::uint64_t{65535} * 65535;  ///< width times height of a picture
  std::uint64_t max_memory = std::uint64_t{8} << 30;        ///< bytes that pictures and buffers may take
};

/// What is decided by rate and distortion. Where a value is not set, it is the preset's.
struct RateSettings {
  std::optional<TableShape> tables = {};
  std::optional<HeaderSet> headers = {};
  std::optional<bool> choose_levels = {};  ///< levels of coefficients by their bits (RDOQ); false: rounded
  std::optional<int> candidates = {};      ///< so many of the search's best vectors are tried, and those of neighbours; 0..7
  std::optional<int> beam = {};            ///< ways to code a row that are kept; 1..8
  std::optional<bool> unpredicted = {};    ///< blocks of inter frames may do without prediction
  std::optional<bool> repeats = {};        ///< frames may repeat the picture before them
  std::optional<bool> adaptive_reference = {};  ///< frames may be predicted from the picture that the frame before was
  std::optional<bool> temporal_filter = {};     ///< frames are averaged with those around them, along motion, before they are coded
  std::optional<bool> propagated_weights = {};  ///< error counts more where frames to come are predicted from it
  std::optional<double> chroma_lambda = {};     ///< what a bit of chroma is worth, in bits of luma; 0.25..4, in quarters of an octave
  Tune tune = Tune::psnr;
  double lambda_scale = 1;                 ///< more: fewer bits, worse pictures; 0.05..4

  /// Whether anything is set that only an encoder can do that decides by rate.
  [[nodiscard]] bool decides_by_rate() const {
    return choose_levels.value_or(false) || candidates.value_or(0) > 0 || beam || unpredicted.value_or(false) ||
           repeats.value_or(false) || adaptive_reference.value_or(false) || temporal_filter.value_or(false) ||
           propagated_weights.value_or(false) || chroma_lambda;
  }
};

/// What changes the bytes of a stream. The defaults are the course encoder's.
struct CodingSettings {
  int width = 0;          ///< 1..65535
  int height = 0;         ///< 1..65535; width·height a multiple of 4
  Preset preset = Preset::reference;
  double qp = 25;         ///< least_qp()..50, higher is better (the course codec's scale)
  int key_interval = 100; ///< a key frame every that many frames, from 1
  bool scene_cuts = false; ///< key frames at scene cuts too; the interval counts from them
  int search_range = 16;  ///< 1..127 samples for luma, half of it for chroma; search_range_of() a preset
  SearchMethod method = SearchMethod::full;
  RateSettings rate = {};
};

/// Where something runs, and with what. None of it changes a byte.
struct ExecutionSettings {
  int threads = 0;                     ///< 0: as many as the machine has, or the arena's; other values are for no arena
  std::shared_ptr<ThreadArena> arena = {};  ///< whose threads to use (c63/thread_arena.h); null: an arena of its own
  int lanes = 0;                       ///< GOPs encoded at the same time; 0: chosen
  bool keep_devices = false;           ///< an Encoder keeps them open from an encode() to the next, with their memory
  std::optional<SimdLevel> simd = {};  ///< nothing: the best this machine has
  Limits limits = {};
};

/// What is reported of every frame besides its bytes.
struct MeasurementSettings {
  bool psnr = true;                 ///< fills FrameStatistics::sse
  bool ssim = false;                ///< fills FrameStatistics::ssim
  bool global_motion = false;       ///< fills FrameStatistics::global_motion
  bool keep_reconstruction = false; ///< hands out what a decoder will show
  bool keep_prediction = false;     ///< hands out the motion-compensated prediction
  bool keep_motion = false;         ///< hands out vectors and SADs of every block
  TraceSink* trace = nullptr;       ///< is told what every stage took (c63/trace.h); outlives the encoder
};

/// Everything that an encode depends on.
struct EncoderSettings {
  CodingSettings coding = {};
  ExecutionSettings execution = {};
  MeasurementSettings measurement = {};
};

/// The search range that goes with a preset: CodingSettings::search_range of those who ask for none.
[[nodiscard]] int search_range_of(Preset preset);
/// Whether the settings' preset looks at frames before they are coded: to filter them, to weigh them, or to choose what they are
/// predicted from.
[[nodiscard]] bool looks_ahead(const CodingSettings& settings);

/// Whether the settings let a backend decide anything by rate and distortion.
[[nodiscard]] bool decides_by_rate(const CodingSettings& settings);

/// The lowest quality: 5, where the course encoder's tables come to what a byte holds; 1 with flat tables.
[[nodiscard]] double least_qp(const CodingSettings& settings);

/// Throws Error (usage or limit) if the settings cannot be encoded with; says why and what would do.
void validate(const EncoderSettings& settings);

/// Why these settings do not give the course encoder's bytes, one sentence each; empty where they do.
[[nodiscard]] std::vector<std::string> differences_from_course(const EncoderSettings& settings);

}  // namespace c63
