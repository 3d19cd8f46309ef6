// c63info: says what is in a c63 stream.

#include <spdlog/logger.h>

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "c63/error.h"
#include "common/command_line.h"
#include "common/errors.h"
#include "common/options.h"
#include "common/outputs.h"
#include "common/report.h"
#include "common/values.h"
#include "info/stream_info.h"
#include "io/input_file.h"

namespace c63::tools {
namespace {

/// The command line of c63info.
struct InfoOptions {
  std::string input;
  std::string json;                    ///< file for the JSON; "-" is standard output
  bool quick = false;                  ///< read headers only
  std::optional<FrameRate> rate = {};  ///< frame rate of the video; the stream has none
  Durability durability = Durability::process;
  Limits limits;
};

/// Writes JSON with the GOPs as they are read, so that memory does not grow with their number. The totals follow at the
/// end.
class InfoJson {
 public:
  InfoJson(const InfoOptions& options, const std::string& name) : file_(options.json, options.durability) {
    nlohmann::ordered_json head = environment_json("c63info");
    head["file"] = name;
    file_.add("{{\n{},\n  \"gops\": [", json_members(head));
  }
  void add(const GopInfo& gop) {
    file_.add("{}\n    {{\"first_frame\": {}, \"frames\": {}, \"bytes\": {}}}", std::exchange(any_, true) ? "," : "",
              gop.first_frame, gop.frames, gop.bytes);
  }
  void end(const nlohmann::ordered_json& rest) { file_.add("\n  ],\n{}\n}}\n", json_members(rest)); }
  void commit() { file_.commit(); }
  [[nodiscard]] std::string commit_part() { return file_.commit_part(); }

 private:
  TextFile file_;
  bool any_ = false;
};

/// Reads a whole stream. read() returns the error that ended it, if any.
class StreamLook {
 public:
  StreamLook(const Session& session, const InfoOptions& options, const ErrorPlace& place)
      : session_(session),
        options_(options),
        place_(place),
        source_(open_byte_source(options.input, session.stop)),
        reader_(*source_, options.limits),
        analyser_(options.limits) {}

  std::optional<Error> read(StreamInfo& info, const std::function<void(const GopInfo&)>& on_gop) {
    const auto progress = session_.progress(std::nullopt, options_.rate.value_or(FrameRate()).value());
    std::optional<Error> fault;
    try {
      while (!session_.stop.stop_requested() && take_frame(info, on_gop)) progress->advance(0);
    } catch (const Error& error) {
      fault = error.at(place_);
    }
    progress->finish();
    if (const auto gop = info.finish()) on_gop(*gop);
    return fault;
  }

 private:
  bool take_frame(StreamInfo& info, const std::function<void(const GopInfo&)>& on_gop) {
    auto frame = options_.quick ? reader_.pass() : reader_.next();
    if (!frame) return false;
    std::optional<FrameBlocks> blocks;
    try {
      if (!options_.quick) blocks = analyser_.analyse(frame->bytes);
    } catch (const Error& error) {
      throw frame->located(error);
    }
    if (const auto gop = info.add(*frame, blocks ? &*blocks : nullptr)) on_gop(*gop);
    reader_.reuse(std::move(frame->bytes));
    return true;
  }

  const Session& session_;
  const InfoOptions& options_;
  ErrorPlace place_;
  std::unique_ptr<ByteSource> source_;
  StreamReader reader_;
  BlockAnalyser analyser_;
};

void add_info_options(CLI::App& app, InfoOptions& o) {
  add_options(
      app, "Input and output",
      {{"-i,--input,input", &o.input, "FILE", "Stream to look at; - is stdin"},
       {"--json", &o.json, "FILE", "Write everything as JSON, with every GOP; with - it goes to stdout, and nothing else is printed"},
       {"--quick", &o.quick, "",
        "Read only the frame headers: bits by kind and blocks are not counted, and damage inside frames is not found"},
       {"--fps", into(o.rate, frame_rate_from), "RATE", "Frames per second, for bit rate and duration; a stream has none",
        {.example = "30000/1001"}}});
  add_output_options(app, o.durability);
  add_limit_options(app, o.limits);
}

int run_info(const Session& session, const InfoOptions& options) {
  if (options.input.empty()) throw Error(ErrorKind::usage, "C63-USAGE", "no stream was given");
  check_distinct_files({{"the stream", options.input}},
                       {{"--json", options.json}, {"--log-file", session.common.log.file}});
  const std::string name = options.input == "-" ? "stdin" : options.input;
  const ErrorPlace place{.file = name};
  StreamLook look(session, options, place);
  std::optional<InfoJson> json;
  if (!options.json.empty()) json.emplace(options, name);
  StreamInfo info;
  const std::optional<Error> fault = look.read(info, [&](const GopInfo& gop) {
    if (json) json->add(gop);
  });
  if (info.frames() == 0 && fault) throw Error(*fault);
  if (info.frames() == 0 && !session.stop.stop_requested())
    throw Error(ErrorKind::input, "C63-STREAM-EMPTY", "the stream is empty", place);
  const bool stopped = session.stop.stop_requested();
  if (json && info.frames() > 0) {
    nlohmann::ordered_json rest = info.json(options.rate);
    rest["complete"] = !fault && !stopped;
    json->end(rest);
    if (stopped) {
      (void)commit_stopped(*json, options.json, options.input == "-", *session.log);
    } else {
      json->commit();
    }
  }
  // If the stream is damaged, the facts about the frames before the error are printed first. Then the error is thrown.
  if (options.json != "-" && info.frames() > 0) {
    std::string text;
    for (const std::string& line : info.lines(name, options.rate)) text += line + "\n";
    write_stdout(text);
  }
  if (fault) throw Error(*fault);
  if (stopped) session.summary->info("{}", stopped_text(info.frames(), {}));
  return kExitDone;
}

}  // namespace
}  // namespace c63::tools

int main(int argc, char** argv) {
  c63::tools::InfoOptions options;
  return c63::tools::run_main(
      argc, argv,
      {.name = "c63info",
       .description =
           "Show what a c63 stream contains: size, frames, GOPs, bits by kind, and which presets write such streams.",
       .add_options = [&](CLI::App& app) { c63::tools::add_info_options(app, options); },
       .run = [&](const c63::tools::Session& session) { return c63::tools::run_info(session, options); },
       .examples = {{"c63info foreman.c63", "Show what the stream contains"},
                    {"c63info --quick foreman.c63", "Read the headers only: no bits by kind, no blocks"},
                    {"c63info --json foreman.json foreman.c63", "Write the same for other programs, with every GOP"}}});
}
