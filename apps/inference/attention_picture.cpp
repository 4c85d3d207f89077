#include "apps/inference/attention_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/check.h"
#include "core/text.h"

namespace heed {
namespace {

// Pixels.
constexpr int64_t margin = 16, heading_height = 34, bar_width = 200, bar_height = 10,
                  legend_height = 36, name_height = 22, caption_height = 16, gap = 24,
                  max_panel = 560, min_cell = 3, max_cell = 26;
constexpr size_t max_label = 14;  // characters

template <class... Args>
void put(std::string& out, fmt::format_string<Args...> format, Args&&... args) {
  out += fmt::format(format, std::forward<Args>(args)...);
}

std::string short_label(const std::string& label) {
  const std::string valid = escaped(label);
  if (character_count(valid) <= max_label) return valid;
  size_t end = 0;
  for (size_t i = 0; i + 1 < max_label; ++i) end += character_length(valid[end]);
  return valid.substr(0, end) + "…";
}

// Returns the labels of every `block`-th position.
std::vector<std::string> shown(const std::vector<std::string>& labels, int64_t block) {
  std::vector<std::string> all;
  for (size_t i = 0; i < labels.size(); i += static_cast<size_t>(block))
    all.push_back(short_label(labels[i]));
  return all;
}

int64_t max_width(const std::vector<std::string>& labels) {
  size_t width = 1;
  for (const std::string& label : labels) width = std::max(width, character_count(label));
  return static_cast<int64_t>(width);
}

// The sizes that all panels of one module share, in pixels unless stated.
struct Panel {
  int64_t block;                           // a cell stands for block × block weights
  std::vector<std::string> queries, keys;  // a label for every row and column of cells
  int64_t cell, font, step;                // every step-th row and column has a label
  bool upright;                            // labels of keys; otherwise rotated by 90 degrees
  int64_t left, top;                       // space for labels

