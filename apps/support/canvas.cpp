#include "apps/support/canvas.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "apps/support/axis.h"
#include "core/text.h"

namespace heed {
namespace {

constexpr const char* colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                   "#b07700", "#3d9fd6", "#6f6f6f", "#8a6fd1"};
constexpr const char* cell_colour = "#08306b";
constexpr const char* dashes[] = {"", "7 3", "2 3", "9 3 2 3"};
// A circle, a square, a triangle and a diamond around a point.
constexpr const char* shapes[] = {"m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0", "m-3.5-3.5h7v7h-7z",
                                  "m0-4.5l4.5 8h-9z", "m0-5l5 5l-5 5l-5-5z"};

const char* colour_of(size_t index) { return colours[index % std::size(colours)]; }

std::string style_of(LineStyle style) {
  const char* const dash = dashes[style.dash % std::size(dashes)];
  return fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"2\"{}", colour_of(style.colour),
                     *dash ? fmt::format(" stroke-dasharray=\"{}\"", dash) : "");
}

// Rounds to a tenth, so that {} writes few digits.
double tenth(double pixels) { return std::round(10 * pixels) / 10 + 0.0; }

// Returns " NAME" for more attributes, or nothing.
std::string more(std::string_view attributes) {
  return attributes.empty() ? "" : fmt::format(" {}", attributes);
}

// Returns a number as short as it can be read, 20000 rather than 2e+04.
std::string tick_text(double value) {
  const bool plain = std::abs(value) >= 1e4 && std::abs(value) < 1e7;
  return plain ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

// Returns "x,y x,y …".
std::string text_of(const std::vector<std::pair<double, double>>& points) {
  std::string text;
  for (const auto& [x, y] : points)
    text += fmt::format("{}{},{}", text.empty() ? "" : " ", tenth(x), tenth(y));
  return text;
}

}  // namespace

std::string xml_escaped(std::string_view text) {
  // XML does not allow U+FFFE and U+FFFF (XML 1.0, section 2.2).
  constexpr std::pair<std::string_view, std::string_view> replacements[] = {
      {"&", "&amp;"},   {"<", "&lt;"},        {">", "&gt;"},
      {"\"", "&quot;"}, {"\uFFFE", "\uFFFD"}, {"\uFFFF", "\uFFFD"}};
  std::string valid = escaped(text);
  for (const auto& [from, to] : replacements)
    for (size_t at = 0; (at = valid.find(from, at)) != valid.npos; at += to.size())
      valid.replace(at, from.size(), to);
  return valid;
}

PlotAxis::PlotAxis(double lowest, double highest, bool log, double begin, double end)
    : log_(log), begin_(begin), end_(end), lowest_(scaled(lowest)), highest_(scaled(highest)) {
  if (highest_ - lowest_ < 1e-12 * std::max(1.0, std::abs(lowest_))) {
    const double room = log ? 0.5 : std::max(std::abs(lowest_), 1e-6) / 2;
    lowest_ -= room;
    highest_ += room;
  }
}

double PlotAxis::scaled(double value) const { return log_ ? std::log10(value) : value; }

double PlotAxis::pixel(double value) const {
  return begin_ + (scaled(value) - lowest_) / (highest_ - lowest_) * (end_ - begin_);
}

std::vector<double> PlotAxis::ticks() const {
  const auto value = [&](double at) { return log_ ? std::pow(10, at) : at; };
  return ticks_of(log_, value(lowest_), value(highest_));
}

void Canvas::begin_group(double x, double y, std::string_view attributes) {
  put("<g transform=\"translate({} {})\"{}>", tenth(x), tenth(y), more(attributes));
}

void Canvas::end_group() { put("</g>"); }

void Canvas::text(double x, double y, const char* anchor, std::string_view words,
                  std::string_view attributes) {
  const bool start = std::string_view(anchor) == "start";
  put("<text x=\"{}\" y=\"{}\"{}{}>{}</text>", tenth(x), tenth(y),
      start ? "" : fmt::format(" text-anchor=\"{}\"", anchor), more(attributes),
      xml_escaped(words));
}

void Canvas::upright_text(double x, double y, const char* anchor, std::string_view words) {
  put("<text transform=\"translate({} {}) rotate(-90)\" text-anchor=\"{}\">{}</text>", tenth(x),
      tenth(y), anchor, xml_escaped(words));
}

