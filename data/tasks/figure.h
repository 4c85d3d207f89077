// The figures of the pictures of shapes and video.
//
// Each fills an odd side s of at least 3 with strokes one pixel wide, and 2s - 1 pixels whatever it
// is: to count the lit ones, or to average over them, says nothing about the figure.
//
//   +        x        L        J        T        ⊥
//   . # .    # . #    # . .    . . #    # # #    . # .
//   # # #    . # .    # . .    . . #    . # .    . # .
//   . # .    # . #    # # #    # # #    . # .    # # #
#pragma once

#include "core/random.h"

namespace heed {

inline constexpr const char* figure_names[] = {"+", "x", "L", "J", "T", "⊥"};

struct Figure {
  int32_t kind;    // of figure_names
  int32_t side;    // s
  int32_t colour;  // 1 … 7, one bit each for red, green and blue
};

inline constexpr int64_t colour_channels = 3;

// Any figure, side ≤ size and colour.
Figure draw_figure(Random& random, int64_t size);

// Lights its pixels in a picture (size, size, colour_channels), the upper left corner of its square
// at (row, column). What leaves the picture at one edge comes back at the other.
void paint(const Figure& figure, int64_t row, int64_t column, int64_t size, float* picture);

}  // namespace heed
