#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "c63/settings.h"

namespace c63 {

struct PresetDecisions;

/// The size or the quality that a stream is to have.
struct Target {
  enum class Kind {
    bytes,     ///< of the whole stream; never more, and less than 1 % below if the content allows it
    bitrate,   ///< bits per second, with the same tolerance
    psnr_y,    ///< dB of luma, within 0.05
    psnr_all,  ///< dB of all planes, within 0.05
    ssim_y,    ///< below 1; within 0.05 dB of -10·log10(1 - SSIM)
  };
  Kind kind = Kind::bytes;
  double value = 0;

  /// Of bytes or bits per second. Any stream that is not larger may do.
  [[nodiscard]] bool is_size() const { return kind == Kind::bytes || kind == Kind::bitrate; }
};

/// The result of one encode of the whole video. A quality that was not measured is not set.
struct PassFigures {
  std::int64_t frames = 0;
  std::uint64_t bytes = 0;
  double frames_per_s = 25;  ///< of the video
  std::optional<double> psnr_y_db = {};
  std::optional<double> psnr_all_db = {};
  std::optional<double> ssim_y = {};
  std::optional<std::uint64_t> key_bytes = {};  ///< of all key frames
};

/// One pass: its quality, its scale of λ, and its result.
struct TargetPass {
  double qp = 0;
  double lambda_scale = 1;
  PassFigures figures = {};
};

/// Finds the one quality with which a video meets a target. Each pass over the video is an encode with the settings of
/// next(). The caller keeps the stream of the best pass, so that no pass is made twice:
///
///   TargetSearch search(settings, target);
///   for (bool done = false; !done;) {
///     encode with search.next();
///     done = search.add(figures);
///     if (search.is_best()) keep this stream in place of the one kept before;
///   }
///
/// On logarithmic scales, bits and squared error are nearly straight lines over the quality, so three to five passes
/// are enough; eight are the most. Flat tables have few steps. Between two steps, only λ changes.
class TargetSearch {
 public:
  /// Begins at the quality of `settings`. `known` are earlier passes with the same settings but other qualities. Passes
  /// in which the target's figure was not measured are ignored. Throws Error (usage, C63-TARGET) for a target that no
  /// stream can meet, and what add() throws if the known passes show it.
  TargetSearch(const CodingSettings& settings, const Target& target, std::vector<TargetPass> known = {});

  /// The settings of the next pass: the given ones with another quality. If the preset alternates references (good),
  /// adaptive_reference is set to false. After the search, those of the final stream.
  [[nodiscard]] CodingSettings next() const;
  /// Takes the result of a pass. Returns true if the search is over; then the best pass is the final stream. If that is a
  /// known pass, it is made once before the search ends. If it now has another result, the known passes are of another
  /// encode; they are dropped, and the search goes on. A quality that the preset cannot reach is met as nearly as
  /// possible. Throws Error (limit, C63-TARGET-LIMIT) if even the lowest quality exceeds the size: it names the least size,
  /// and options that would do. Throws Error (usage, C63-TARGET) if the target's figure was not measured.
  bool add(const PassFigures& figures);

  /// Returns true if the last pass is the best so far. A pass that exceeds a size never is.
  [[nodiscard]] bool is_best() const { return best() == &history_.back(); }
  /// Returns the pass that is nearest to the target; null if all exceed the size. It is one of passes().
  [[nodiscard]] const TargetPass* best() const;
  /// Returns the distance of a pass from the target, negative below the target. For bytes and bit rates, it is a
  /// share of the target (0.01 is 1 % too much). For PSNR and SSIM, it is in dB.
  [[nodiscard]] double distance(const TargetPass& pass) const;
  /// Returns true if the best pass is within the tolerance of its Target::Kind.
  [[nodiscard]] bool met() const;
  /// If the search is over and has not met the target: says what was reached, what bounds it, and which options help.
  [[nodiscard]] std::string shortfall() const;
  [[nodiscard]] const std::vector<TargetPass>& passes() const { return history_; }

 private:
  /// A pass as a point of the curve that is searched: its distance from the target, over its quality.
  struct Point {
    double place = 0;  ///< log2 of the qp whose λ is the pass's λ
    double error = 0;  ///< error_of()
  };
  /// Returns the place of the next pass; empty if no further pass can help.
  [[nodiscard]] std::optional<double> next_place() const;
  [[nodiscard]] Point point_of(const TargetPass& pass) const;
  /// Returns the distance of a pass from the target; negative below the target. For sizes and rates it is in octaves,
  /// log2(figure / target); for qualities it is in dB.
  [[nodiscard]] double error_of(const PassFigures& figures) const;
  /// Returns the places of the lowest and of the highest quality.
  [[nodiscard]] std::pair<double, double> ends() const;
  /// Sets the quality of the next pass: that of this place.
  void go_to(double place);
  [[nodiscard]] PresetDecisions decisions_of(double qp, double lambda_scale) const;
  [[nodiscard]] const TargetPass* made_before() const;
  void leave_known(double place);
  void plan();
  void plan_next();
  void end();
  void begin_anew();
  [[noreturn]] void refuse() const;

  CodingSettings settings_;
  Target target_;
  bool has_lambda_;
  std::vector<TargetPass> history_;  ///< all passes
  std::vector<TargetPass> passes_;   ///< those that the search goes by
  std::size_t known_ = 0;      ///< how many of history_ were made before this search
  std::size_t tried_ = 0;      ///< how many passes the search has taken
  bool trusts_known_ = false;  ///< the search goes by passes that were made before it
  double qp_ = 0;        ///< of the next pass
  double scale_ = 1;
  bool over_ = false;  ///< no other quality will be tried
};

/// Returns the target in words: "a bit rate of 800 kb/s", "a size of 2MiB", "PSNR Y of 38 dB", …
[[nodiscard]] std::string describe(const Target& target);

}  // namespace c63
