#include "c63/settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include "c63/error.h"
#include "c63/options.h"
#include "c63/user_search.h"
#include "codec/geometry.h"
#include "codec/quantization.h"

namespace c63 {
namespace {

template <typename Enum>
using Names = std::pair<Enum, std::string_view>;

constexpr std::array kSearchMethods = {
#define C63_SEARCH_METHOD(method, text, make) Names<SearchMethod>{SearchMethod::method, text},
#include "c63/search_methods.inc"
#undef C63_SEARCH_METHOD
};
constexpr std::array kPresets = {Names<Preset>{Preset::reference, "reference"}, Names<Preset>{Preset::fast, "fast"},
                                 Names<Preset>{Preset::good, "good"}, Names<Preset>{Preset::best, "best"}};
constexpr std::array kTableShapes = {Names<TableShape>{TableShape::course, "course"}, Names<TableShape>{TableShape::flat, "flat"}};
constexpr std::array kHeaderSets = {Names<HeaderSet>{HeaderSet::full, "full"}, Names<HeaderSet>{HeaderSet::compact, "compact"}};
constexpr std::array kTunes = {Names<Tune>{Tune::psnr, "psnr"}, Names<Tune>{Tune::ssim, "ssim"}};
constexpr std::array kSimdLevels = {Names<SimdLevel>{SimdLevel::scalar, "scalar"}, Names<SimdLevel>{SimdLevel::sse4, "sse4"},
                                    Names<SimdLevel>{SimdLevel::avx2, "avx2"}, Names<SimdLevel>{SimdLevel::avx512, "avx512"},
                                    Names<SimdLevel>{SimdLevel::neon, "neon"}, Names<SimdLevel>{SimdLevel::simd128, "simd128"}};

}  // namespace

template <>
std::span<const Names<SearchMethod>> names_of() { return kSearchMethods; }
template <>
std::span<const Names<Preset>> names_of() { return kPresets; }
template <>
std::span<const Names<TableShape>> names_of() { return kTableShapes; }
template <>
std::span<const Names<HeaderSet>> names_of() { return kHeaderSets; }
template <>
std::span<const Names<Tune>> names_of() { return kTunes; }
template <>
std::span<const Names<SimdLevel>> names_of() { return kSimdLevels; }

namespace {

constexpr std::array kOptions = {
#define C63_OPTION(field, ...) OptionInfo{__VA_ARGS__},
#define C63_DECISION(type, field, defaults, ...) OptionInfo{__VA_ARGS__},
#define C63_RUN_OPTION(...) OptionInfo{__VA_ARGS__},
#include "c63/options.inc"
};

/// Returns a number as text, with no more digits than needed.
std::string number(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

template <typename T>
std::string text_of(T value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "on" : "off";
  } else if constexpr (std::is_enum_v<T>) {
    return std::string(name(value));
  } else {
    return number(value);
  }
}

void require(bool condition, ErrorKind kind, const char* id, const std::string& message) {
  if (!condition) throw Error(kind, id, message);
}

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

/// Throws Error (usage) if `value` is below `least` or above option.most. An option without a range_id allows every
/// value.
void check_range(const OptionInfo& option, double value, double least) {
  if (option.range_id.empty() || (value >= least && value <= option.most)) return;
  throw Error(ErrorKind::usage, std::string(option.range_id),
              std::string(option.name) + " " + number(value) + " is " +
                  (option.most == kUnbounded ? "below " + number(least) : "outside " + number(least) + ".." + number(option.most)) +
                  (option.reason.empty() ? "" : ": " + std::string(option.reason)) +
                  (value >= option.least && value < least ? "; flat tables take it (--preset fast, good or best)" : ""));
}

}  // namespace

std::span<const OptionInfo> all_options() { return kOptions; }

const OptionInfo& option_info(std::string_view name) {
  const auto found = std::ranges::find(kOptions, name, &OptionInfo::name);
  if (found == kOptions.end()) throw Error(ErrorKind::internal, "C63-INTERNAL", "the program looks for an option that its table does not have: " + std::string(name));
  return *found;
}

std::string details_of(const OptionInfo& option) {
  std::string text;
  if (option.least != -kUnbounded) {
    text = option.most == kUnbounded ? "at least " + number(option.least) : number(option.least) + " to " + number(option.most);
  }
  for_each_decision(RateSettings{}, [&](const OptionInfo& decision, const auto&, const auto& values) {
    if (decision.name != option.name) return;
    for (const auto& [preset, preset_name] : kPresets) {
      text += (text.empty() ? "" : preset == Preset::reference ? "; " : ", ") + std::string(preset_name) + ": " + text_of(values.of(preset));
    }
  });
  return text;
}

bool RateSettings::decides_by_rate() const {
  bool decides = false;
  for_each_decision(*this, [&](const OptionInfo& info, const auto& value, const auto&) {
    decides |= value && (info.by_rate == ByRate::if_set || (info.by_rate == ByRate::if_true && static_cast<int>(*value) != 0));
  });
  return decides;
}

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
  for_each_option(s, [&](const OptionInfo& option, const auto& value) {
    using Value = std::decay_t<decltype(value)>;
    if constexpr (std::is_arithmetic_v<Value>) {
      check_range(option, static_cast<double>(value), option.name == "qp" ? least_qp(s.coding) : option.least);
    } else if constexpr (std::is_same_v<Value, std::optional<int>> || std::is_same_v<Value, std::optional<double>>) {
      if (value) check_range(option, *value, option.least);
    }
  });
  require(s.coding.rate.tune == Tune::psnr || decides_by_rate(s.coding), ErrorKind::usage, "C63-TUNE-PRESET",
          "tuning for SSIM has no effect with preset reference; choose another preset (--preset good)");
}

std::vector<std::string> differences_from_course(const EncoderSettings& s) {
  std::vector<std::string> reasons;
  const auto compare = [&](const OptionInfo& option, const auto& value, const auto& of_course) {
    using Value = std::decay_t<decltype(value)>;
    if constexpr (std::is_arithmetic_v<Value> || std::is_enum_v<Value>) {  // other types change no bytes
      if (!option.changes_bytes() || value == of_course) return;
      if constexpr (std::is_same_v<Value, SearchMethod>) {
        if (is_exhaustive(value)) return;
      }
      reasons.push_back(std::string(option.name) + " " + text_of(value) + " instead of " + text_of(of_course));
    }
  };
  const EncoderSettings course;
#define C63_OPTION(field, ...) compare(OptionInfo{__VA_ARGS__}, s.field, course.field);
#define C63_DECISION(type, field, defaults, ...) \
  compare(OptionInfo{__VA_ARGS__}, s.coding.rate.field.value_or((ByPreset<type> defaults).of(Preset::reference)), \
          (ByPreset<type> defaults).of(Preset::reference));
#include "c63/options.inc"
  if (s.coding.qp > kMaxExactQp) {
    reasons.emplace_back(
        "above qp 25, luma coefficients are limited to ±511; the course encoder writes larger ones, which no decoder "
        "can read");
  }
  return reasons;
}

}  // namespace c63
