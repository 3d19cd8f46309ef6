#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

// Scenes of moving layers. Positions are in units of 1/256 sample, angles in units of 1/kTurn circle (integer_math.h).
// The state of a layer in a frame depends only on the frame's index.

namespace c63 {

/// A square picture that repeats without visible borders and can be sampled at any point. Coordinates are in 1/256
/// sample.
class Texture {
 public:
  /// Makes natural-looking noise: a sum of noises of several sizes, of which the finer ones are weaker, and with edges.
  /// `log2_side` is at least 3.
  static Texture natural(std::uint32_t seed, int log2_side, int contrast);
  /// Makes a checkerboard of squares with sides of `square` samples (a power of two), in two greys.
  static Texture checker(int log2_side, int square, int dark, int bright);

  /// Returns the bilinearly interpolated sample at a point.
  [[nodiscard]] int at(std::int64_t x, std::int64_t y) const {
    const std::int64_t mask = (std::int64_t{1} << log2_side_) - 1;
    const std::size_t x0 = static_cast<std::size_t>((x >> 8) & mask);
    const std::size_t x1 = static_cast<std::size_t>(((x >> 8) + 1) & mask);
    const std::size_t y0 = static_cast<std::size_t>((y >> 8) & mask) << log2_side_;
    const std::size_t y1 = static_cast<std::size_t>(((y >> 8) + 1) & mask) << log2_side_;
    const int fx = static_cast<int>(x & 255);
    const int fy = static_cast<int>(y & 255);
    const int top = samples_[y0 + x0] * (256 - fx) + samples_[y0 + x1] * fx;
    const int bottom = samples_[y1 + x0] * (256 - fx) + samples_[y1 + x1] * fx;
    return (top * (256 - fy) + bottom * fy + 32768) >> 16;
  }

 private:
  explicit Texture(int log2_side);

  int log2_side_;
  std::vector<std::uint8_t> samples_;
};

struct Point {
  std::int64_t x = 0;
  std::int64_t y = 0;
};

/// Maps points of the picture to points of a layer's texture. It rotates and scales about `centre`, then shifts so that
/// `centre` comes to `origin`.
struct Placement {
  Point centre;                 ///< a point of the picture
  Point origin;                 ///< the point of the texture that is shown at `centre`
  std::int64_t cosine = 65536;  ///< cosine of the angle times the scale, with 16 fraction bits
  std::int64_t sine = 0;        ///< sine of the angle times the scale, with 16 fraction bits

  [[nodiscard]] Point to_texture(Point picture) const;
  [[nodiscard]] Point to_picture(Point texture) const;
};

/// The movement of a layer. All speeds are changes per frame.
struct Movement {
  Point start;          ///< position of the centre in frame 0
  Point velocity;       ///< straight movement
  Point swing;          ///< amplitude of a swinging movement
  int swing_angle = 0;  ///< speed of the swinging, in angle units
  int swing_phase = 0;
  int turn = 0;          ///< rotation, in angle units
  int zoom_percent = 0;  ///< amplitude of a slow zoom, in percent
  int zoom_angle = 0;    ///< speed of the zoom, in angle units
};

enum class Shape { everywhere, ellipse, box };

struct Layer {
  Shape shape = Shape::everywhere;
  Point half_size;  ///< half of the sides of an ellipse or box
  Movement movement;
  Point texture_origin;
  int brightness = 0;
  std::array<int, 2> colour{};  ///< added to U and V
};

/// A picture made of layers, from back to front. All layers use the same textures.
class Scene {
 public:
  Scene(Texture luma, std::array<Texture, 2> chroma, int width, int height);

  void add(const Layer& layer) { layers_.push_back(layer); }

  /// Computes `count` samples of a row of a plane, 0 to 2. The first sample is at point `first`; each further one is
  /// `step` to the right.
  void render_row(int plane, std::int64_t frame, Point first, std::int64_t step, int count, std::uint8_t* row) const;

  /// Returns where an 8x8 block was in the previous frame, relative to where it is now. Empty if a part of it was
  /// hidden or outside the picture, or if it shows more than one layer.
  [[nodiscard]] std::optional<Point> true_motion(std::int64_t frame, int block_x, int block_y) const;

 private:
  [[nodiscard]] Placement place(const Layer& layer, std::int64_t frame) const;
  [[nodiscard]] static int coverage(const Layer& layer, Point in_layer);
  /// Returns the index of the layer that is visible at a point; empty if the point lies on a soft edge.
  [[nodiscard]] std::optional<std::size_t> front_layer(std::int64_t frame, Point picture) const;

  Texture luma_;
  std::array<Texture, 2> chroma_;
  int width_;
  int height_;
  std::vector<Layer> layers_;
};

/// What one frame of a star field shows. Positions are in 1/256 sample.
struct StarTruth {
  Point shift;          ///< shift of the whole sky against frame 0
  Point object;         ///< position of the moving object
  int object_peak = 0;  ///< brightness that the object adds at its centre, in grey levels
};

/// Draws the frames of pattern `stars`: fixed stars, seen by a camera that shakes, and one dim object that moves.
class StarField {
 public:
  StarField(int width, int height, std::uint32_t seed, Point velocity);

  [[nodiscard]] StarTruth truth(std::int64_t frame) const;
  /// Writes the luma of a frame, width * height samples. No noise is added.
  void render(std::int64_t frame, std::uint8_t* luma) const;

 private:
  struct Star {
    Point at;
    int peak;
  };
  static void add_spot(std::vector<int>& light, int width, int height, Point at, int peak);

  int width_;
  int height_;
  std::uint32_t seed_;
  Point velocity_;
  std::vector<Star> stars_;
};

}  // namespace c63
