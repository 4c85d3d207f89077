// Still drawings as SVG (https://www.w3.org/TR/SVG11/): text, axes, lines, points and cells. They
// have a white ground of their own, so that they can be read on light and on dark pages.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed {

// Returns escaped() text (core/text.h) for XML, in elements and in attributes.
std::string xml_escaped(std::string_view text);

// A horizontal or vertical axis: from values to pixels, `begin` for the lowest. On a logarithmic
// axis all values must be positive.
class PlotAxis {
 public:
  PlotAxis(double lowest, double highest, bool log, double begin, double end);

  double begin() const { return begin_; }
  double end() const { return end_; }
  double pixel(double value) const;
  // Returns the ticks between its ends: ticks_of() (apps/support/axis.h).
  std::vector<double> ticks() const;

 private:
  double scaled(double value) const;

  bool log_;
  double begin_, end_, lowest_, highest_;
};

// Chooses one of eight colours that people with any kind of colour vision can tell apart (Okabe &
// Ito 2008), and one of four kinds of dashes.
struct LineStyle {
  constexpr LineStyle(int64_t c, int64_t d)
      : colour(static_cast<size_t>(c)), dash(static_cast<size_t>(d)) {}
  constexpr LineStyle(size_t index) : colour(index), dash(index) {}  // neighbours differ in both

  size_t colour, dash;
};

// All coordinates are pixels, to the right and down; they are written to a tenth.
class Canvas {
 public:
  // Moves what is drawn until the end_group() by (x, y). `attributes` hold for all of it.
  void begin_group(double x, double y, std::string_view attributes = "");
  void end_group();

  // `anchor`: start, middle or end. `attributes`: more of them, or none.
  void text(double x, double y, const char* anchor, std::string_view words,
            std::string_view attributes = "");
  // A text that reads upwards.
  void upright_text(double x, double y, const char* anchor, std::string_view words);

  // Both axes with their ticks, a grid line for each tick of y, and titles. The axis y begins at
  // the bottom. `x_names`: of the ticks 0, 1, 2, …, as many as there is room for.
  void axes(const PlotAxis& x, const PlotAxis& y, std::string_view x_title,
            std::string_view y_title, const std::vector<std::string>& x_names = {});
  void line(LineStyle style, const std::vector<std::pair<double, double>>& points);
  // An area around a line, in its colour. Draw it before the line.
  void band(LineStyle style, const std::vector<std::pair<double, double>>& outline);
  // Points that no line joins. Neighbours differ in their colours and shapes.
  void points(size_t index, const std::vector<std::pair<double, double>>& points);

  // The label of a line or of points, to the right of a piece of it that begins at (x, y).
  void legend(LineStyle style, double x, double y, std::string_view label, bool joined = true);

  // A group of cells. The upper left corner of the matrix is at (x, y).
  void begin_cells(double x, double y);
  // A square of a matrix: blue, or red if `negative`. `opacity` is its darkness, from 0 to 1, in
  // steps of 1/250. The title, xml_escaped(), appears where the pointer rests.
  void cell(double x, double y, double size, double opacity, bool negative,
            std::string_view title = "");
  // A bar with the colours of cells, from opacity 0 to 1.
  void colour_bar(double x, double y, double width, double height);
  // The border of a matrix.
  void frame(double x, double y, double width, double height);

  // Returns the whole file.
  std::string svg(double width, double height, std::string_view title, int font_size = 12) const;

 private:
  // Adds elements as they are. Text in them must be xml_escaped().
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    body_ += fmt::format(format, std::forward<Args>(args)...);
    body_ += '\n';
  }

  std::string body_;
};

}  // namespace heed
