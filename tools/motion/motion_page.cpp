#include "motion/motion_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace c63::tools {
namespace {

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c == '<' ? std::string("&lt;") : c == '&' ? std::string("&amp;") : c == '"' ? std::string("&quot;") : std::string(1, c);
  }
  return out;
}

/// JSON that cannot end the script element it stands in.
std::string embedded(const nlohmann::ordered_json& json) {
  std::string out;
  for (const char c : json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) {
    out += c == '<' ? std::string("\\u003c") : std::string(1, c);
  }
  return out;
}

constexpr const char* kStyle = R"css(
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; margin: 0 auto; max-width: 1300px; padding: 1rem clamp(0.8rem, 3vw, 2rem); background: Canvas; color: CanvasText; }
h1 { font-size: 1.3rem; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 1.4rem 0 0.4rem; }
button, select { font: inherit; }
.controls { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; align-items: center; margin: 0.6rem 0; }
#frame { flex: 1 1 12rem; }
img { width: 100%; height: auto; display: block; border-radius: 6px; }
.bar { display: grid; grid-template-columns: 5rem 4.5rem 1fr; gap: 0.6rem; align-items: center; font-variant-numeric: tabular-nums; }
.bar span { text-align: right; } .bar i { background: #0b63c5; height: 0.9rem; border-radius: 3px; min-width: 1px; }
pre { white-space: pre-wrap; }
)css";

constexpr const char* kScript = R"js(
"use strict";
(() => {
  const frames = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  let timer = null;
  function show() {
    const number = Number($("frame").value);
    const frame = frames[number];
    const pictures = frames.slice(0, number + 1).findLast((f) => f.pictures.length > 0).pictures;
    const type = Number($("type").value);
    $("picture").src = pictures[Math.min(type, pictures.length - 1)];
    $("label").textContent = "frame " + frame.index + (frame.key ? " (key)" : frame.repeat ? " (repeat)" : "");
  }
  function stop() { clearInterval(timer); timer = null; $("play").textContent = "Play"; }
  $("frame").max = frames.length - 1;
  $("frame").value = Math.max(0, frames.findIndex((f) => !f.key && !f.repeat));
  $("frame").addEventListener("input", show);
  $("type").addEventListener("change", show);
  $("play").addEventListener("click", () => {
    if (timer) { stop(); return; }
    $("play").textContent = "Pause";
    timer = setInterval(() => { $("frame").value = (Number($("frame").value) + 1) % frames.length; show(); }, 150);
  });
  show();
})();
)js";

}  // namespace

std::string motion_page(const std::string& name, const std::vector<std::string>& types,
                        const std::vector<MotionPageFrame>& frames, const MotionSummary& summary) {
  nlohmann::ordered_json data = nlohmann::ordered_json::array();
  for (const MotionPageFrame& frame : frames) {
    data.push_back({{"index", frame.index}, {"key", frame.key}, {"repeat", frame.repeat}, {"pictures", frame.pictures}});
  }
  std::string choices;
  int number = 0;
  for (const auto& [type, text] : {std::pair("mv", "vectors"), std::pair("sad", "SAD"), std::pair("bits", "bits")}) {
    if (std::find(types.begin(), types.end(), type) == types.end()) continue;
    choices += fmt::format("<option value=\"{}\">{}</option>", number++, text);
  }
  std::uint64_t all = 0;
  for (const auto& bin : summary.histogram()) all += bin.second;
  std::string bars;
  for (const auto& [label, count] : summary.histogram()) {
    const double part = all == 0 ? 0 : 100.0 * static_cast<double>(count) / static_cast<double>(all);
    bars += fmt::format("<div class=\"bar\"><span>{}</span><span>{:.1f} %</span><i style=\"width:{:.2f}%\"></i></div>\n", label, part, part);
  }
  const std::string title = escaped(name);
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>Motion of {0}</title>\n"
      "<style>{1}</style></head>\n<body>\n<h1>Motion of {0}</h1>\n"
      "<div class=\"controls\"><button id=\"play\" type=\"button\">Play</button>"
      "<input id=\"frame\" type=\"range\" min=\"0\" value=\"0\" aria-label=\"Frame\"><output id=\"label\"></output>"
      "<label>Show <select id=\"type\">{2}</select></label></div>\n"
      "<img id=\"picture\" alt=\"Blocks of one frame\">\n"
      "<h2>Summary</h2>\n<pre>{4}</pre>\n"
      "<h2>Longer component of the vectors, in samples</h2>\n{3}"
      "<script type=\"application/json\" id=\"data\">{5}</script>\n<script>{6}</script>\n</body></html>\n",
      title, kStyle, choices, bars, escaped(summary.text(false)), embedded(data), kScript);
}

}  // namespace c63::tools
