#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "generate/texture.h"

// Scenes of moving layers. Positions are in units of 1/256 sample, angles in units of 1/kTurn circle (integer_math.h).
// The state of a layer in a frame depends only on the frame's index.

namespace c63 {

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

}  // namespace c63
