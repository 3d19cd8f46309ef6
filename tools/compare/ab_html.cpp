#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "c63/error.h"
#include "common/text.h"
#include "compare/ab_plan.h"
#include "compare/ab_report.h"

#if defined(C63_HAVE_CHARTJS)
namespace c63::tools::report_files {
// The build makes these constants from the files in tools/compare/report and from Debian's libjs-chart.js.
extern const std::string_view html;
extern const std::string_view css;
extern const std::string_view js;
extern const std::string_view chart;
extern const std::string_view licence;
}  // namespace c63::tools::report_files
#endif

namespace c63::tools {

bool can_write_html() {
#if defined(C63_HAVE_CHARTJS)
  return true;
#else
  return false;
#endif
}

#if defined(C63_HAVE_CHARTJS)
std::string ab_html(const AbResult& result) {
  nlohmann::ordered_json pictures = nlohmann::ordered_json::array();
  for (const AbPicture& p : result.pictures) {
    pictures.push_back({{"input", p.input},
                        {"configuration", p.configuration ? nlohmann::ordered_json(*p.configuration) : nlohmann::ordered_json(nullptr)},
                        {"quantizer", p.quantizer},
                        {"frame", p.frame},
                        {"title", p.title},
                        {"stored", p.stored},
                        {"data_uri", p.data_uri}});
  }
  return fill_in(report_files::html, '@', '@', {{"CSS", std::string(report_files::css)},
                                         {"LICENCE", escaped(report_files::licence)},
                                         {"DATA", embedded(ab_json(result))},
                                         {"CSV", embedded(ab_csv(result))},
                                         {"CHART", std::string(report_files::chart)},
                                         {"JS", "window.c63Pictures = " + embedded(pictures) + ";\n" + std::string(report_files::js)}});
}
#else
std::string ab_html(const AbResult& /*result*/) {
  throw Error(ErrorKind::usage, "C63-NO-CHARTS", "this c63 was built without Chart.js (package libjs-chart.js), which --html needs");
}
#endif

}  // namespace c63::tools
