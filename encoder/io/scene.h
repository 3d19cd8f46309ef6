#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "io/texture.h"

// Scenes of moving layers. Positions are in 1/256 sample. A layer's state at a frame depends only on the frame's index.

namespace c63 {

struct Point {
  std::int64_t x = 0;
  std::int64_t y = 0;
};

/// Maps points of the picture to a layer's texture: turned and scaled about `centre`, then moved to `origin`.
struct Placement {
  Point centre;                 ///< in the picture
  Point origin;                 ///< in the texture
  std::int64_t cosine = 65536;  ///< times scale, 16 binary places
  std::int64_t sine = 0;        ///< times scale

  [[nodiscard]] Point to_texture(Point picture) const;
  [[nodiscard]] Point to_picture(Point texture) const;
};

/// The movement of a layer. All speeds are per frame.
struct Movement {
  Point start;          ///< of the centre
  Point velocity;       ///< of the content, in a straight line
  Point swing;          ///< amplitude of a swinging movement
  int swing_angle = 0;  ///< its speed, in angle units per frame
  int swing_phase = 0;
  int turn = 0;          ///< angle units per frame
  int zoom_percent = 0;  ///< amplitude of a slow zoom
  int zoom_angle = 0;    ///< its speed, in angle units per frame
};

enum class Shape { everywhere, ellipse, box };

struct Layer {
  Shape shape = Shape::everywhere;
  Point half_size;  ///< of an ellipse or box
  Movement movement;
  Point texture_origin;
  int brightness = 0;
  std::array<int, 2> colour{};  ///< added to U and V
};

/// Layers from back to front, all with the same textures.
class Scene {
 public:
  Scene(Texture luma, std::array<Texture, 2> chroma, int width, int height);

  void add(const Layer& layer) { layers_.push_back(layer); }

  /// Computes `count` samples of plane 0..2, at points `step` apart, starting at `first`.
  void render_row(int plane, std::int64_t frame, Point first, std::int64_t step, int count, std::uint8_t* row) const;

  /// The position in frame - 1 from which an 8x8 block came, relative to the block. Empty if a part of it was hidden, was outside
  /// the picture or belongs to another layer.
  [[nodiscard]] std::optional<Point> true_motion(std::int64_t frame, int block_x, int block_y) const;

 private:
  [[nodiscard]] Placement place(const Layer& layer, std::int64_t frame) const;
  [[nodiscard]] static int coverage(const Layer& layer, Point in_layer);
  /// The front layer at a point; empty on a soft edge.
  [[nodiscard]] std::optional<std::size_t> front_layer(std::int64_t frame, Point picture) const;

  Texture luma_;
  std::array<Texture, 2> chroma_;
  int width_;
  int height_;
  std::vector<Layer> layers_;
};

}  // namespace c63
