#include "apps/inference/attention_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "apps/support/canvas.h"
#include "core/check.h"
#include "core/text.h"

namespace heed {
namespace {

// Pixels.
constexpr int margin = 16, heading_height = 34, bar_width = 200, bar_height = 10,
              legend_height = 36, name_height = 22, caption_height = 16, gap = 24, max_panel = 560,
              min_cell = 3, max_cell = 26;
constexpr size_t max_label = 14;  // characters

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

int max_width(const std::vector<std::string>& labels) {
  size_t width = 1;
  for (const std::string& label : labels) width = std::max(width, character_count(label));
  return static_cast<int>(width);
}

// Returns the beginning of cell `index`, in pixels.
double at(size_t index, int cell) { return static_cast<double>(index) * cell; }

// The sizes that all panels of one module share, in pixels unless stated.
struct Panel {
  int64_t block;                           // a cell stands for block × block weights
  std::vector<std::string> queries, keys;  // a label for every row and column of cells
  int cell, font, step;                    // every step-th row and column has a label
  bool upright;                            // labels of keys; otherwise rotated by 90 degrees
  int left, top;                           // space for labels

  Panel(const AttentionMap& map, int64_t block_size)
      : block(block_size), queries(shown(map.queries, block)), keys(shown(map.keys, block)) {
    const auto cells = static_cast<int>(std::max({queries.size(), keys.size(), size_t{1}}));
    cell = std::clamp(max_panel / cells, min_cell, max_cell);
    font = std::clamp(cell - 2, 9, 12);
    step = (font + cell - 1) / cell;
    upright = max_width(keys) * font * 2 / 3 <= cell;
    left = max_width(queries) * font * 2 / 3 + 6;
    top = caption_height + (upright ? font : max_width(keys) * font * 2 / 3) + 6;
  }
  // The caption needs at least 120 pixels.
  double width() const { return std::max(left + at(keys.size(), cell), 120.0) + gap; }
  double height() const { return top + at(queries.size(), cell) + gap; }
};

void put_labels(Canvas& canvas, const Panel& panel) {
  const int64_t middle = panel.cell / 2;
  canvas.begin_group(0, 0, fmt::format("font-size=\"{}\"", panel.font));
  for (size_t i = 0; i < panel.queries.size(); i += static_cast<size_t>(panel.step))
    canvas.text(-4, at(i, panel.cell) + middle + panel.font / 3, "end", panel.queries[i]);
  for (size_t j = 0; j < panel.keys.size(); j += static_cast<size_t>(panel.step)) {
    const double x = at(j, panel.cell) + middle;
    if (panel.upright)
      canvas.text(x, -4, "middle", panel.keys[j]);
    else
      canvas.upright_text(x + panel.font / 3, -4, "start", panel.keys[j]);
  }
  canvas.end_group();
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

// Returns the square root of weight / max.
double opacity(double weight, double max) {
  if (!std::isfinite(weight)) return 1;
  return max > 0 ? std::sqrt(std::abs(weight / max)) : 0;
}

// Returns the positions of block `index`: "3", or "3…5".
std::string positions_text(size_t index, int64_t block, size_t positions) {
  const int64_t first = static_cast<int64_t>(index) * block;
  const int64_t last = std::min(first + block, static_cast<int64_t>(positions)) - 1;
  return first == last ? fmt::format("{}", first) : fmt::format("{}…{}", first, last);
}

void put_cell(Canvas& canvas, const AttentionMap& map, const Panel& panel, size_t row,
              size_t column, double weight, double max) {
  canvas.cell(at(column, panel.cell), at(row, panel.cell), panel.cell, opacity(weight, max),
              weight < 0,
              fmt::format("{} ({}) attends to {} ({}): {:.4g}", xml_escaped(panel.queries[row]),
                          positions_text(row, panel.block, map.queries.size()),
                          xml_escaped(panel.keys[column]),
                          positions_text(column, panel.block, map.keys.size()), weight));
}

double max_weight(const std::vector<Cell>& cells) {
  double max = 0;
  for (const Cell& cell : cells)
    if (cell.count > 0 && std::isfinite(cell.sum)) max = std::max(max, std::abs(cell.weight()));
  return max;
}

// `darkest`: the weight of the darkest colour; 0: the maximum of the head.
void put_head(Canvas& canvas, const AttentionMap& map, const Panel& panel, int64_t head,
              const std::vector<Cell>& cells, double darkest) {
  const double max = max_weight(cells);
  canvas.text(0, 12 - panel.top, "start", fmt::format("head {}, up to {:.2g}", head, max));
  put_labels(canvas, panel);
  canvas.begin_cells(0, 0);
  const size_t rows = panel.queries.size(), columns = panel.keys.size();
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j)
      if (const Cell& cell = cells[i * columns + j]; cell.count > 0)
        put_cell(canvas, map, panel, i, j, cell.weight(), darkest > 0 ? darkest : max);
  canvas.end_group();
  canvas.frame(0, 0, at(columns, panel.cell), at(rows, panel.cell));
}

// In the order of the picture.
constexpr Named<AttentionPart> headings[] = {
    {"Encoder", AttentionPart::encoder},
    {"Decoder", AttentionPart::decoder},
    {"Cross-attention: the decoder attends to the encoder", AttentionPart::cross},
    {"Pool: learned queries attend to the encoder", AttentionPart::pool}};

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

struct Picture {
  Canvas canvas;
  double width = 640, height = margin + heading_height + legend_height;
};

// One row of panels.
void put_map(Picture& picture, const AttentionMap& map, int64_t block, double darkest) {
  const Panel panel(map, block);
  picture.height += name_height;
  picture.canvas.text(margin, picture.height - 8, "start", map.name, "font-size=\"13\"");
  const std::vector<std::vector<Cell>> cells = cells_of(map, panel);
  const double heads = static_cast<double>(map.heads());
  for (int64_t head = 0; head < map.heads(); ++head) {
    picture.canvas.begin_group(margin + static_cast<double>(head) * panel.width() + panel.left,
                               picture.height + panel.top);
    put_head(picture.canvas, map, panel, head, cells[static_cast<size_t>(head)], darkest);
    picture.canvas.end_group();
  }
  picture.height += panel.height();
  picture.width = std::max(picture.width, 2 * margin + heads * panel.width());
}

std::string caption(int64_t block) {
  const std::string text = "Rows are queries, columns are keys.";
  if (block == 1) return text;
  return text + fmt::format(" A cell is the mean of {0} queries and {0} keys.", block);
}

// A bar with the colours of weights, from 0 to `darkest` (0: the maximum of each head).
void put_colour_bar(Canvas& canvas, double darkest) {
  canvas.begin_group(margin, margin + heading_height + 8);
  canvas.colour_bar(0, 0, bar_width, bar_height);
  for (const double part : {0.0, 0.25, 0.5, 0.75, 1.0})  // of the bar, the root of the weight's
    canvas.text(part * bar_width, bar_height + 13, "middle",
                fmt::format("{:.2g}", part * part * (darkest > 0 ? darkest : 1)));
  canvas.text(bar_width + 14, bar_height - 1, "start",
              darkest > 0
                  ? "attention weight, one scale for all heads; a negative one is red"
                  : "attention weight as a fraction of the head's maximum; a negative one is red");
  canvas.end_group();
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
  Picture picture;
  Canvas& canvas = picture.canvas;
  canvas.text(margin, margin + 14, "start", title, "font-size=\"14\"");
  canvas.text(margin, margin + 32, "start", caption(block));
  put_colour_bar(canvas, darkest);
  for (const auto& [heading, part] : headings) {
    if (std::ranges::find(maps, part, &AttentionMap::part) == maps.end()) continue;
    picture.height += heading_height;
    canvas.text(margin, picture.height - 12, "start", heading,
                "font-size=\"16\" font-weight=\"bold\"");
    for (const AttentionMap& map : maps)
      if (map.part == part) put_map(picture, map, block, darkest);
  }
  return canvas.svg(picture.width, picture.height + margin, title, 11);
}

}  // namespace heed
