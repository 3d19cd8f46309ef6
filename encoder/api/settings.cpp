#include "c63/settings.h"

#include <array>
#include <charconv>
#include <utility>

#include "c63/error.h"
#include "codec/geometry.h"
#include "codec/quantization.h"

namespace c63 {
namespace {

constexpr std::array kSearchMethods = {
#define C63_SEARCH_METHOD(method, text, make) std::pair{SearchMethod::method, std::string_view(text)},
#include "c63/search_methods.inc"
#undef C63_SEARCH_METHOD
};

constexpr std::array kPresets = {
    std::pair{Preset::reference, std::string_view("reference")},
    std::pair{Preset::fast, std::string_view("fast")},
    std::pair{Preset::good, std::string_view("good")},
    std::pair{Preset::best, std::string_view("best")},
};

constexpr std::array kSimdLevels = {
    std::pair{SimdLevel::scalar, std::string_view("scalar")}, std::pair{SimdLevel::sse4, std::string_view("sse4")},
    std::pair{SimdLevel::avx2, std::string_view("avx2")},     std::pair{SimdLevel::avx512, std::string_view("avx512")},
    std::pair{SimdLevel::neon, std::string_view("neon")},
};

template <typename Table, typename Value>
std::string_view name_in(const Table& table, Value value) {
  for (const auto& [entry, text] : table) {
    if (entry == value) return text;
  }
  return "?";
}

template <typename Value, typename Table>
std::optional<Value> find_in(const Table& table, std::string_view text) {
  for (const auto& [entry, entry_name] : table) {
    if (entry_name == text) return entry;
  }
  return std::nullopt;
}

template <typename Value, typename Table>
std::vector<Value> values_of(const Table& table) {
  std::vector<Value> values;
  for (const auto& entry : table) values.push_back(entry.first);
  return values;
}

/// Writes a number without needless digits.
std::string number(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

void require(bool condition, ErrorKind kind, const char* id, const std::string& message) {
  if (!condition) throw Error(kind, id, message);
}

}  // namespace

std::string_view name(SearchMethod method) { return name_in(kSearchMethods, method); }
std::string_view name(SimdLevel level) { return name_in(kSimdLevels, level); }
std::string_view name(Tune tune) { return tune == Tune::ssim ? "ssim" : "psnr"; }
std::string_view name(Preset preset) { return name_in(kPresets, preset); }
std::optional<SearchMethod> search_method_from(std::string_view text) {
  return find_in<SearchMethod>(kSearchMethods, text);
}
std::optional<SimdLevel> simd_level_from(std::string_view text) { return find_in<SimdLevel>(kSimdLevels, text); }
std::optional<Preset> preset_from(std::string_view text) { return find_in<Preset>(kPresets, text); }
std::vector<Preset> all_presets() { return values_of<Preset>(kPresets); }
std::vector<SearchMethod> all_search_methods() { return values_of<SearchMethod>(kSearchMethods); }
std::vector<SimdLevel> all_simd_levels() { return values_of<SimdLevel>(kSimdLevels); }

int search_range_of(Preset preset) { return preset == Preset::best ? 32 : 16; }

bool decides_by_rate(const CodingSettings& settings) {
  return settings.preset != Preset::reference || settings.rate.decides_by_rate();
}

double least_qp(const CodingSettings& settings) {
  const TableShape usual = settings.preset == Preset::reference ? TableShape::course : TableShape::flat;
  return settings.rate.tables.value_or(usual) == TableShape::flat ? 1 : kMinQp;
}

void validate(const EncoderSettings& s) {
  const std::string size = std::to_string(s.coding.width) + "x" + std::to_string(s.coding.height);
  require(s.coding.width > 0 && s.coding.height > 0, ErrorKind::usage, "C63-SIZE-ZERO",
          "picture size " + size + ": both sides must be positive");
  require(s.coding.width <= kMaxSide && s.coding.height <= kMaxSide, ErrorKind::limit, "C63-SIZE-RANGE",
          "picture size " + size + ": the format holds sides up to 65535");
  require(is_codable_area(s.coding.width, s.coding.height), ErrorKind::usage, "C63-SIZE-AREA",
          "picture size " + size + ": width times height must be a multiple of 4, or chroma has no whole number of "
          "samples; crop or pad to even sides");
  require(static_cast<std::uint64_t>(s.coding.width) * static_cast<std::uint64_t>(s.coding.height) <= s.execution.limits.max_pixels,
          ErrorKind::limit, "C63-MAX-PIXELS",
          "picture size " + size + " exceeds the limit of " + std::to_string(s.execution.limits.max_pixels) + " pixels");
  const double least = least_qp(s.coding);
  require(s.coding.qp >= least && s.coding.qp <= kMaxQp, ErrorKind::usage, "C63-QP-RANGE",
          "qp " + number(s.coding.qp) + " is outside " + number(least) +
              "..50: the format cannot hold its tables or coefficients");
  require(s.coding.key_interval >= 1, ErrorKind::usage, "C63-KEYINT-RANGE", "the key interval must be 1 or more");
  require(s.coding.frame_interval >= 1, ErrorKind::usage, "C63-FRAME-INTERVAL", "the interval of coded frames must be 1 or more");
  require(s.coding.search_range >= 1 && s.coding.search_range <= 127, ErrorKind::usage, "C63-MERANGE-RANGE",
          "search range " + std::to_string(s.coding.search_range) + " is outside 1..127: vectors have 7 bits");
  require(s.coding.rate.candidates.value_or(0) >= 0 && s.coding.rate.candidates.value_or(0) <= 7, ErrorKind::usage,
          "C63-CANDIDATES-RANGE", "the number of vector candidates must be 0 to 7");
  require(s.coding.rate.beam.value_or(1) >= 1 && s.coding.rate.beam.value_or(1) <= 8, ErrorKind::usage, "C63-BEAM-RANGE",
          "the beam must be 1 to 8 wide");
  require(s.coding.rate.lambda_scale >= 0.05 && s.coding.rate.lambda_scale <= 4, ErrorKind::usage, "C63-LAMBDA-RANGE",
          "the scale of lambda must be 0.05 to 4");
  require(s.coding.rate.chroma_lambda.value_or(1) >= 0.25 && s.coding.rate.chroma_lambda.value_or(1) <= 4, ErrorKind::usage,
          "C63-CHROMA-LAMBDA-RANGE", "lambda of chroma must be 0.25 to 4 times that of luma");
  require(s.coding.rate.tune == Tune::psnr || decides_by_rate(s.coding), ErrorKind::usage, "C63-TUNE-PRESET",
          "tuning for SSIM weighs decisions by rate, and preset reference makes none; choose another (--preset good)");
  require(s.execution.threads >= 0 && s.execution.lanes >= 0, ErrorKind::usage, "C63-COUNT-RANGE",
          "the numbers of threads and lanes must not be negative");
}

std::vector<std::string> differences_from_course(const EncoderSettings& s) {
  std::vector<std::string> reasons;
  if (s.coding.preset != Preset::reference) {
    reasons.push_back("preset " + std::string(name(s.coding.preset)) + " decides by rate and distortion");
  } else if (s.coding.rate.decides_by_rate()) {
    reasons.emplace_back("decisions by rate and distortion");
  }
  if (s.coding.rate.tune == Tune::ssim) reasons.emplace_back("errors are weighed by activity (tuned for SSIM)");
  if (s.coding.rate.tables == TableShape::flat) reasons.emplace_back("flat quantization tables");
  if (s.coding.rate.headers == HeaderSet::compact) reasons.emplace_back("compact headers");
  if (s.coding.qp > kMaxExactQp) {
    reasons.push_back("qp " + number(s.coding.qp) +
                      " is above 25: luma coefficients are limited to ±511; the course encoder writes larger ones unreadably");
  } else if (s.coding.qp != 25) {
    reasons.push_back("qp " + number(s.coding.qp) + " (the course encoder's is fixed at 25)");
  }
  if (s.coding.key_interval != 100) {
    reasons.push_back("key interval " + std::to_string(s.coding.key_interval) + " (the course encoder's is fixed at 100)");
  }
  if (s.coding.frame_interval > 1) {
    reasons.push_back("one of " + std::to_string(s.coding.frame_interval) + " frames is coded (the course encoder codes all)");
  }
  if (s.coding.scene_cuts) reasons.emplace_back("key frames at scene cuts too (the course encoder has none)");
  if (s.coding.search_range != 16) {
    reasons.push_back("search range " + std::to_string(s.coding.search_range) + " (the course encoder's is fixed at 16)");
  }
  if (!is_exhaustive(s.coding.method)) {
    reasons.push_back("search method " + std::string(name(s.coding.method)) + " does not test every candidate");
  }
  return reasons;
}

}  // namespace c63
