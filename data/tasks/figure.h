// The figures in the pictures of shapes and video.
//
// Each fills a square of odd side s ≥ 3 with strokes one pixel wide. Every figure lights 2s - 1
// pixels, so that counting or averaging the lit pixels says nothing about the figure.
//
//   +        x        L        J        T        ⊥
//   . # .    # . #    # . .    . . #    # # #    . # .
//   # # #    . # .    # . .    . . #    . # .    . # .
//   . # .    # . #    # # #    # # #    . # .    # # #
#pragma once

#include "core/random.h"

namespace heed {

struct FigureKind {
  const char* name;
  // Whether it lights a pixel of its square, whose last row and column is `last`.
  bool (*lights)(int32_t row, int32_t column, int32_t last);
};
inline constexpr FigureKind figure_kinds[] = {
    {"+", [](int32_t i, int32_t j, int32_t last) { return i == last / 2 || j == last / 2; }},
    {"x", [](int32_t i, int32_t j, int32_t last) { return i == j || i + j == last; }},
    {"L", [](int32_t i, int32_t j, int32_t last) { return j == 0 || i == last; }},
    {"J", [](int32_t i, int32_t j, int32_t last) { return j == last || i == last; }},
    {"T", [](int32_t i, int32_t j, int32_t last) { return i == 0 || j == last / 2; }},
    {"⊥", [](int32_t i, int32_t j, int32_t last) { return i == last || j == last / 2; }}};

struct Figure {
  int32_t kind;    // index into figure_kinds
  int32_t side;    // s
  int32_t colour;  // 1 … 7: one bit each for red, green and blue
};

inline constexpr int64_t colour_channels = 3;

// Draws a figure of random kind, colour and side ≤ size.
Figure draw_figure(Random& random, int64_t size);

// Lights its pixels in a picture (size, size, colour_channels), the upper left corner of its square
// at (row, column). Pixels that leave the picture at one edge reappear at the opposite edge.
void paint(const Figure& figure, int64_t row, int64_t column, int64_t size, float* picture);

}  // namespace heed
