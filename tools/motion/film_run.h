#pragma once

#include <memory>
#include <vector>

#include "c63/frame_source.h"
#include "common/backends.h"
#include "common/command_line.h"
#include "common/outputs.h"
#include "io/input_file.h"
#include "motion/motion_outputs.h"
#include "motion/motion_run.h"
#include "motion/summary.h"
#include "motion/truth.h"

namespace c63::tools {

/// Adds the options that only films have.
void add_film_options(CLI::App& app, MotionOptions& options);

/// Throws Error (usage) if options contradict each other.
void check_film_options(const MotionOptions& options);

/// An opened film.
struct OpenedFilm {
  std::unique_ptr<FrameSource> source;  ///< the requested frames
  std::shared_ptr<FrameDetails> details = {};  ///< of the frame that was read last; null: the codec's vectors are not wanted
  std::shared_ptr<TextFile> list = {};                           ///< of --codec-list; `source` writes to it
  PairSearch search;
  bool searches_on_device = false;  ///< see FilmSettings
};

/// Opens an input from which nothing has been read. If a GPU is to search, it starts at the same time.
[[nodiscard]] OpenedFilm open_film(const Session& session, const MotionOptions& options, std::unique_ptr<InputFile> file);

/// Passes the frames of a film to the output. `truth` and `output` may be null. Returns the summary.
[[nodiscard]] MotionSummary show_film(const Session& session, const MotionOptions& options, OpenedFilm film,
                                      const MotionTruth* truth, MotionOutput* output);

}  // namespace c63::tools
