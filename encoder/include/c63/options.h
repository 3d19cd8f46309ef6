#pragma once

#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "c63/settings.h"

namespace c63 {

/// Which values of a decision make the encode decide by rate and distortion. `never`: no value; if_true: true, or a
/// number above 0; if_set: any value that is set.
enum class ByRate { never, if_true, if_set };

/// The description of an option: a row of c63/options.inc.
struct OptionInfo {
  std::string_view name;         ///< as on the command line, without dashes; in Python with underscores for dashes
  std::string_view letter = {};  ///< its short form, one letter; empty: none
  std::string_view unit = {};    ///< what help shows for the value; empty: a flag
  std::string_view group = {};
  bool daily = false;            ///< true: --help shows it; false: only --help-all does
  bool in_programs = true;       ///< false: only users of the library and of Python can set it
  bool by_preset = false;        ///< an option that is no decision: its default depends on the preset
  std::string_view one_of = {};  ///< options with the same word here exclude each other
  ByRate by_rate = ByRate::never;
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  std::string_view range_id = {};  ///< the id of the error for values outside least..most
  std::string_view reason = {};    ///< why other values are not possible, for the error's message
  std::string_view key = {};       ///< in JSON reports; empty: the name with underscores
  std::string_view example = {};   ///< values as they are typed on a command line
  std::string_view help = {};      ///< the help text; the range, the examples and the presets' values are added to it

  /// Returns true if the option is a setting that changes the bytes of a stream. Targets change them, too, but only
  /// through such settings.
  [[nodiscard]] constexpr bool changes_bytes() const { return group == "Coding" || group == "Decisions"; }
};

/// Calls visit(info, value) for every option that is a field of EncoderSettings, in the order of the table.
template <typename Settings, typename Visit>
void for_each_option(Settings& settings, Visit&& visit) {
#define C63_OPTION(field, ...) visit(OptionInfo{__VA_ARGS__}, settings.field);
#define C63_DECISION(type, field, defaults, ...) visit(OptionInfo{__VA_ARGS__}, settings.coding.rate.field);
#include "c63/options.inc"
}

/// Calls visit(info, value, defaults) for every decision that presets make. `value` is the field of `rate`; `defaults`
/// is a ByPreset with the values of the presets.
template <typename Rate, typename Visit>
void for_each_decision(Rate&& rate, Visit&& visit) {
#define C63_DECISION(type, field, defaults, ...) visit(OptionInfo{__VA_ARGS__}, rate.field, ByPreset<type> defaults);
#include "c63/options.inc"
}

/// All options in the order of the table.
[[nodiscard]] std::span<const OptionInfo> all_options();
/// Returns the option of this name, which must exist.
[[nodiscard]] const OptionInfo& option_info(std::string_view name);
/// Returns the text that help adds to an option: its range and the presets' values, for example "1 to 8; reference: 1,
/// fast: 1, good: 4, best: 8".
[[nodiscard]] std::string details_of(const OptionInfo& option);

}  // namespace c63
