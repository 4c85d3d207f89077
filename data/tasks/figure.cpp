#include "data/tasks/figure.h"

#include <iterator>

#include "data/tasks/drawn.h"

namespace heed {

Figure draw_figure(Random& random, int64_t size) {
  const int32_t kind = any_below(random, std::size(figure_names));
  const int32_t side = 3 + 2 * any_below(random, (size - 1) / 2);
  return {kind, side, 1 + any_below(random, 7)};
}

static bool is_lit(const Figure& figure, int32_t row, int32_t column) {
  const int32_t middle = figure.side / 2, last = figure.side - 1;
  switch (figure.kind) {
    case 0:
      return row == middle || column == middle;
    case 1:
      return row == column || row + column == last;
    case 2:
      return column == 0 || row == last;
    case 3:
      return column == last || row == last;
    case 4:
      return row == 0 || column == middle;
    default:
      return row == last || column == middle;
  }
}

void paint(const Figure& figure, int64_t row, int64_t column, int64_t size, float* picture) {
  for (int32_t i = 0; i < figure.side; ++i)
    for (int32_t j = 0; j < figure.side; ++j) {
      if (!is_lit(figure, i, j)) continue;
      float* pixel = picture + ((row + i) % size * size + (column + j) % size) * colour_channels;
      for (int channel = 0; channel < colour_channels; ++channel)
        pixel[channel] = static_cast<float>(figure.colour >> channel & 1);
    }
}

}  // namespace heed
