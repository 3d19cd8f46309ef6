#pragma once

#include <map>
#include <memory>
#include <string>

#include "common/command_line.h"
#include "compare/ab_result.h"
#include "compare/commands.h"
#include "files/scratch_folder.h"

namespace c63::tools {

/// Runs the sides of a comparison in turns and measures them.
class AbBench {
 public:
  AbBench(const Session& session, const AbOptions& options, AbResult& result);

  /// Asks each external encoder that version_question() knows for its version.
  void ask_versions();
  /// Converts each input to raw frames, so that all sides read the same. A raw file that is used as a whole is not copied.
  /// After a stop request some may be missing.
  void prepare_inputs();
  /// Fills result.points. After a stop request they contain only finished rounds, and the result is marked as stopped.
  void run_points();
  /// Fills result.pictures from the streams that run_points() has kept. After a drop request some may be missing.
  void make_pictures();

 private:
  struct Work {
    std::size_t point;   ///< index in result.points
    std::string output;  ///< path of its coded stream
  };

  void prepare_input(const std::string& path);
  void make_pictures_of(std::size_t input);
  void run_row(std::size_t input, std::size_t row);
  /// Returns false if a stop request ended the run.
  [[nodiscard]] bool run_once(Work& work, bool measured);
  /// Keeps only the first `rounds` rounds of the points from `first_point` on, because not all sides have run the later
  /// rounds. If `rounds` is 0, removes these points.
  void keep_finished_rounds(std::size_t first_point, std::size_t rounds);
  [[nodiscard]] std::string command_of(const AbPoint& point, const std::string& output, std::string& stdin_path,
                                       std::string& stdout_path) const;
  /// Reads the bits of frames from the index of a c63 stream.
  void read_frame_bits(AbPoint& point, const std::string& file) const;
  /// Asks ffprobe for the bits of another encoder's frames.
  void ask_frame_bits(AbPoint& point, const std::string& file) const;
  void take_encoder_report(AbPoint& point, bool measured) const;
  void take_result(Work& work);
  [[nodiscard]] std::string result_file(const std::string& output) const;
  void keep(const AbPoint& point, const std::string& file) const;

  const Session& session_;
  const AbOptions& options_;
  AbResult& result_;
  ScratchFolder folder_{"", "c63cmp"};
  std::string encoder_;
  std::unique_ptr<Progress> progress_;          ///< counts encoded frames, also in rounds that are not measured
  std::map<std::size_t, std::string> streams_;  ///< coded streams that are kept for pictures, by index in result.points
};

}  // namespace c63::tools