void Canvas::axes(const PlotAxis& x, const PlotAxis& y, std::string_view x_title,
                  std::string_view y_title, const std::vector<std::string>& x_names) {
  const double left = x.begin(), right = x.end(), bottom = y.begin(), top = y.end();
  for (const double tick : y.ticks()) {
    put("<path d=\"M{} {}H{}\" stroke=\"#ddd\"/>", left, tenth(y.pixel(tick)), right);
    text(left - 8, y.pixel(tick) + 4, "end", tick_text(tick));
  }
  const auto x_tick = [&](double value, std::string_view label) {
    put("<path d=\"M{} {}v5\" stroke=\"#888\"/>", tenth(x.pixel(value)), bottom);
    text(x.pixel(value), bottom + 19, "middle", label);
  };
  if (x_names.empty())
    for (const double tick : x.ticks()) x_tick(tick, tick_text(tick));
  double end = -1;  // of the last name
  for (size_t i = 0; i < x_names.size(); ++i) {
    const double at = x.pixel(static_cast<double>(i)),
                 half = 4.0 * static_cast<double>(character_count(x_names[i]));
    if (at - half < end) continue;
    x_tick(static_cast<double>(i), x_names[i]);
    end = at + half;
  }
  put("<path d=\"M{} {}V{}H{}\" stroke=\"#888\" fill=\"none\"/>", left, top, bottom, right);
  text((left + right) / 2, bottom + 40, "middle", x_title);
  upright_text(18, (top + bottom) / 2, "middle", y_title);
}

void Canvas::line(LineStyle style, const std::vector<std::pair<double, double>>& points) {
  put("<polyline {} points=\"{}\"/>", style_of(style), text_of(points));
}

void Canvas::band(LineStyle style, const std::vector<std::pair<double, double>>& outline) {
  put("<polygon fill=\"{}\" fill-opacity=\"0.18\" points=\"{}\"/>", colour_of(style.colour),
      text_of(outline));
}

void Canvas::points(size_t index, const std::vector<std::pair<double, double>>& points) {
  std::string path;
  for (const auto& [x, y] : points)
    path += fmt::format("M{} {}{}", tenth(x), tenth(y), shapes[index % std::size(shapes)]);
  put("<path fill=\"{}\" d=\"{}\"/>", colour_of(index), path);
}

void Canvas::legend(LineStyle style, double x, double y, std::string_view label, bool joined) {
  if (joined)
    put("<path {} d=\"M{} {}h30\"/>", style_of(style), tenth(x), tenth(y));
  else
    points(style.colour, {{x + 15, y}});
  text(x + 38, y + 4, "start", label);
}

void Canvas::begin_cells(double x, double y) {
  begin_group(x, y, fmt::format("fill=\"{}\"", cell_colour));
}

void Canvas::cell(double x, double y, double size, double opacity, bool negative,
                  std::string_view title) {
  const std::string tip = title.empty() ? "/" : fmt::format("><title>{}</title></rect", title);
  put("<rect x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{2}\"{3} fill-opacity=\"{4:.3g}\"{5}>",
      tenth(x), tenth(y), tenth(size), negative ? " fill=\"#b2182b\"" : "",
      std::round(250 * opacity) / 250, tip);
}

void Canvas::colour_bar(double x, double y, double width, double height) {
  put("<defs><linearGradient id=\"weights\"><stop offset=\"0\" stop-color=\"{0}\" "
      "stop-opacity=\"0\"/><stop offset=\"1\" stop-color=\"{0}\"/></linearGradient></defs>",
      cell_colour);
  put("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"url(#weights)\" "
      "stroke=\"#888\"/>",
      tenth(x), tenth(y), tenth(width), tenth(height));
}

void Canvas::frame(double x, double y, double width, double height) {
  put("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#888\" "
      "pointer-events=\"none\"/>",
      tenth(x), tenth(y), tenth(width), tenth(height));
}

std::string Canvas::svg(double width, double height, std::string_view title, int font_size) const {
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
      "width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"sans-serif\" font-size=\"{2}\" fill=\"#222\">\n<title>{3}</title>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{4}</svg>\n",
      width, height, font_size, xml_escaped(title), body_);
}

}  // namespace heed