  Panel(const AttentionMap& map, int64_t block_size)
      : block(block_size), queries(shown(map.queries, block)), keys(shown(map.keys, block)) {
    const auto cells = static_cast<int64_t>(std::max({queries.size(), keys.size(), size_t{1}}));
    cell = std::clamp(max_panel / cells, min_cell, max_cell);
    font = std::clamp<int64_t>(cell - 2, 9, 12);
    step = (font + cell - 1) / cell;
    upright = max_width(keys) * font * 2 / 3 <= cell;
    left = max_width(queries) * font * 2 / 3 + 6;
    top = caption_height + (upright ? font : max_width(keys) * font * 2 / 3) + 6;
  }
  // The caption needs at least 120 pixels.
  int64_t width() const {
    return std::max<int64_t>(left + cell * static_cast<int64_t>(keys.size()), 120) + gap;
  }
  int64_t height() const { return top + cell * static_cast<int64_t>(queries.size()) + gap; }
};

void put_labels(std::string& out, const Panel& panel) {
  const int64_t middle = panel.cell / 2;
  put(out, "<g font-size=\"{}\" text-anchor=\"end\">\n", panel.font);
  for (size_t i = 0; i < panel.queries.size(); i += static_cast<size_t>(panel.step))
    put(out, "<text x=\"-4\" y=\"{}\">{}</text>\n",
        static_cast<int64_t>(i) * panel.cell + middle + panel.font / 3,
        xml_escaped(panel.queries[i]));
  put(out, "</g>\n<g font-size=\"{}\" text-anchor=\"{}\">\n", panel.font,
      panel.upright ? "middle" : "start");
  for (size_t j = 0; j < panel.keys.size(); j += static_cast<size_t>(panel.step)) {
    const int64_t x = static_cast<int64_t>(j) * panel.cell + middle;
    const std::string key = xml_escaped(panel.keys[j]);
    if (panel.upright)
      put(out, "<text x=\"{}\" y=\"-4\">{}</text>\n", x, key);
    else
      put(out, "<text transform=\"translate({} -4) rotate(-90)\">{}</text>\n", x + panel.font / 3,
          key);
  }
  out += "</g>\n";
}

struct Cell {
  double sum = 0;
  int64_t count = 0;  // weights in the block; 0: these positions are not in one line
  double weight() const { return sum / static_cast<double>(count); }
};

// Returns the cells of each head, in row-major order.
std::vector<std::vector<Cell>> cells_of(const AttentionMap& map, const Panel& panel) {
  const size_t rows = panel.queries.size(), columns = panel.keys.size();
  const auto block = static_cast<size_t>(panel.block);
  std::vector cells(static_cast<size_t>(map.heads()), std::vector<Cell>(rows * columns));
  for_each_weight(map, [&](size_t head, size_t query, size_t key, real weight) {
    Cell& cell = cells[head][query / block * columns + key / block];
    cell.sum += static_cast<double>(weight);
    ++cell.count;
  });
  return cells;
}

// Returns the square root of weight / max, in steps of 1/250.
std::string opacity(double weight, double max) {
  if (!std::isfinite(weight)) return "1";
  return max > 0 ? fmt::format("{:.3g}", std::round(250 * std::sqrt(std::abs(weight / max))) / 250)
                 : "0";
}

// Returns the positions of block `index`: "3", or "3…5".
std::string positions_text(size_t index, int64_t block, size_t positions) {
  const int64_t first = static_cast<int64_t>(index) * block;
  const int64_t last = std::min(first + block, static_cast<int64_t>(positions)) - 1;
  return first == last ? fmt::format("{}", first) : fmt::format("{}…{}", first, last);
}

void put_cell(std::string& out, const AttentionMap& map, const Panel& panel, size_t row,
              size_t column, double weight, double max) {
  put(out, "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{} fill-opacity=\"{}\">",
      static_cast<int64_t>(column) * panel.cell, static_cast<int64_t>(row) * panel.cell, panel.cell,
      panel.cell, weight < 0 ? " fill=\"#b2182b\"" : "", opacity(weight, max));
  put(out, "<title>{} ({}) attends to {} ({}): {:.4g}</title></rect>\n",
      xml_escaped(panel.queries[row]), positions_text(row, panel.block, map.queries.size()),
      xml_escaped(panel.keys[column]), positions_text(column, panel.block, map.keys.size()),
      weight);
}

double max_weight(const std::vector<Cell>& cells) {
  double max = 0;
  for (const Cell& cell : cells)
    if (cell.count > 0 && std::isfinite(cell.sum)) max = std::max(max, std::abs(cell.weight()));
  return max;
}

// `darkest`: the weight of the darkest colour; 0: the maximum of the head.
void put_head(std::string& out, const AttentionMap& map, const Panel& panel, int64_t head,
              const std::vector<Cell>& cells, double darkest) {
  const double max = max_weight(cells);
  put(out, "<text x=\"0\" y=\"{}\">head {}, up to {:.2g}</text>\n", 12 - panel.top, head, max);
  put_labels(out, panel);
  out += "<g fill=\"#08306b\">\n";
  const size_t rows = panel.queries.size(), columns = panel.keys.size();
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j)
      if (const Cell& cell = cells[i * columns + j]; cell.count > 0)
        put_cell(out, map, panel, i, j, cell.weight(), darkest > 0 ? darkest : max);
  put(out,
      "</g>\n<rect width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#888\" "
      "pointer-events=\"none\"/>\n",
      panel.cell * static_cast<int64_t>(columns), panel.cell * static_cast<int64_t>(rows));
}

// In the order of the picture.
constexpr Named<AttentionPart> headings[] = {
    {"Encoder", AttentionPart::encoder},
    {"Decoder", AttentionPart::decoder},
    {"Cross-attention: the decoder attends to the encoder", AttentionPart::cross},
    {"Pool: learned queries attend to the encoder", AttentionPart::pool}};

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

namespace {

// Returns the smallest block with which the picture has at most max_cells cells.
int64_t block_of(const std::vector<AttentionMap>& maps) {
  if (weights_in(maps) <= max_cells) return 1;
  for (int64_t block = 2;; ++block) {
    const auto cells = [block](const std::vector<std::string>& labels) {
      return (std::ssize(labels) + block - 1) / block;
    };
    int64_t total = 0, panels = 0;
    for (const AttentionMap& map : maps) {
      total += map.heads() * cells(map.queries) * cells(map.keys);
      panels += map.heads();
    }
    check(panels <= max_cells, "attention picture: {} heads are more than {}", panels, max_cells);
    if (total <= max_cells) return block;
  }
}

struct Canvas {
  std::string body;
  int64_t width = 640, height = margin + heading_height + legend_height;
};

// One row of panels.
void put_map(Canvas& canvas, const AttentionMap& map, int64_t block, double darkest) {
  const Panel panel(map, block);
  canvas.height += name_height;
  put(canvas.body, "<text x=\"{}\" y=\"{}\" font-size=\"13\">{}</text>\n", margin,
      canvas.height - 8, xml_escaped(map.name));
  const std::vector<std::vector<Cell>> cells = cells_of(map, panel);
  for (int64_t head = 0; head < map.heads(); ++head) {
    put(canvas.body, "<g transform=\"translate({} {})\">\n",
        margin + head * panel.width() + panel.left, canvas.height + panel.top);
    put_head(canvas.body, map, panel, head, cells[static_cast<size_t>(head)], darkest);
    canvas.body += "</g>\n";
  }
  canvas.height += panel.height();
  canvas.width = std::max(canvas.width, 2 * margin + map.heads() * panel.width());
}

std::string caption(int64_t block) {
  const std::string text = "Rows are queries, columns are keys.";
  if (block == 1) return text;
  return text + fmt::format(" A cell is the mean of {0} queries and {0} keys.", block);
}

// A bar with the colours of weights, from 0 to `darkest` (0: the maximum of each head).
void put_colour_bar(std::string& out, double darkest) {
  out +=
      "<defs><linearGradient id=\"weights\"><stop offset=\"0\" stop-color=\"#08306b\" "
      "stop-opacity=\"0\"/><stop offset=\"1\" stop-color=\"#08306b\"/></linearGradient></defs>\n";
  put(out, "<g transform=\"translate({} {})\">\n", margin, margin + heading_height + 8);
  put(out, "<rect width=\"{}\" height=\"{}\" fill=\"url(#weights)\" stroke=\"#888\"/>\n", bar_width,
      bar_height);
  for (const double part : {0.0, 0.25, 0.5, 0.75, 1.0})  // of the bar, the root of the weight's
    put(out, "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{:.2g}</text>\n",
        static_cast<int64_t>(part * bar_width), bar_height + 13,
        part * part * (darkest > 0 ? darkest : 1));
  put(out, "<text x=\"{}\" y=\"{}\">{}</text>\n</g>\n", bar_width + 14, bar_height - 1,
      darkest > 0 ? "attention weight, one scale for all heads; a negative one is red"
                  : "attention weight as a fraction of the head's maximum; a negative one is red");
}

// Returns the maximum of all cells.
double max_of(const std::vector<AttentionMap>& maps, int64_t block) {
  double max = 0;
  for (const AttentionMap& map : maps)
    for (const std::vector<Cell>& head : cells_of(map, Panel(map, block)))
      max = std::max(max, max_weight(head));
  return max;
}

}  // namespace

std::string attention_picture(const std::vector<AttentionMap>& maps, const std::string& title,
                              PictureScale scale) {
  const int64_t block = block_of(maps);
  const double darkest = scale == PictureScale::picture ? max_of(maps, block) : 0;
  Canvas canvas;
  for (const auto& [heading, part] : headings) {
    if (std::ranges::find(maps, part, &AttentionMap::part) == maps.end()) continue;
    canvas.height += heading_height;
    put(canvas.body, "<text x=\"{}\" y=\"{}\" font-size=\"16\" font-weight=\"bold\">{}</text>\n",
        margin, canvas.height - 12, heading);
    for (const AttentionMap& map : maps)
      if (map.part == part) put_map(canvas, map, block, darkest);
  }
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  put(out,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"11\" fill=\"#222\">\n",
      canvas.width, canvas.height + margin);
  const std::string shown_title = xml_escaped(title);
  put(out, "<title>{}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
      shown_title);
  put(out, "<text x=\"{}\" y=\"{}\" font-size=\"14\">{}</text>\n", margin, margin + 14,
      shown_title);
  put(out, "<text x=\"{}\" y=\"{}\">{}</text>\n", margin, margin + 32, caption(block));
  put_colour_bar(out, darkest);
  return out + canvas.body + "</svg>\n";
}

}  // namespace heed
